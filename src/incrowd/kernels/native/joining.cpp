// Find which groups to join. See `joining.py` for what things mean.
#include <algorithm>
#include <limits>
#include <vector>

#include "arguments.hpp"
#include "threads.hpp"

namespace joining {

constexpr f64 INFINITE = std::numeric_limits<f64>::infinity();

// What is known of all groups, and of the nodes that they show.
struct Groups {
  Vector<const i64> sizes;
  Vector<const f64> losses;
  Matrix<const i32> lows, highs;
  Matrix<const i64> levels;
  Vector<const i64> keys;
  Vector<const f64> loss_at;
  Matrix<const i64> first_key;
  Vector<const i64> highest;

  // This level, or the next one that has one node for all codes from low to high.
  i64 common_level(i64 column, i32 low, i32 high, i64 level) const {
    const i64 *first = first_key[column];
    while (keys[first[level] + low] != keys[first[level] + high]) ++level;
    return level;
  }

  f64 level_loss(i64 column, i64 level, i32 code) const {
    return level > highest[column] ? INFINITE : loss_at[first_key[column][level] + code];
  }

  // What one column loses if it shows all codes from low to high, at this level or the next one that holds them.
  f64 column_loss(i64 column, i32 low, i32 high, i64 level) const {
    return level_loss(column, common_level(column, low, high, level), high);
  }

  // What a row of two joined groups loses; infinity if that is above `most` or a level above its highest.
  f64 joint_loss(i64 a, i64 b, f64 most) const {
    f64 total = 0;
    for (i64 column = 0; column < lows.columns; ++column) {
      total += column_loss(column, std::min(lows[a][column], lows[b][column]), std::max(highs[a][column], highs[b][column]),
                           std::max(levels[a][column], levels[b][column]));
      if (total > most || total == INFINITE) return INFINITE;
    }
    return total;
  }

  f64 lost_before(i64 a, i64 b) const {
    return static_cast<f64>(sizes[a]) * losses[a] + static_cast<f64>(sizes[b]) * losses[b];
  }
};

// What showing all codes from one to another loses in each column: looked up where a column has few codes.
class SpanLosses {
 public:
  explicit SpanLosses(const Groups &groups) : groups_(groups) {
    for (i64 column = 0; column < groups.lows.columns; ++column) {
      i64 codes = 0, lowest = std::numeric_limits<i64>::max();
      for (i64 group = 0; group < groups.sizes.length; ++group) {
        codes = std::max<i64>(codes, groups.highs[group][column] + 1);
        lowest = std::min(lowest, groups.levels[group][column]);
      }
      lowest_.push_back(lowest);
      first_.push_back(static_cast<i64>(known_.size()));
      codes_.push_back(codes <= FEW ? codes : 0);
      if (codes > FEW) continue;
      for (i64 low = 0; low < codes; ++low) {
        for (i64 high = 0; high < codes; ++high) {
          const i32 from = static_cast<i32>(std::min(low, high)), to = static_cast<i32>(high);
          known_.push_back(groups.column_loss(column, from, to, lowest));
        }
      }
    }
  }

  f64 operator()(i64 column, i32 low, i32 high) const {
    const i64 codes = codes_[column];
    return codes ? known_[first_[column] + low * codes + high] : groups_.column_loss(column, low, high, lowest_[column]);
  }

  // Add what a column loses if it shows the codes of one group and those of another, for some others at once.
  void add_joint(i64 column, i32 low, i32 high, const i32 *lows, const i32 *highs, i64 count, f64 *sums) const {
    const i64 codes = codes_[column];
    const f64 *known = known_.data() + first_[column];
    if (codes) {
      for (i64 at = 0; at < count; ++at) sums[at] += known[std::min(low, lows[at]) * codes + std::max(high, highs[at])];
      return;
    }
    for (i64 at = 0; at < count; ++at) {
      sums[at] += groups_.column_loss(column, std::min(low, lows[at]), std::max(high, highs[at]), lowest_[column]);
    }
  }

