// Count the rows that satisfy each of many questions, in one pass. See `questions.py`.
#include <mutex>

#include "threads.hpp"

namespace questions {

// `satisfied` has one line of `words` for each code of each column, columns from `starts` on: which questions a row
// with that code satisfies, as far as this column goes. The class is the last column.
static void count_questions(
    Matrix<const i32> codes, Vector<const i64> line_of, Vector<const i64> classes, Vector<const i64> counts,
    Matrix<const u64> satisfied, Vector<const i64> starts, Vector<i64> found, i64 threads) {
  const i64 words = satisfied.columns, of_classes = starts[codes.columns];
  const auto steps = [&](i64) { return codes.columns * words; };
  std::mutex adding;
  in_parts(even_parts(line_of.length, threads, steps), [&](i64, i64 from, i64 to) {
    std::vector<i64> own(static_cast<std::size_t>(found.length), 0);
    for (i64 row = from; row < to; ++row) {
      const i32 *mine = codes[line_of[row]];
      for (i64 word = 0; word < words; ++word) {
        u64 left = satisfied[of_classes + classes[row]][word];
        for (i64 column = 0; column < codes.columns && left; ++column) left &= satisfied[starts[column] + mine[column]][word];
        for (; left; left &= left - 1) own[static_cast<std::size_t>(word * 64 + __builtin_ctzll(left))] += counts[row];
      }
    }
    const std::lock_guard<std::mutex> lock(adding);
    for (i64 question = 0; question < found.length; ++question) found[question] += own[static_cast<std::size_t>(question)];
  });
}
EXPORT(count_questions)

}  // namespace questions
