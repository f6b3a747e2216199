// Divide points in two again and again, and follow the boxes down. See `boxes_and_points.py` for the way and its cost.
#pragma once

#include <algorithm>
#include <vector>

#include "arguments.hpp"

namespace boxes_and_points {

constexpr i64 SAMPLE = 32;  // a part is divided by what this many of its points and boxes say

// Rows of `columns` lows and as many highs: they are read together.
struct Boxes {
  Matrix<const i32> rows;
  i64 columns;

  const i32 *lows(i64 box) const { return rows[box]; }
  const i32 *highs(i64 box) const { return rows[box] + columns; }
  bool holds(i64 box, const i32 *point) const {
    const i32 *low = lows(box), *high = highs(box);
    for (i64 column = 0; column < columns; ++column) {
      if (point[column] < low[column] || point[column] >= high[column]) return false;
    }
    return true;
  }
};

// The smallest and the largest code of each column, both included.
class Hull {
 public:
  explicit Hull(i64 columns) : columns_(columns), low_(columns), high_(columns) {}

  enum Meeting { APART, CUT, HELD };

  void enclose(Matrix<const i32> points) {
    std::copy(points[0], points[0] + columns_, low_.begin());
    std::copy(points[0], points[0] + columns_, high_.begin());
    for (i64 point = 1; point < points.rows; ++point) {
      for (i64 column = 0; column < columns_; ++column) {
        const i32 code = points[point][column];
        if (code < low_[column]) {
          low_[column] = code;
        } else if (code > high_[column]) {
          high_[column] = code;
        }
      }
    }
  }
  Meeting meet(const i32 *low, const i32 *high) const {
    bool held = true;
    for (i64 column = 0; column < columns_; ++column) {
      if (low[column] > high_[column] || high[column] <= low_[column]) return APART;
      held = held && low[column] <= low_[column] && high[column] > high_[column];
    }
    return held ? HELD : CUT;
  }
  i32 low(i64 column) const { return low_[column]; }
  i32 high(i64 column) const { return high_[column]; }

 private:
  i64 columns_;
  Scratch<i32> low_, high_;
};

struct Cut {
  i64 column;
  i32 code;
};

// A column and a code: points below it are divided from the others.
//
// Every column is tried at the middle one of its boxes' edges inside the hull; the best leaves the fewest pairs of a
// point and a box. Some box has such an edge, since all of them meet the hull and none holds it; and the hull being
// tight, there are points on both sides.
inline Cut choose_cut(Matrix<const i32> points, const Boxes &boxes, Vector<const i32> members, const Hull &hull) {
  const i64 point_step = (points.rows + SAMPLE - 1) / SAMPLE, box_step = (members.length + SAMPLE - 1) / SAMPLE;
  i32 edges[2 * SAMPLE];
  Cut best{-1, 0};
  i64 least = 0, most_edges = 0;
  for (i64 column = 0; column < points.columns; ++column) {
    i64 found = 0;
    for (i64 place = 0; place < members.length; place += box_step) {
      const i32 low = boxes.lows(members[place])[column], high = boxes.highs(members[place])[column];
      if (low > hull.low(column)) edges[found++] = low;
      if (high <= hull.high(column)) edges[found++] = high;
    }
    if (found == 0) continue;
    std::nth_element(edges, edges + found / 2, edges + found);
    const i32 cut = edges[found / 2];
    i64 points_below = 0, points_above = 0, boxes_below = 0, boxes_above = 0;
    for (i64 place = 0; place < points.rows; place += point_step) {
      points_below += points[place][column] < cut;
      points_above += points[place][column] >= cut;
    }
    for (i64 place = 0; place < members.length; place += box_step) {
      boxes_below += boxes.lows(members[place])[column] < cut;
      boxes_above += boxes.highs(members[place])[column] > cut;
    }
    const i64 pairs = points_below * boxes_below + points_above * boxes_above;
    if (best.column < 0 || pairs < least || (pairs == least && found > most_edges)) {
      best = {column, cut};
      least = pairs;
      most_edges = found;
    }
  }
  return best;
}

// Put points below the cut before the others; return how many they are.
inline i64 part(Matrix<i32> points, Vector<i64> order, Cut cut) {
  i64 left = 0, right = points.rows - 1;
  while (true) {
    while (left <= right && points[left][cut.column] < cut.code) ++left;
    while (left <= right && points[right][cut.column] >= cut.code) --right;
    if (left > right) return left;
    std::swap_ranges(points[left], points[left] + points.columns, points[right]);
    std::swap(order[left], order[right]);
  }
}

// Points that are still together, as they were numbered before.
struct Part {
  Matrix<const i32> points;
  Vector<const i64> numbers;
};

// Go down. A task is told of each part (`enter`), of each box that holds all of it (`hold`), and, where little is left,
// of the boxes that each of its points is to be tried with (`finish`). What a part knows of the boxes that hold it is a
// `Task::Held`, which its halves inherit.
template <class Task> void divide(const Boxes &boxes, Matrix<const i32> given, i64 few, Task &task) {
  if (given.rows == 0 || boxes.rows.rows == 0) return;
  const i64 columns = given.columns;
  Scratch<i32> codes(given.rows * columns);
  std::copy(given.data, given.data + given.rows * columns, codes.begin());
  Scratch<i64> order(given.rows);
  for (i64 point = 0; point < given.rows; ++point) order[point] = point;
  // `carried` is a stack of lists of boxes, each part's after that of the part that it comes from. A part that waits
  // is a range of points, and the list of the part that it comes from.
  Growing<i32> carried(1, 2 * boxes.rows.rows);
  for (i64 box = 0; box < boxes.rows.rows; ++box) carried.push(static_cast<i32>(box));
  struct Waiting {
    i64 first, last, list_first, list_last;
    typename Task::Held held;
  };
  std::vector<Waiting> waiting{{0, given.rows, 0, boxes.rows.rows, {}}};
  Hull hull(columns);
  while (!waiting.empty()) {
    auto [first, last, list_first, list_last, held] = waiting.back();
    waiting.pop_back();
    const Matrix<i32> points{codes.begin() + first * columns, last - first, columns};
    const Part own{{points.data, points.rows, columns}, {order.begin() + first, last - first}};
    hull.enclose(own.points);
    task.enter(own);
    carried.set_length(list_last);
    for (i64 place = list_first; place < list_last; ++place) {
      const i32 box = carried[place];
      const Hull::Meeting meeting = hull.meet(boxes.lows(box), boxes.highs(box));
      if (meeting == Hull::HELD) {
        task.hold(held, box);
      } else if (meeting == Hull::CUT) {
        carried.push(box);
      }
    }
    const i64 top = carried.length();
    const Vector<const i32> left_over{&carried[list_last], top - list_last};
    if (own.points.rows * left_over.length <= few) {
      task.finish(held, own, left_over);
      continue;
    }
    const Cut cut = choose_cut(own.points, boxes, left_over, hull);
    const i64 middle = first + part(points, {order.begin() + first, last - first}, cut);
    waiting.push_back({middle, last, list_last, top, held});
    waiting.push_back({first, middle, list_last, top, held});
  }
}

}  // namespace boxes_and_points
