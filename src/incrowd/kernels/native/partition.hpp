// What cutting boxes shares with other loops.
#pragma once

#include <algorithm>

#include "arguments.hpp"

namespace partition {

// A column's nodes, level by level, in the order of its codes.
struct Tree {
  const i32 *nodes;
  i64 size, height;

  // The level of the lowest node that holds both codes; the border of missing counts as one above the root.
  i64 boundary_level(i64 below, i64 above) const {
    if (below == 0) return height + 1;
    for (i64 level = 0; level <= height; ++level) {
      if (nodes[level * size + below] == nodes[level * size + above]) return level;
    }
    return height;
  }
};

// Lists the distinct codes of one column in a box, ascending, with their numbers of rows.
class CodeCounter {
 public:
  CodeCounter(Matrix<const i32> table, Vector<const i64> part_tuples, Vector<const i64> part_counts,
              Vector<const i64> order, i64 widest, i64 longest)
      : table_(table), part_tuples_(part_tuples), part_counts_(part_counts), order_(order), scratch_(widest, 0),
        codes_(std::min(longest, widest) + 1), counts_(std::min(longest, widest) + 1), own_(longest) {}

  i64 count(i64 first, i64 last, i64 column, i64 low, i64 high) {
    i64 kinds = 0;
    if (high - low < 8 * (last - first) + 64) {
      for (i64 place = first; place < last; ++place) {
        const i64 part = order_[place];
        scratch_[table_[part_tuples_[part]][column] - low] += part_counts_[part];
      }
      for (i64 code = low; code <= high; ++code) {
        if (scratch_[code - low] > 0) {
          codes_[kinds] = code;
          counts_[kinds++] = std::exchange(scratch_[code - low], 0);
        }
      }
      return kinds;
    }
    for (i64 place = first; place < last; ++place) {
      const i64 part = order_[place];
      own_[place - first] = {table_[part_tuples_[part]][column], part_counts_[part]};
    }
    std::sort(own_.begin(), own_.begin() + (last - first));
    for (i64 place = 0; place < last - first; ++place) {
      if (kinds == 0 || codes_[kinds - 1] != own_[place].first) {
        codes_[kinds] = own_[place].first;
        counts_[kinds++] = 0;
      }
      counts_[kinds - 1] += own_[place].second;
    }
    return kinds;
  }
  const i64 *codes() const { return codes_.begin(); }
  const i64 *counts() const { return counts_.begin(); }

 private:
  Matrix<const i32> table_;
  Vector<const i64> part_tuples_, part_counts_, order_;
  Scratch<i64> scratch_, codes_, counts_;
  Scratch<std::pair<i64, i64>> own_;
};

}  // namespace partition
