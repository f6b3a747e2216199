// Find the cuts of boxes that tell most about a class attribute. See `gain.py` for what things mean.
#include <cmath>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include "partition.hpp"
#include "threads.hpp"

namespace gain {

constexpr f64 SAME_GAIN = 1e-9;  // sums of logarithms differ by less than this for no other reason than rounding
constexpr i64 AT_ONCE = 16;      // so many columns of a row are next to each other in memory: 64 bytes

// A number times its logarithm; those of small numbers are worked out once.
class Bits {
 public:
  explicit Bits(i64 most) : small_(std::min(most, MOST) + 1) {
    for (i64 count = 0; count < small_.length(); ++count) small_[count] = of(count);
  }
  f64 operator()(i64 count) const { return count < small_.length() ? small_[count] : of(count); }

 private:
  static constexpr i64 MOST = 1 << 16;
  static f64 of(i64 count) { return count > 0 ? static_cast<f64>(count) * std::log2(static_cast<f64>(count)) : 0; }
  Scratch<f64> small_;
};

// A table's parts, as the caller lists them.
struct Parts {
  Matrix<const i32> codes;
  Vector<const i64> tuples, counts, classes;
};

// The parts of one box, one after the other: their classes, how many rows they are, and the codes of some columns.
// Classes are numbered in this box alone, so that small boxes do not pay for classes that are rare elsewhere.
class Box {
 public:
  Box(const Parts &all, i64 class_count, i64 longest)
      : all_(all), local_(class_count, -1), met_(std::min(longest, class_count)),
        totals_(std::min(longest, class_count)), kind_(longest), rows_(longest),
        codes_(std::min(all.codes.columns, AT_ONCE) * longest) {}

  void take(Vector<const i64> members) {
    members_ = members;
    kinds_ = 0;
    for (i64 place = 0; place < members.length; ++place) {
      const i64 of = all_.classes[all_.tuples[members[place]]];
      i64 &number = local_[of];
      if (number < 0) {
        number = kinds_++;
        met_[number] = of;
        totals_[number] = 0;
      }
      kind_[place] = static_cast<i32>(number);
      rows_[place] = all_.counts[members[place]];
      totals_[number] += rows_[place];
    }
    for (i64 kind = 0; kind < kinds_; ++kind) local_[met_[kind]] = -1;
  }
  // Take the codes of some columns, row by row: they are next to each other there.
  void take_codes(i64 first, i64 last, i64 threads) {
    first_ = first;
    const i64 length = members_.length;
    in_parts(even_parts(length, threads), [&](i64, i64 from, i64 to) {
      for (i64 place = from; place < to; ++place) {
        const i32 *own = all_.codes[all_.tuples[members_[place]]];
        for (i64 column = first; column < last; ++column) codes_[(column - first) * length + place] = own[column];
      }
    });
  }
  const i32 *codes(i64 column) const { return codes_.begin() + (column - first_) * members_.length; }
  i64 length() const { return members_.length; }
  i64 kinds() const { return kinds_; }
  i64 total(i64 kind) const { return totals_[kind]; }
  i64 kind(i64 place) const { return kind_[place]; }
  i64 rows(i64 place) const { return rows_[place]; }

 private:
  const Parts &all_;
  Vector<const i64> members_{nullptr, 0};
  i64 kinds_ = 0, first_ = 0;
  Scratch<i64> local_, met_, totals_;
  Scratch<i32> kind_;
  Scratch<i64> rows_;
  Scratch<i32> codes_;
};

// A cut by its gain, the first code to the right, its level, and how many rows more the larger side has.
struct Cut {
  f64 gain = -1;
  i64 code = -1, level = 0, distance = 0;

  bool is_better_than(const Cut &other) const {
    return gain > other.gain + SAME_GAIN || (gain > other.gain - SAME_GAIN && distance < other.distance);
  }
};

// Looks for the best cut of one column of a box at a time.
class Search {
 public:
  Search(const Bits &bits, i64 class_count, i64 longest)
      : bits_(bits), lefts_(std::min(longest, class_count)), places_(longest), table_(longest), at_(longest) {}