 private:
  static constexpr i64 FEW = 256;
  const Groups &groups_;
  std::vector<i64> lowest_, first_, codes_;
  std::vector<f64> known_;
};

// A search for the groups that one costs least to join, at most `wanted`, cheapest first, by a row of `Safe`.
struct Search {
  i64 one, row, wanted;
  i64 *best;
  f64 *cost_of;
  i64 known = 0;

  f64 worst() const { return known < wanted ? INFINITE : cost_of[wanted - 1]; }

  // Of groups that cost the same, the first.
  bool before(f64 cost, i64 other, i64 at) const {
    return cost < cost_of[at] || (cost == cost_of[at] && other < best[at]);
  }

  void add(i64 other, f64 cost) {
    if (known < wanted) {
      ++known;
    } else if (!before(cost, other, wanted - 1)) {
      return;
    }
    i64 at = known - 1;
    for (; at > 0 && before(cost, other, at - 1); --at) {
      cost_of[at] = cost_of[at - 1];
      best[at] = best[at - 1];
    }
    cost_of[at] = cost;
    best[at] = other;
  }
};

// Which kinds of groups make which searching ones safe: a row for each kind of those that search.
struct Safe {
  Vector<const i64> kind_of;
  Matrix<const i8> by_row;
};

// Groups in a tree of boxes, so that a search leaves out boxes in which every group costs too much to join.
class Boxes {
 public:
  // Either all members fail or none does. Boxes of at most `small` groups are not cut any more.
  Boxes(const Groups &groups, const SpanLosses &span_loss, std::vector<i64> members, bool failing, Safe safe, i64 small)
      : groups_(groups), span_loss_(span_loss), order_(std::move(members)), failing_(failing), safe_(safe), small_(small),
        columns_(groups.lows.columns), words_((safe.by_row.rows + 63) / 64) {
    std::vector<u64> helped(static_cast<std::size_t>(safe.by_row.columns * words_), 0);
    for (i64 row = 0; row < safe.by_row.rows; ++row) {
      for (i64 kind = 0; kind < safe.by_row.columns; ++kind) {
        if (safe.by_row[row][kind]) helped[kind * words_ + row / 64] |= u64{1} << (row % 64);
      }
    }
    if (!order_.empty()) build(0, static_cast<i64>(order_.size()), helped);
    put_side_by_side();
  }

  void search(Search &what) const {
    if (!boxes_.empty()) visit(0, what);
  }

 private:
  static constexpr f64 ROUNDING = 1e-12;

  struct Box {
    i64 from, to, right;  // its groups' places in order_; its second half, the first being the next box, or 0
    i64 least_size, most_size;
  };

  // What a search asks of a group.
  struct Member {
    i64 group, size, kind;
    f64 loss;
  };

  static constexpr i64 CHUNK = 32;  // so many groups are looked at together

  // Call each(first, count) for the groups of a box that is not cut.
  template <class Each> static void in_chunks(const Box &box, Each each) {
    for (i64 first = box.from; first < box.to; first += CHUNK) each(first, std::min(CHUNK, box.to - first));
  }

  // Put what searches ask of groups side by side: else they would wait for memory at every group.
  void put_side_by_side() {
    members_.reserve(order_.size());
    for (const i64 group : order_) {
      members_.push_back({group, groups_.sizes[group], safe_.kind_of[group], groups_.losses[group]});
    }
    bounds_.reserve(order_.size() * 2 * static_cast<std::size_t>(columns_));
    for (const Box &box : boxes_) {
      if (box.right) continue;
      in_chunks(box, [&](i64 first, i64 count) {
        for (i64 column = 0; column < columns_; ++column) {
          for (i64 at = 0; at < count; ++at) bounds_.push_back(groups_.lows[order_[first + at]][column]);
          for (i64 at = 0; at < count; ++at) bounds_.push_back(groups_.highs[order_[first + at]][column]);
        }
      });
    }
  }

