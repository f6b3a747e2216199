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

// Values that wait for the rows of each line: `left[line]` of them from `first[line]` on.
struct Waiting {
  Scratch<i64> first, left;
  Scratch<i32> values;
};

// Give each row one of the values that wait for its line, by a random word.
static void deal(Vector<const i64> above, Waiting &waiting, Vector<const u64> words, Vector<i64> dealt) {
  for (i64 row = 0; row < above.length; ++row) {
    const i64 line = above[row];
    i64 &left = waiting.left[line];
    if (left < 1) throw Mismatch("a row has no value left");
    i32 *mine = waiting.values.begin() + waiting.first[line];
    const i64 drawn = below(words[row], left);
    dealt[row] = mine[drawn];
    mine[drawn] = mine[--left];
  }
}

// Rows with the same `above` share out its values: `counts[above]` says how many of each. `words` are random.
static void deal_values(
    Vector<const i64> above, Matrix<const i64> counts, Vector<const u64> words, Vector<i64> values) {
  Waiting waiting{Scratch<i64>(counts.rows), Scratch<i64>(counts.rows), Scratch<i32>(above.length)};
  i64 used = 0;
  for (i64 line = 0; line < counts.rows; ++line) {
    waiting.first[line] = used;
    for (i64 value = 0; value < counts.columns; ++value) {
      for (i64 many = counts[line][value]; many > 0 && used < above.length; --many) {
        waiting.values[used++] = static_cast<i32>(value);
      }
    }
    waiting.left[line] = used - waiting.first[line];
  }
  deal(above, waiting, words, values);
}
EXPORT(deal_values)

// The same where the values of each line are listed, `many[line]` of them, line after line.
static void deal_listed(
    Vector<const i64> above, Vector<const i64> many, Vector<const i64> listed, Vector<const u64> words, Vector<i64> values) {
  Waiting waiting{Scratch<i64>(many.length), Scratch<i64>(many.length), Scratch<i32>(listed.length)};
  i64 used = 0;
  for (i64 line = 0; line < many.length; ++line) {
    waiting.first[line] = used;
    waiting.left[line] = many[line];
    used += many[line];
  }
  if (used != listed.length) throw Mismatch("there are not as many values as there should be");
  for (i64 place = 0; place < listed.length; ++place) waiting.values[place] = static_cast<i32>(listed[place]);
  deal(above, waiting, words, values);
}
EXPORT(deal_listed)

}  // namespace dealing
