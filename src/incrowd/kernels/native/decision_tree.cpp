// C4.5: grow a decision tree on weighted rows, and prune it. See `decision_tree.py` for what things mean.
#include <algorithm>
#include <cmath>
#include <vector>

#include "arguments.hpp"

namespace decision_tree {

constexpr f64 NOTHING = 1e-9;  // gains that are nearer are equal, and the first is taken
constexpr f64 FEWEST = 2 - NOTHING;  // two branches of a split have at least so much weight; sums are rounded
constexpr f64 WORTH_A_SUBTREE = 0.1;  // errors that a subtree has to save

// Weights of classes, one after the other, and how mixed they are.
f64 sum(const f64 *weights, i64 number) {
  f64 all = 0;
  for (i64 place = 0; place < number; ++place) all += weights[place];
  return all;
}

// The entropy in bits, times the weight.
f64 mixed(const f64 *weights, i64 number, f64 all) {
  f64 found = 0;
  for (i64 place = 0; place < number; ++place) {
    if (weights[place] > 0) found -= weights[place] * std::log2(weights[place] / all);
  }
  return found;
}

// The errors that are expected of a leaf on other rows: the upper end of a confidence interval.
struct Pessimistic {
  f64 confidence, z;  // of a normal distribution, with this confidence above it

  f64 errors(f64 all, f64 wrong) const {
    if (all <= 0) return 0;
    if (wrong < 1) {
      const f64 none = all * (1 - std::pow(confidence, 1 / all));
      return wrong <= 0 ? none : none + wrong * (errors(all, 1) - none);
    }
    if (wrong + 0.5 >= all) return all;
    const f64 share = (wrong + 0.5) / all;
    const f64 spread = z * std::sqrt(share / all - share * share / all + z * z / (4 * all * all));
    return all * (share + z * z / (2 * all) + spread) / (1 + z * z / all);
  }
};

struct Split {
  i64 column = -1;
  i64 last = -1;  // of an ordered column: the last code of the lower branch; otherwise every code is a branch
  f64 gain = 0, ratio = 0;
};

class Growth {
 public:
  Growth(Matrix<const i32> codes, Vector<const i32> classes, Vector<const f64> weights, Vector<const f64> values,
         Vector<const i64> starts, Vector<const i8> ordered, i64 kinds)
      : codes_(codes), classes_(classes), weights_(weights), values_(values), starts_(starts), ordered_(ordered),
        kinds_(kinds), rows_(classes.length), aside_(classes.length), table_(values.length * kinds), sizes_(values.length),
        first_(values.length + 1), below_(kinds), above_(kinds), splits_(2), branches_(2), counts_(kinds) {}

  // Every node: its column or -1, its last code (see Split); its parent, and the code (or 0 and 1 below and above) that
  // leads to it. Children of a node follow each other.
  void grow() {
    for (i64 row = 0; row < rows_.length(); ++row) rows_[row] = row;
    add_node(-1, 0, 0, rows_.length());
    for (i64 node = 0; node < splits_.length(); ++node) divide(node);
  }

  // Replace subtrees by leaves where that is expected to make no more errors.
  void prune(const Pessimistic &leaf) {
    const i64 nodes = splits_.length();
    Scratch<f64> errors(nodes, 0);
    for (i64 node = nodes - 1; node >= 0; --node) {
      i64 *split = splits_.row(node);
      const f64 *counts = counts_.row(node), all = sum(counts, kinds_);
      f64 most = 0;
      for (i64 kind = 0; kind < kinds_; ++kind) most = std::max(most, counts[kind]);
      const f64 alone = leaf.errors(all, all - most);
      if (split[0] < 0 || alone <= errors[node] + WORTH_A_SUBTREE) split[0] = -1, errors[node] = alone;
      const i64 parent = branches_.row(node)[0];
      if (parent >= 0) errors[parent] += errors[node];
    }
  }
  std::tuple<Growing<i64>, Growing<i64>, Growing<f64>> give() {
    return {std::move(splits_), std::move(branches_), std::move(counts_)};
  }

 private:
  struct Rows {
    i64 first, last;
  };

  void add_node(i64 parent, i64 branch, i64 first, i64 last) {
    i64 *split = splits_.add(), *led = branches_.add();
    split[0] = split[1] = -1;
    led[0] = parent, led[1] = branch;
    f64 *counts = counts_.add();
    for (i64 kind = 0; kind < kinds_; ++kind) counts[kind] = 0;
    for (i64 place = first; place < last; ++place) counts[classes_[rows_[place]]] += weights_[rows_[place]];
    parts_.push_back({first, last});
  }

  void divide(i64 node) {
    const Rows part = parts_[node];
    const f64 *counts = counts_.row(node);
    i64 several = 0;
    for (i64 kind = 0; kind < kinds_; ++kind) several += counts[kind] > 0;
    const f64 all = sum(counts, kinds_);
    if (all < 2 * FEWEST || several < 2) return;
    const f64 before = mixed(counts, kinds_, all);
    std::vector<Split> tried;
    f64 gains = 0;
    for (i64 column = 0; column < codes_.columns; ++column) {
      const Split split = ordered_[column] ? by_threshold(column, part, all, before) : by_value(column, part, all, before);
      if (split.gain > NOTHING) tried.push_back(split), gains += split.gain;
    }
    const Split *best = nullptr;
    for (const Split &split : tried) {
      if (split.gain < gains / static_cast<f64>(tried.size()) - NOTHING) continue;
      if (best == nullptr || split.ratio > best->ratio + NOTHING) best = &split;
    }
    if (best == nullptr) return;
    i64 *split = splits_.row(node);
    split[0] = best->column, split[1] = best->last;
    send(node, part, *best);
  }

