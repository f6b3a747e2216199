// Sums over the boxes around each point, and over the points in each box.
#include "boxes_and_points.hpp"

namespace boxes_and_points {

class Summing {
 public:
  using Held = f64;  // the weight of the boxes that hold a part altogether

  Summing(const Boxes &boxes, Vector<const f64> box_weights, Vector<const i64> point_weights, Vector<f64> at_points,
          Vector<i64> in_boxes)
      : boxes_(boxes), box_weights_(box_weights), point_weights_(point_weights), at_points_(at_points),
        in_boxes_(in_boxes) {}

  void enter(const Part &part) {
    part_weight_ = 0;
    for (i64 number : part.numbers) part_weight_ += point_weights_[number];
  }
  void hold(Held &held, i64 box) {
    held += box_weights_[box];
    in_boxes_[box] += part_weight_;
  }
  void finish(Held held, const Part &part, Vector<const i32> left_over) {
    for (i64 place = 0; place < part.points.rows; ++place) {
      const i64 number = part.numbers[place];
      f64 sum = held;
      for (i64 box : left_over) {
        if (!boxes_.holds(box, part.points[place])) continue;
        sum += box_weights_[box];
        in_boxes_[box] += point_weights_[number];
      }
      at_points_[number] = sum;
    }
  }

 private:
  const Boxes &boxes_;
  Vector<const f64> box_weights_;
  Vector<const i64> point_weights_;
  Vector<f64> at_points_;
  Vector<i64> in_boxes_;
  i64 part_weight_ = 0;
};

static void sum_boxes_and_points(
    Matrix<const i32> rows, Vector<const f64> box_weights, Matrix<const i32> points, Vector<const i64> point_weights,
    i64 few, Vector<f64> at_points, Vector<i64> in_boxes) {
  const Boxes boxes{rows, points.columns};
  Summing summing(boxes, box_weights, point_weights, at_points, in_boxes);
  divide(boxes, points, few, summing);
}
EXPORT(sum_boxes_and_points)

}  // namespace boxes_and_points
