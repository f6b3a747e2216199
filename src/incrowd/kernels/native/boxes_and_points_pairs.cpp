// Which boxes hold each point, one by one.
#include "boxes_and_points.hpp"

namespace boxes_and_points {

class Pairing {
 public:
  // How long the list of boxes that hold a part is: such lists are one stack too, each part's at the end of that of the
  // part that it comes from.
  using Held = i64;

  explicit Pairing(const Boxes &boxes) : boxes_(boxes), held_boxes_(1, boxes.rows.rows + 1) {}

  void enter(const Part &) {}
  void hold(Held &held, i64 box) {
    held_boxes_.set_length(held++);
    held_boxes_.push(static_cast<i32>(box));
  }
  void finish(Held held, const Part &part, Vector<const i32> left_over) {
    for (i64 place = 0; place < part.points.rows; ++place) {
      const i64 number = part.numbers[place];
      for (i64 entry = 0; entry < held; ++entry) add(number, held_boxes_[entry]);
      for (i64 box : left_over) {
        if (boxes_.holds(box, part.points[place])) add(number, box);
      }
    }
  }
  std::tuple<Growing<i32>, Growing<i32>> found() { return {std::move(points_), std::move(found_boxes_)}; }

 private:
  void add(i64 point, i64 box) {
    points_.push(static_cast<i32>(point));
    found_boxes_.push(static_cast<i32>(box));
  }

  const Boxes &boxes_;
  Growing<i32> held_boxes_, points_{1, 1024}, found_boxes_{1, 1024};
};

static std::tuple<Growing<i32>, Growing<i32>> pair_boxes_and_points(
    Matrix<const i32> rows, Matrix<const i32> points, i64 few) {
  const Boxes boxes{rows, points.columns};
  Pairing pairing(boxes);
  divide(boxes, points, few, pairing);
  return pairing.found();
}
EXPORT(pair_boxes_and_points)

}  // namespace boxes_and_points