  i64 build(i64 from, i64 to, const std::vector<u64> &helped) {
    const i64 here = static_cast<i64>(boxes_.size());
    boxes_.push_back({from, to, 0, std::numeric_limits<i64>::max(), 0});
    lows_.resize(lows_.size() + columns_, std::numeric_limits<i32>::max());
    highs_.resize(highs_.size() + columns_, std::numeric_limits<i32>::min());
    least_.resize(least_.size() + columns_, INFINITE);
    most_.resize(most_.size() + columns_, 0.0);
    helped_.resize(helped_.size() + words_, 0);
    for (i64 place = from; place < to; ++place) {
      const i64 group = order_[place];
      Box &box = boxes_[here];
      box.least_size = std::min(box.least_size, groups_.sizes[group]);
      box.most_size = std::max(box.most_size, groups_.sizes[group]);
      for (i64 column = 0; column < columns_; ++column) {
        const i64 at = here * columns_ + column;
        lows_[at] = std::min(lows_[at], groups_.lows[group][column]);
        highs_[at] = std::max(highs_[at], groups_.highs[group][column]);
        const f64 lost = span_loss_(column, groups_.lows[group][column], groups_.highs[group][column]);
        least_[at] = std::min(least_[at], lost);
        most_[at] = std::max(most_[at], lost);
      }
    }
    const i64 middle = to - from > small_ ? cut(here) : from;
    if (middle > from) {
      const i64 left = build(from, middle, helped), right = build(middle, to, helped);
      boxes_[here].right = right;
      for (i64 word = 0; word < words_; ++word) {
        helped_[here * words_ + word] = helped_[left * words_ + word] | helped_[right * words_ + word];
      }
    } else {
      for (i64 place = from; place < to; ++place) {
        const u64 *rows = helped.data() + safe_.kind_of[order_[place]] * words_;
        for (i64 word = 0; word < words_; ++word) helped_[here * words_ + word] |= rows[word];
      }
    }
    return here;
  }

  // Order the groups of a box so that those on either side of a place are far from each other; return the place.
  i64 cut(i64 here) {
    const i64 from = boxes_[here].from, to = boxes_[here].to;
    i64 column = -1, level = 0;
    f64 most = 0;
    for (i64 place = 0; place < columns_; ++place) {
      i64 lowest = std::numeric_limits<i64>::max();
      for (i64 at = from; at < to; ++at) lowest = std::min(lowest, groups_.levels[order_[at]][place]);
      const i64 common =
          groups_.common_level(place, lows_[here * columns_ + place], highs_[here * columns_ + place], lowest);
      const f64 spread = groups_.level_loss(place, common, highs_[here * columns_ + place]) - least_[here * columns_ + place];
      if (spread > most) column = place, level = common, most = spread;
    }
    if (column < 0) return from;
    // Groups that span several of the nodes below the common one are near all others in this column.
    const i64 *keys = groups_.keys.data + groups_.first_key[column][level - 1];
    const auto spans = [&](i64 group) {
      return groups_.levels[group][column] >= level || keys[groups_.lows[group][column]] != keys[groups_.highs[group][column]];
    };
    i64 *first = order_.data() + from, *last = order_.data() + to;
    i64 *wide = std::stable_partition(first, last, [&](i64 group) { return !spans(group); });
    if (wide != first && wide != last) return from + (wide - first);
    if (wide == first) return from;
    std::stable_sort(first, last, [&](i64 a, i64 b) { return groups_.highs[a][column] < groups_.highs[b][column]; });
    const i64 half = (to - from) / 2;
    i64 best = from, distance = to - from;
    for (i64 at = from + 1; at < to; ++at) {
      if (keys[groups_.highs[order_[at]][column]] == keys[groups_.highs[order_[at - 1]][column]]) continue;
      const i64 off = std::abs(at - from - half);
      if (off < distance) best = at, distance = off;
    }
    return best;
  }

  // What it costs at least to join any group of a box.
  f64 least_cost(i64 here, const Search &what) const {
    if (!(helped_[here * words_ + what.row / 64] >> (what.row % 64) & 1)) return INFINITE;
    const i64 first = here * columns_;
    const i32 *own_lows = groups_.lows[what.one], *own_highs = groups_.highs[what.one];
    f64 joint = 0, added = 0;
    for (i64 column = 0; column < columns_; ++column) {
      // Up to the nearest code of the box, or the group alone where it reaches into the box.
      const i32 low = std::min(own_lows[column], highs_[first + column]);
      const i32 high = std::max(own_highs[column], lows_[first + column]);
      const f64 loss = std::max(span_loss_(column, low, high), least_[first + column]);
      joint += loss;
      added += std::max(loss - most_[first + column], 0.0);
    }
    // Where the failing join, the cost is a mean over the rows of both.
    const f64 own_more = joint - groups_.losses[what.one];
    const bool large = failing_ && own_more > added;
    return cost(own_more, added, what.one, large ? boxes_[here].most_size : boxes_[here].least_size);
  }

