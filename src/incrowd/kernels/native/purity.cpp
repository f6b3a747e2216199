// How much purer boxes become if a column is specialized. See `purity.py` for what things mean.
#include "arguments.hpp"

namespace purity {

// Rows of several classes, and the squares of their numbers.
struct Squares {
  i64 squares = 0, rows = 0;

  void add(i64 count, i64 &of_class) {
    squares += count * (2 * of_class + count);
    of_class += count;
    rows += count;
  }
  void take(i64 count, i64 &of_class) {
    squares -= count * (2 * of_class - count);
    of_class -= count;
    rows -= count;
  }
  // Squares / rows in units of 2**-20, rounded down; both are far from filling 64 bits.
  i64 units() const {
    constexpr i64 one = 1 << 20;
    return rows == 0 ? 0 : (squares / rows) * one + ((squares % rows) * one) / rows;
  }
};

// `gains` come as zeros.
static void gains_of_pieces(
    Vector<const i64> starts, Vector<const i32> codes, Vector<const i64> classes, Vector<const i64> counts,
    Vector<const i64> piece_of, Vector<const i64> run_of, i64 class_count, Vector<i64> gains) {
  Scratch<i64> by_class(run_of.length * class_count, 0), in_box(class_count, 0);
  Scratch<Squares> pieces(run_of.length, Squares{});
  for (i64 box = 0; box < starts.length - 1; ++box) {
    const i64 first = starts[box], last = starts[box + 1];
    if (first == last || piece_of[codes[first]] < 0) continue;
    Squares whole;
    for (i64 place = first; place < last; ++place) {
      const i64 piece = piece_of[codes[place]], kind = classes[place];
      if (piece < 0) throw Mismatch("a box that lies only in part in what is specialized");
      pieces[piece].add(counts[place], by_class[piece * class_count + kind]);
      whole.add(counts[place], in_box[kind]);
    }
    i64 &gain = gains[run_of[piece_of[codes[first]]]];
    gain -= whole.units();
    for (i64 place = first; place < last; ++place) {
      const i64 piece = piece_of[codes[place]], kind = classes[place];
      gain += pieces[piece].units();
      pieces[piece] = {};
      by_class[piece * class_count + kind] = 0;
      in_box[kind] = 0;
    }
  }
}
EXPORT(gains_of_pieces)

// `gains` come as zeros, one for each point.
static void gains_of_points(
    Vector<const i64> starts, Vector<const i32> codes, Vector<const i64> classes, Vector<const i64> counts, i64 low,
    i64 high, i64 class_count, Vector<i64> gains) {
  Scratch<i64> first_with(high - low), next_with(codes.length), in_left(class_count, 0), in_right(class_count, 0);
  for (i64 box = 0; box < starts.length - 1; ++box) {
    const i64 first = starts[box], last = starts[box + 1];
    if (first == last || codes[first] < low || codes[first] >= high) continue;
    first_with.fill(-1);
    Squares left, right;
    for (i64 place = first; place < last; ++place) {
      if (codes[place] < low || codes[place] >= high) throw Mismatch("a box that lies only in part in the run");
      next_with[place] = first_with[codes[place] - low];
      first_with[codes[place] - low] = place;
      right.add(counts[place], in_right[classes[place]]);
    }
    const i64 before = right.units();
    i64 gain = 0;
    for (i64 value = 0; value < gains.length; ++value) {
      for (i64 place = first_with[value]; place >= 0; place = next_with[place]) {
        left.add(counts[place], in_left[classes[place]]);
        right.take(counts[place], in_right[classes[place]]);
      }
      if (first_with[value] >= 0) gain = left.units() + right.units() - before;
      gains[value] += gain;
    }
    for (i64 place = first; place < last; ++place) in_left[classes[place]] = in_right[classes[place]] = 0;
  }
}
EXPORT(gains_of_points)

}  // namespace purity