  // Return a column's best cut; a gain of -1 if there is none.
  //
  // A cut must leave `min_group` rows on either side. Only if none between the branches of the node that covers the box
  // does, cuts inside them are looked at. Of cuts with equal gain, the one nearest to the median is the best.
  Cut best_cut(const Box &box, i64 column, i64 low, i64 high, i64 total, i64 min_group, partition::Tree tree) {
    list(box, box.codes(column), low, high);
    top_ = -1;
    for (i64 next = 1; next < number_; ++next) top_ = std::max(top_, tree.boundary_level(at_[next - 1], at_[next]));
    Cut best;
    for (const bool inside : {false, true}) {
      std::fill_n(lefts_.begin(), box.kinds(), 0);
      i64 left = 0;
      f64 left_bits = 0, right_bits = 0;
      for (i64 kind = 0; kind < box.kinds(); ++kind) right_bits += bits_(box.total(kind));
      const f64 unsplit = bits_(total) - right_bits;
      const auto pass = [&](i64 kind, i64 rows) {
        const i64 right = box.total(kind) - lefts_[kind];
        left_bits += bits_(lefts_[kind] + rows) - bits_(lefts_[kind]);
        right_bits += bits_(right - rows) - bits_(right);
        lefts_[kind] += rows;
        left += rows;
      };
      for (i64 next = 1; next < number_; ++next) {
        pass_all(box, next - 1, pass);
        if (std::min(left, total - left) < min_group) continue;
        const i64 level = tree.boundary_level(at_[next - 1], at_[next]);
        if (!inside && level != top_) continue;
        const f64 after = (bits_(left) - left_bits) + (bits_(total - left) - right_bits);
        const Cut found{(unsplit - after) / static_cast<f64>(total), at_[next], level, std::abs(2 * left - total)};
        if (found.is_better_than(best)) best = found;
      }
      if (best.code >= 0) break;
    }
    return best;
  }

 private:
  // List the codes that occur, ascending, and what has them: rows by class where these are fewer than parts, or parts.
  void list(const Box &box, const i32 *codes, i64 low, i64 high) {
    const i64 length = box.length(), kinds = box.kinds();
    counted_ = (high - low + 1) * kinds <= length;
    number_ = 0;
    if (counted_) {
      std::fill_n(table_.begin(), (high - low + 1) * kinds, 0);
      for (i64 place = 0; place < length; ++place) table_[(codes[place] - low) * kinds + box.kind(place)] += box.rows(place);
      for (i64 code = low; code <= high; ++code) {
        const i64 *own = &table_[(code - low) * kinds];
        if (std::any_of(own, own + kinds, [](i64 rows) { return rows > 0; })) at_[number_++] = code;
      }
      low_ = low;
      return;
    }
    if (high - low < 8 * length + 64) {
      next_.assign(static_cast<std::size_t>(high - low + 2), 0);
      for (i64 place = 0; place < length; ++place) ++next_[codes[place] - low + 1];
      for (i64 code = 0; code <= high - low; ++code) next_[code + 1] += next_[code];
      for (i64 place = 0; place < length; ++place) places_[next_[codes[place] - low]++] = place;
    } else {
      for (i64 place = 0; place < length; ++place) places_[place] = place;
      std::stable_sort(places_.begin(), places_.begin() + length, [&](i64 one, i64 other) { return codes[one] < codes[other]; });
    }
    for (i64 place = 0; place < length; ++place) {
      if (place > 0 && codes[places_[place]] == at_[number_ - 1]) continue;
      table_[number_] = place;  // where the parts with this code begin
      at_[number_++] = codes[places_[place]];
    }
  }
  template <class Pass> void pass_all(const Box &box, i64 code, Pass pass) const {
    if (counted_) {
      const i64 *own = &table_[(at_[code] - low_) * box.kinds()];
      for (i64 kind = 0; kind < box.kinds(); ++kind) {
        if (own[kind] > 0) pass(kind, own[kind]);
      }
      return;
    }
    for (i64 place = table_[code]; place < table_[code + 1]; ++place) pass(box.kind(places_[place]), box.rows(places_[place]));
  }

