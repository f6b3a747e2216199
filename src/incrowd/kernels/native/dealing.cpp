// Deal values to rows at random, as many of each as there are. See `dealing.py`.
#include "arguments.hpp"

namespace dealing {

// The place among `bound` that a random word stands for.
static i64 below(u64 word, i64 bound) {
  const u64 many = static_cast<u64>(bound);
  // the upper half of the product, from halves of the word: nothing larger than 64 bits is needed
  const u64 upper = (word >> 32) * many, lower = (word & 0xffffffffu) * many;
  return static_cast<i64>((upper + (lower >> 32)) >> 32);
}

// Rows with the same `above` share out its values: `counts[above]` says how many of each. `words` are random.
static void deal_values(
    Vector<const i64> above, Matrix<const i64> counts, Vector<const u64> words, Vector<i64> values) {
  Scratch<i64> first(counts.rows), left(counts.rows);
  Scratch<i32> waiting(above.length);
  i64 used = 0;
  for (i64 line = 0; line < counts.rows; ++line) {
    first[line] = used;
    for (i64 value = 0; value < counts.columns; ++value) {
      for (i64 many = counts[line][value]; many > 0 && used < above.length; --many) {
        waiting[used++] = static_cast<i32>(value);
      }
    }
    left[line] = used - first[line];
  }
  for (i64 row = 0; row < above.length; ++row) {
    const i64 line = above[row];
    if (left[line] < 1) throw Mismatch("a row has no value left");
    i32 *mine = waiting.begin() + first[line];
    const i64 drawn = below(words[row], left[line]);
    values[row] = mine[drawn];
    mine[drawn] = mine[--left[line]];
  }
}
EXPORT(deal_values)

}  // namespace dealing
