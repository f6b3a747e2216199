// Count the rows that satisfy each of many questions, in one pass. See `questions.py`.
#include "arguments.hpp"

namespace questions {

// `satisfied` has one line of `words` for each code of each column, columns from `starts` on: which questions a row
// with that code satisfies, as far as this column goes.
static void count_questions(
    Matrix<const i32> codes, Vector<const i64> counts, Matrix<const u64> satisfied, Vector<const i64> starts,
    Vector<i64> found) {
  const i64 words = satisfied.columns;
  for (i64 row = 0; row < codes.rows; ++row) {
    const i32 *mine = codes[row];
    for (i64 word = 0; word < words; ++word) {
      u64 left = ~u64{0};
      for (i64 column = 0; column < codes.columns; ++column) left &= satisfied[starts[column] + mine[column]][word];
      for (; left; left &= left - 1) found[word * 64 + __builtin_ctzll(left)] += counts[row];
    }
  }
}
EXPORT(count_questions)

}  // namespace questions