  const Bits &bits_;
  Scratch<i64> lefts_, places_, table_, at_;
  std::vector<i64> next_;
  bool counted_ = false;
  i64 number_ = 0, low_ = 0, top_ = -1;
};

// Return the column with the most gain after so many others have been refused, or -1. Columns with equal gain are tried
// in the order in which they are ranked. Refused columns lose their gain.
static i64 choose_column(const i64 *ranked, i64 refused, Scratch<Cut> &cuts) {
  for (;; --refused) {
    i64 chosen = -1;
    for (i64 place = 0; place < cuts.length(); ++place) {
      const f64 gain = cuts[ranked[place]].gain;
      if (gain > SAME_GAIN && (chosen < 0 || gain > cuts[chosen].gain + SAME_GAIN)) chosen = ranked[place];
    }
    if (chosen < 0 || refused == 0) return chosen;
    cuts[chosen].gain = -1;
  }
}

static void propose_gain_cuts(
    Matrix<const i32> codes, Vector<const i64> part_tuples, Vector<const i64> part_counts, Vector<const i64> order,
    Vector<const i64> starts, Vector<const i64> sizes, Vector<const i64> classes, i64 class_count, i64 min_group,
    Vector<const i64> node_offsets, Vector<const i64> tree_sizes, Vector<const i64> heights, Vector<const i32> nodes,
    Vector<const i32> node_starts, Cube<const i32> tight, Matrix<const i64> ranked, Vector<i64> attempts,
    Vector<i64> cut_columns, Vector<i32> cuts, i64 threads) {
  const i64 columns = codes.columns, boxes = starts.length - 1;
  const Parts all{codes, part_tuples, part_counts, classes};
  i64 largest = 0;
  for (i64 box = 0; box < boxes; ++box) largest = std::max(largest, sizes[box]);
  const Bits bits(largest);

  // Boxes are dealt to threads; the columns of a box that is a large part of all are.
  const i64 large = std::max<i64>(order.length / (4 * threads), WORTH_A_THREAD / 4);
  const auto is_open = [&](i64 box) { return attempts[box] < columns; };
  const auto length_of = [&](i64 box) { return is_open(box) ? starts[box + 1] - starts[box] : 0; };
  const auto longest_of = [&](i64 first, i64 last, i64 below) {
    i64 longest = 0;
    for (i64 box = first; box < last; ++box) longest = std::max(longest, length_of(box) < below ? length_of(box) : 0);
    return longest;
  };
  const auto search = [&](i64 box, Box &own, std::vector<std::unique_ptr<Search>> &searches, Scratch<Cut> &best,
                          i64 readers) {
    own.take(order.from(starts[box], starts[box + 1]));
    best.fill(Cut{});
    if (own.kinds() > 1 && sizes[box] >= 2 * min_group) {
      const i64 helpers = static_cast<i64>(searches.size());
      for (i64 from = 0; from < columns; from += AT_ONCE) {
        const i64 to = std::min(columns, from + AT_ONCE);
        own.take_codes(from, to, readers);
        in_parts(even_parts(to - from, helpers, [&](i64) { return own.length(); }), [&](i64 part, i64 first, i64 last) {
          for (i64 column = from + first; column < from + last; ++column) {
            const i32 low = tight.at(box, column)[0], high = tight.at(box, column)[1];
            if (low == high) continue;
            best[column] = searches[part]->best_cut(
                own, column, low, high, sizes[box], min_group,
                {&nodes[node_offsets[column]], tree_sizes[column], heights[column]});
          }
        });
      }
    }
    const i64 chosen = choose_column(ranked[box], attempts[box], best);
    cut_columns[box] = chosen;
    if (chosen < 0) {
      attempts[box] = columns;
      return;
    }
    const Cut &cut = best[chosen];
    const i64 first_of_level = node_offsets[chosen] + (cut.level - 1) * tree_sizes[chosen];
    cuts[box] = cut.level > heights[chosen] ? 1 : node_starts[first_of_level + cut.code];
  };
  const auto search_some = [&](i64 first, i64 last, i64 longest, i64 readers, auto is_meant) {
    Box own(all, class_count, longest);
    Scratch<Cut> best(columns);
    std::vector<std::unique_ptr<Search>> searches;
    for (i64 helpers = std::min({readers, columns, AT_ONCE}); helpers > 0; --helpers) {
      searches.push_back(std::make_unique<Search>(bits, class_count, longest));
    }
    for (i64 box = first; box < last; ++box) {
      if (is_open(box) && is_meant(box)) search(box, own, searches, best, readers);
    }
  };

  for (i64 box = 0; box < boxes; ++box) cut_columns[box] = -1;
  std::vector<i8> is_large(static_cast<std::size_t>(boxes));  // decided before any search closes a box
  for (i64 box = 0; box < boxes; ++box) is_large[box] = length_of(box) >= large;
  const auto steps = [&](i64 box) { return is_large[box] ? 0 : length_of(box) * columns; };
  const std::vector<i64> bounds = even_parts(boxes, threads, steps);
  if (const i64 longest = longest_of(0, boxes, order.length + 1); longest >= large) {
    search_some(0, boxes, longest, threads, [&](i64 box) { return is_large[box]; });
  }
  in_parts(bounds, [&](i64, i64 first, i64 last) {
    search_some(first, last, longest_of(first, last, large), 1, [&](i64 box) { return !is_large[box]; });
  });
}
EXPORT(propose_gain_cuts)

}  // namespace gain
