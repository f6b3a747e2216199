// Which points lie in which boxes, pair by pair. See `box_members.py` for what things mean.
#include <algorithm>

#include "arguments.hpp"

namespace box_members {

static void sort_by_code(Matrix<const i32> points, Matrix<i64> order, Matrix<i64> starts) {
  Scratch<i64> next(starts.columns);
  for (i64 column = 0; column < points.columns; ++column) {
    i64 *start = starts[column];
    for (i64 point = 0; point < points.rows; ++point) ++start[points[point][column] + 1];
    for (i64 code = 1; code < starts.columns; ++code) start[code] += start[code - 1];
    std::copy(start, start + starts.columns, next.begin());
    for (i64 point = 0; point < points.rows; ++point) order[column][next[points[point][column]]++] = point;
  }
}
EXPORT(sort_by_code)

static bool is_inside(const i32 *point, const i32 *low, const i32 *high, i64 columns) {
  for (i64 column = 0; column < columns; ++column) {
    if (point[column] < low[column] || point[column] >= high[column]) return false;
  }
  return true;
}

static void members_of_boxes(
    Matrix<const i32> lows, Matrix<const i32> highs, Matrix<const i32> points, Matrix<const i64> order,
    Matrix<const i64> starts, Vector<const i64> offsets, Vector<i64> found) {
  for (i64 box = 0; box < lows.rows; ++box) {
    const i32 *low = lows[box], *high = highs[box];
    i64 best = 0, fewest = points.rows + 1;
    for (i64 column = 0; column < lows.columns; ++column) {
      const i64 here = starts[column][high[column]] - starts[column][low[column]];
      if (here < fewest) best = column, fewest = here;
    }
    i64 at = offsets[box];
    for (i64 place = starts[best][low[best]]; place < starts[best][high[best]]; ++place) {
      const i64 point = order[best][place];
      if (is_inside(points[point], low, high, lows.columns)) found[at++] = point;
    }
  }
}
EXPORT(members_of_boxes)

}  // namespace box_members