  // Count the weights of a column's codes by class; return the range of codes that occur.
  std::pair<i64, i64> count(i64 column, Rows part) {
    const i64 codes = starts_[column + 1] - starts_[column];
    std::fill(table_.begin(), table_.begin() + codes * kinds_, 0.0);
    i64 low = codes, high = -1;
    for (i64 place = part.first; place < part.last; ++place) {
      const i64 row = rows_[place], code = codes_[row][column];
      table_[code * kinds_ + classes_[row]] += weights_[row];
      low = std::min(low, code), high = std::max(high, code);
    }
    for (i64 code = low; code <= high; ++code) sizes_[code] = sum(&table_[code * kinds_], kinds_);
    return {low, high};
  }

  Split by_value(i64 column, Rows part, f64 all, f64 before) {
    const auto [low, high] = count(column, part);
    f64 after = 0;
    i64 large = 0;
    for (i64 code = low; code <= high; ++code) {
      large += sizes_[code] >= FEWEST;
      after += mixed(&table_[code * kinds_], kinds_, sizes_[code]);
    }
    if (large < 2) return {};
    const f64 spread = mixed(&sizes_[low], high - low + 1, all) / all, gain = (before - after) / all;
    return {column, -1, gain, gain / std::max(spread, NOTHING)};
  }

  Split by_threshold(i64 column, Rows part, f64 all, f64 before) {
    const auto [low, high] = count(column, part);
    below_.fill(0), above_.fill(0);
    for (i64 code = low; code <= high; ++code) {
      for (i64 kind = 0; kind < kinds_; ++kind) above_[kind] += table_[code * kinds_ + kind];
    }
    f64 under = 0, best = 0, best_under = 0;
    i64 distinct = 0, at = -1, following = -1, occurred = -1;
    for (i64 code = low; code <= high; ++code) {
      if (sizes_[code] <= 0) continue;
      ++distinct;
      if (occurred == at && occurred >= 0) following = code;  // the code that is next to the best one so far
      occurred = code;
      if (code == high) break;
      for (i64 kind = 0; kind < kinds_; ++kind) {
        below_[kind] += table_[code * kinds_ + kind];
        above_[kind] -= table_[code * kinds_ + kind];
      }
      under += sizes_[code];
      if (under < FEWEST || all - under < FEWEST) continue;
      const f64 after = mixed(below_.begin(), kinds_, under) + mixed(above_.begin(), kinds_, all - under);
      if (const f64 gain = before - after; at < 0 || gain > best + NOTHING * all) at = code, best = gain, best_under = under;
    }
    if (at < 0) return {};
    // A threshold lies in the middle of two values; which codes are below it is looked up for all that there are.
    const f64 *values = &values_[starts_[column]];
    const f64 threshold = (values[at] + values[following]) / 2;
    i64 last = at;
    while (last + 1 < following && values[last + 1] <= threshold) ++last;
    const f64 gain = best / all - std::log2(static_cast<f64>(distinct - 1)) / all;
    const f64 sides[2] = {best_under, all - best_under};
    return {column, last, gain, gain / std::max(mixed(sides, 2, all) / all, NOTHING)};
  }

  // Sort a node's rows by their branches, and make a node of each.
  void send(i64 node, Rows part, const Split &split) {
    const i64 codes = split.last >= 0 ? 2 : starts_[split.column + 1] - starts_[split.column];
    const auto branch = [&](i64 row) -> i64 {
      const i64 code = codes_[row][split.column];
      return split.last >= 0 ? code > split.last : code;
    };
    for (i64 code = 0; code <= codes; ++code) first_[code] = 0;
    for (i64 place = part.first; place < part.last; ++place) ++first_[branch(rows_[place]) + 1];
    for (i64 code = 0; code < codes; ++code) first_[code + 1] += first_[code];
    for (i64 place = part.first; place < part.last; ++place) aside_[place] = rows_[place];
    for (i64 place = part.first; place < part.last; ++place) {
      rows_[part.first + first_[branch(aside_[place])]++] = aside_[place];
    }
    i64 first = part.first;  // by now, `first_` is where the branches end
    for (i64 code = 0; code < codes; ++code) {
      const i64 last = part.first + first_[code];
      if (last > first) add_node(node, code, first, last);
      first = last;
    }
  }

  Matrix<const i32> codes_;
  Vector<const i32> classes_;
  Vector<const f64> weights_, values_;
  Vector<const i64> starts_;
  Vector<const i8> ordered_;
  i64 kinds_;
  Scratch<i64> rows_, aside_;
  Scratch<f64> table_, sizes_;
  Scratch<i64> first_;
  Scratch<f64> below_, above_;
  Growing<i64> splits_, branches_;
  Growing<f64> counts_;
  std::vector<Rows> parts_;
};

static std::tuple<Growing<i64>, Growing<i64>, Growing<f64>> grow_decision_tree(
    Matrix<const i32> codes, Vector<const i32> classes, Vector<const f64> weights, Vector<const f64> values,
    Vector<const i64> starts, Vector<const i8> ordered, i64 kinds, f64 confidence, f64 z) {
  Growth growth(codes, classes, weights, values, starts, ordered, kinds);
  growth.grow();
  growth.prune({confidence, z});
  return growth.give();
}
EXPORT(grow_decision_tree)

static f64 pessimistic_errors(f64 all, f64 wrong, f64 confidence, f64 z) {
  return Pessimistic{confidence, z}.errors(all, wrong);
}
EXPORT(pessimistic_errors)

}  // namespace decision_tree
