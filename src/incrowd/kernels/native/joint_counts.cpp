// Count sets of columns together, and how far such counts are from what a model expects. See `joint_counts.py`.
#include <algorithm>
#include <cmath>

#include "arguments.hpp"

namespace joint_counts {

constexpr i64 MOST_COLUMNS = 3;   // of a set; -1 stands for none
constexpr i64 AT_ONCE = 4096;     // tuples whose cells stay in the processor's cache while all sets are counted

// A set's columns and their numbers of cells; a column that is not there has one.
struct Set {
  i64 columns[MOST_COLUMNS], sizes[MOST_COLUMNS];
  Set(const i32 *told, Vector<const i64> all_sizes) {
    for (i64 axis = 0; axis < MOST_COLUMNS; ++axis) {
      columns[axis] = told[axis];
      sizes[axis] = told[axis] < 0 ? 1 : all_sizes[told[axis]];
    }
  }
};

// `places[c][t]` is the cell of tuple t in column c; set s has its counts in `found` from `starts[s]` on.
static void count_sets(
    Matrix<const u16> places, Vector<const i64> counts, Matrix<const i32> sets, Vector<const i64> sizes,
    Vector<const i64> starts, Vector<i64> found) {
  for (i64 first = 0; first < counts.length; first += AT_ONCE) {
    const i64 last = std::min(first + AT_ONCE, counts.length);
    for (i64 number = 0; number < sets.rows; ++number) {
      const Set set(sets[number], sizes);
      i64 *mine = found.data + starts[number];
      const u16 *one = places[set.columns[0]];
      const u16 *two = set.columns[1] < 0 ? nullptr : places[set.columns[1]];
      const u16 *three = set.columns[2] < 0 ? nullptr : places[set.columns[2]];
      if (two == nullptr) {
        for (i64 tuple = first; tuple < last; ++tuple) mine[one[tuple]] += counts[tuple];
      } else if (three == nullptr) {
        for (i64 tuple = first; tuple < last; ++tuple) mine[one[tuple] * set.sizes[1] + two[tuple]] += counts[tuple];
      } else {
        for (i64 tuple = first; tuple < last; ++tuple) {
          mine[(one[tuple] * set.sizes[1] + two[tuple]) * set.sizes[2] + three[tuple]] += counts[tuple];
        }
      }
    }
  }
}
EXPORT(count_sets)

// For each candidate, a set by groups of cells: the sum of |count - expected| over its groups, in units. Expected
// counts are probabilities times `rows`, and become whole units first. `group_of` has, for each column and level, the
// group of every cell, from `group_starts` on.
static void distances_of_sets(
    Vector<const i64> counts, Vector<const f64> probabilities, f64 rows, i64 units, Matrix<const i32> sets,
    Vector<const i64> sizes, Vector<const i64> starts, Vector<const i64> set_of, Vector<const i64> level_of,
    Vector<const i32> group_of, Matrix<const i64> group_starts, Matrix<const i64> group_counts,
    Vector<i64> distances) {
  static const i32 alone[1] = {0};
  i64 most = 1;
  for (i64 number = 0; number < sets.rows; ++number) {
    const Set set(sets[number], sizes);
    most = std::max(most, set.sizes[0] * set.sizes[1] * set.sizes[2]);
  }
  Scratch<i64> there(most);
  Scratch<f64> expected(most);
  for (i64 candidate = 0; candidate < set_of.length; ++candidate) {
    const i64 number = set_of[candidate], level = level_of[candidate];
    const Set set(sets[number], sizes);
    const i32 *groups[MOST_COLUMNS];
    i64 many[MOST_COLUMNS];
    for (i64 axis = 0; axis < MOST_COLUMNS; ++axis) {
      const i64 column = set.columns[axis];
      groups[axis] = column < 0 ? alone : group_of.data + group_starts[column][level];
      many[axis] = column < 0 ? 1 : group_counts[column][level];
    }
    const i64 cells = many[0] * many[1] * many[2];
    for (i64 cell = 0; cell < cells; ++cell) there[cell] = 0, expected[cell] = 0;
    const i64 *count = counts.data + starts[number];
    const f64 *likely = probabilities.data + starts[number];
    for (i64 one = 0; one < set.sizes[0]; ++one) {
      for (i64 two = 0; two < set.sizes[1]; ++two) {
        const i64 line = (groups[0][one] * many[1] + groups[1][two]) * many[2];
        for (i64 three = 0; three < set.sizes[2]; ++three) {
          there[line + groups[2][three]] += *count++;
          expected[line + groups[2][three]] += *likely++;
        }
      }
    }
    i64 distance = 0;
    for (i64 cell = 0; cell < cells; ++cell) {
      const i64 whole = static_cast<i64>(std::nearbyint(expected[cell] * rows * static_cast<f64>(units)));
      distance += std::abs(there[cell] * units - whole);
    }
    distances[candidate] = distance;
  }
}
EXPORT(distances_of_sets)

}  // namespace joint_counts