  // What it costs to join a group, from what its rows and those of the other one lose more.
  f64 cost(f64 own_more, f64 other_more, i64 one, i64 other_size) const {
    const f64 own = static_cast<f64>(groups_.sizes[one]), other = static_cast<f64>(other_size);
    return (own * own_more + other * other_more) / (failing_ ? own + other : own);
  }

  void visit(i64 here, Search &what) const {
    const Box &box = boxes_[here];
    if (!box.right) {
      in_chunks(box, [&](i64 first, i64 count) { consider(first, count, what); });
      return;
    }
    i64 near = here + 1, far = box.right;
    f64 near_cost = least_cost(near, what);
    f64 far_cost = least_cost(far, what);
    if (far_cost < near_cost) std::swap(near, far), std::swap(near_cost, far_cost);
    if (near_cost < INFINITE && near_cost - ROUNDING <= what.worst()) visit(near, what);
    if (far_cost < INFINITE && far_cost - ROUNDING <= what.worst()) visit(far, what);
  }

  void consider(i64 first, i64 count, Search &what) const {
    f64 joint[CHUNK] = {};
    const i32 *own_lows = groups_.lows[what.one], *own_highs = groups_.highs[what.one];
    const i32 *lows = bounds_.data() + first * 2 * columns_;
    for (i64 column = 0; column < columns_; ++column, lows += 2 * count) {
      span_loss_.add_joint(column, own_lows[column], own_highs[column], lows, lows + count, count, joint);
    }
    for (i64 at = 0; at < count; ++at) {
      const Member &other = members_[first + at];
      if (other.group == what.one || joint[at] == INFINITE || !safe_.by_row[what.row][other.kind]) continue;
      what.add(other.group, cost(joint[at] - groups_.losses[what.one], joint[at] - other.loss, what.one, other.size));
    }
  }

