// Find the cuts of boxes that tell most about a class attribute. See `gain.py` for what things mean.
#include <cmath>
#include <cstdlib>
#include <utility>

#include "partition.hpp"

namespace gain {

constexpr f64 SAME_GAIN = 1e-9;  // sums of logarithms differ by less than this for no other reason than rounding

static f64 bits(i64 count) { return count > 0 ? static_cast<f64>(count) * std::log2(static_cast<f64>(count)) : 0; }

// One column's codes, box parts being listed by them.
struct Column {
  Matrix<const i32> codes;
  Vector<const i64> part_tuples;
  i64 column;

  i64 operator[](i64 part) const { return codes[part_tuples[part]][column]; }
};

// List a box's parts by their codes in a column; parts with the same code keep their order.
static void sort_members(Column code_of, Vector<const i64> members, i64 low, i64 high, Vector<i64> sorted_parts) {
  if (high - low < 8 * members.length + 64) {
    Scratch<i64> next(high - low + 2, 0);
    for (i64 part : members) ++next[code_of[part] - low + 1];
    for (i64 code = 0; code <= high - low; ++code) next[code + 1] += next[code];
    for (i64 part : members) sorted_parts[next[code_of[part] - low]++] = part;
    return;
  }
  std::copy(members.begin(), members.end(), sorted_parts.begin());
  std::stable_sort(sorted_parts.begin(), sorted_parts.end(),
                   [&](i64 one, i64 other) { return code_of[one] < code_of[other]; });
}

// The rows of a box, class by class. Classes are numbered in this box alone, so that small boxes do not pay for
// classes that are rare elsewhere.
class BoxClasses {
 public:
  BoxClasses(Vector<const i64> classes, i64 class_count, Vector<const i64> part_tuples, Vector<const i64> part_counts,
             i64 longest)
      : classes_(classes), part_tuples_(part_tuples), part_counts_(part_counts), local_(class_count, -1),
        met_(std::min(longest, class_count)), totals_(std::min(longest, class_count)),
        own_class_(classes.length) {}

  void count(Vector<const i64> members) {
    kinds_ = 0;
    for (i64 part : members) {
      const i64 row = part_tuples_[part];
      i64 &number = local_[classes_[row]];
      if (number < 0) {
        number = kinds_++;
        met_[number] = classes_[row];
        totals_[number] = 0;
      }
      own_class_[row] = number;
      totals_[number] += part_counts_[part];
    }
    for (i64 kind = 0; kind < kinds_; ++kind) local_[met_[kind]] = -1;
  }
  i64 kinds() const { return kinds_; }
  i64 total(i64 kind) const { return totals_[kind]; }
  i64 class_of(i64 part) const { return own_class_[part_tuples_[part]]; }
  i64 rows(i64 part) const { return part_counts_[part]; }

 private:
  const Vector<const i64> classes_, part_tuples_, part_counts_;
  i64 kinds_ = 0;
  Scratch<i64> local_, met_, totals_, own_class_;
};

// A cut by its gain, the first code to the right, its level, and how many rows more the larger side has.
struct Cut {
  f64 gain = -1;
  i64 code = -1, level = 0, distance = 0;

  bool is_better_than(const Cut &other) const {
    return gain > other.gain + SAME_GAIN || (gain > other.gain - SAME_GAIN && distance < other.distance);
  }
};

// Return a column's best cut; a gain of -1 if there is none.
//
// A cut must leave `min_group` rows on either side. Only if none between the branches of the node that covers the box
// does, cuts inside them are looked at. Of cuts with equal gain, the one nearest to the median is the best.
static Cut best_cut(
    Column code_of, const BoxClasses &classes, Vector<const i64> parts, i64 total, i64 min_group, partition::Tree tree,
    Scratch<i64> &lefts) {
  i64 top = -1;
  for (i64 place = 1; place < parts.length; ++place) {
    const i64 below = code_of[parts[place - 1]], above = code_of[parts[place]];
    if (below != above) top = std::max(top, tree.boundary_level(below, above));
  }
  Cut best;
  for (const bool inside : {false, true}) {
    std::fill_n(lefts.begin(), classes.kinds(), 0);
    i64 left = 0;
    f64 left_bits = 0, right_bits = 0;
    for (i64 kind = 0; kind < classes.kinds(); ++kind) right_bits += bits(classes.total(kind));
    const f64 unsplit = bits(total) - right_bits;
    for (i64 place = 0; place < parts.length - 1; ++place) {
      const i64 own = classes.class_of(parts[place]), count = classes.rows(parts[place]);
      const i64 right = classes.total(own) - lefts[own];
      left_bits += bits(lefts[own] + count) - bits(lefts[own]);
      right_bits += bits(right - count) - bits(right);
      lefts[own] += count;
      left += count;
      const i64 below = code_of[parts[place]], above = code_of[parts[place + 1]];
      if (below == above || std::min(left, total - left) < min_group) continue;
      const i64 level = tree.boundary_level(below, above);
      if (!inside && level != top) continue;
      const f64 gain = (unsplit - (bits(left) - left_bits) - (bits(total - left) - right_bits)) / static_cast<f64>(total);
      const Cut found{gain, above, level, std::abs(2 * left - total)};
      if (found.is_better_than(best)) best = found;
    }
    if (best.code >= 0) break;
  }
  return best;
}

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
    Vector<i64> cut_columns, Vector<i32> cuts) {
  const i64 columns = codes.columns;
  i64 longest = 0;
  for (i64 box = 0; box < starts.length - 1; ++box) longest = std::max(longest, starts[box + 1] - starts[box]);
  BoxClasses box_classes(classes, class_count, part_tuples, part_counts, longest);
  Scratch<i64> sorted_parts(longest), lefts(std::min(longest, class_count));
  Scratch<Cut> best(columns);
  for (i64 box = 0; box < starts.length - 1; ++box) {
    cut_columns[box] = -1;
    if (attempts[box] >= columns) continue;
    const Vector<const i64> members = order.from(starts[box], starts[box + 1]);
    box_classes.count(members);
    best.fill(Cut{});
    if (box_classes.kinds() > 1 && sizes[box] >= 2 * min_group) {
      for (i64 column = 0; column < columns; ++column) {
        const i32 low = tight.at(box, column)[0], high = tight.at(box, column)[1];
        if (low == high) continue;
        const Column code_of{codes, part_tuples, column};
        const Vector<i64> parts{sorted_parts.begin(), members.length};
        sort_members(code_of, members, low, high, parts);
        best[column] = best_cut(code_of, box_classes, {parts.data, parts.length}, sizes[box], min_group,
                                {&nodes[node_offsets[column]], tree_sizes[column], heights[column]}, lefts);
      }
    }
    const i64 chosen = choose_column(ranked[box], attempts[box], best);
    if (chosen < 0) {
      attempts[box] = columns;
      continue;
    }
    const Cut &cut = best[chosen];
    const i64 first_of_level = node_offsets[chosen] + (cut.level - 1) * tree_sizes[chosen];
    cut_columns[box] = chosen;
    cuts[box] = cut.level > heights[chosen] ? 1 : node_starts[first_of_level + cut.code];
  }
}
EXPORT(propose_gain_cuts)

}  // namespace gain