  const Groups &groups_;
  const SpanLosses &span_loss_;
  std::vector<i64> order_;
  const bool failing_;
  const Safe safe_;
  const i64 small_, columns_, words_;
  std::vector<Box> boxes_;
  std::vector<i32> lows_, highs_;  // per box and column: the codes that its groups lie between
  std::vector<f64> least_, most_;  // per box and column: what its groups lose there
  std::vector<Member> members_;    // in the order of order_
  std::vector<i32> bounds_;        // per chunk of them and column: their lowest codes, and then their highest ones
  std::vector<u64> helped_;        // per box: one bit for each row of safe_ by which any of its groups is
};

constexpr i64 WORTH_A_TREE = 32;  // fewer searches than this take less time than the tree

static void nearest(
    Vector<const i64> searching, Vector<const i8> is_failing, bool only_failing, Vector<const i64> own_row,
    Vector<const i64> kind_of, Matrix<const i8> safe, Vector<const i64> sizes, Vector<const f64> losses,
    Matrix<const i32> lows, Matrix<const i32> highs, Matrix<const i64> levels, Vector<const i64> keys,
    Vector<const f64> loss_at, Matrix<const i64> first_key, Vector<const i64> highest, Matrix<i64> found,
    Matrix<f64> costs, i64 threads) {
  const Groups groups{sizes, losses, lows, highs, levels, keys, loss_at, first_key, highest};
  std::vector<i64> failing, others;
  for (i64 group = 0; group < sizes.length; ++group) {
    if (is_failing[group]) {
      failing.push_back(group);
    } else if (!only_failing) {
      others.push_back(group);
    }
  }
  const SpanLosses span_loss(groups);
  const i64 small = searching.length < WORTH_A_TREE ? sizes.length : 32;
  const Boxes of_failing(groups, span_loss, std::move(failing), true, {kind_of, safe}, small);
  const Boxes of_others(groups, span_loss, std::move(others), false, {kind_of, safe}, small);
  const i64 wanted = found.columns;
  const auto about = [](i64) { return i64{1} << 9; };
  in_parts(even_parts(searching.length, threads, about), [&](i64, i64 from, i64 to) {
    for (i64 place = from; place < to; ++place) {
      Search what{searching[place], own_row[place], wanted, found[place], costs[place]};
      of_failing.search(what);
      of_others.search(what);
      const i64 known = what.known;
      std::fill(found[place] + known, found[place] + wanted, i64{-1});
      std::fill(costs[place] + known, costs[place] + wanted, INFINITE);
    }
  });
}
EXPORT(nearest)

static void match_pairs(Vector<const i64> ones, Vector<const i64> others, Vector<i8> taken, Vector<i8> accepted) {
  for (i64 place = 0; place < ones.length; ++place) {
    if (!taken[ones[place]] && !taken[others[place]]) {
      taken[ones[place]] = taken[others[place]] = accepted[place] = 1;
    }
  }
}
EXPORT(match_pairs)

// Pairs in their order, as `match_pairs` takes them; but a group whose choice was joined before may join that union too,
// if that costs no more than its limit.
static void match_unions(
    Vector<const i64> ones, Vector<const i64> others, Vector<const f64> limits, Vector<const i8> taken,
    Vector<const i64> sizes, Vector<const f64> losses, Matrix<const i32> lows, Matrix<const i32> highs,
    Matrix<const i64> levels, Vector<const i64> keys, Vector<const f64> loss_at, Matrix<const i64> first_key,
    Vector<const i64> highest, Vector<i64> joins, Vector<i8> is_first) {
  const Groups groups{sizes, losses, lows, highs, levels, keys, loss_at, first_key, highest};
  const SpanLosses span_loss(groups);
  const i64 columns = lows.columns;
  std::vector<i64> union_size(sizes.begin(), sizes.end());
  std::vector<f64> union_loss(losses.begin(), losses.end());
  std::vector<i32> low(lows.data, lows.data + lows.rows * columns), high(highs.data, highs.data + highs.rows * columns);
  for (i64 pair = 0; pair < ones.length; ++pair) {
    const i64 one = ones[pair];
    if (taken[one] || taken[others[pair]] || joins[one] >= 0) continue;
    const bool first = joins[others[pair]] < 0;
    const i64 into = first ? others[pair] : joins[others[pair]];
    i32 *from = low.data() + into * columns, *to = high.data() + into * columns;
    f64 joint = 0;
    for (i64 column = 0; column < columns; ++column) {
      joint += span_loss(column, std::min(lows[one][column], from[column]), std::max(highs[one][column], to[column]));
    }
    const f64 own = static_cast<f64>(sizes[one]), other = static_cast<f64>(union_size[into]);
    const f64 more = own * (joint - losses[one]) + other * (joint - union_loss[into]);
    if (joint == INFINITE || (!first && more > own * limits[pair])) continue;
    joins[one] = joins[into] = into;
    is_first[one] = first;
    for (i64 column = 0; column < columns; ++column) {
      from[column] = std::min(from[column], lows[one][column]);
      to[column] = std::max(to[column], highs[one][column]);
    }
    union_size[into] += sizes[one];
    union_loss[into] = joint;
  }
}
EXPORT(match_unions)

static void costs_of_joining(
    i64 one, Vector<const i64> sizes, Vector<const f64> losses, Matrix<const i32> lows, Matrix<const i32> highs,
    Matrix<const i64> levels, Vector<const i64> keys, Vector<const f64> loss_at, Matrix<const i64> first_key,
    Vector<const i64> highest, Vector<f64> costs) {
  const Groups groups{sizes, losses, lows, highs, levels, keys, loss_at, first_key, highest};
  for (i64 other = 0; other < sizes.length; ++other) {
    if (other == one) continue;
    costs[other] = static_cast<f64>(sizes[one] + sizes[other]) * groups.joint_loss(one, other, INFINITE) -
                   groups.lost_before(one, other);
  }
}
EXPORT(costs_of_joining)

}  // namespace joining
