// Count the rows that satisfy each of many questions, in one pass. See `questions.py`.
#include <limits>
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

// Let each question weigh on one of its columns, on all codes that satisfy it there: where the heaviest code of that
// column becomes heavier by least. Return the heaviest code of each column. Condition c of a question is about the codes
// from `places[c]` on in `satisfied`, and questions have the conditions from `firsts[q]` on.
static void weigh_questions(
    Vector<const i8> satisfied, Vector<const i64> places, Vector<const i64> column_of, Vector<const i64> firsts,
    Vector<const f64> weights, Vector<const i64> sizes, Vector<f64> heaviest) {
  std::vector<std::vector<f64>> sums;
  for (const i64 size : sizes) sums.emplace_back(static_cast<std::size_t>(size), 0.0);
  for (i64 question = 0; question < weights.length; ++question) {
    f64 least = std::numeric_limits<f64>::infinity();
    i64 chosen = -1;
    for (i64 condition = firsts[question]; condition < firsts[question + 1]; ++condition) {
      const i64 column = column_of[condition];
      const i8 *asked = &satisfied[places[condition]];
      f64 among = -std::numeric_limits<f64>::infinity();
      for (i64 code = 0; code < sizes[column]; ++code)
        if (asked[code]) among = std::max(among, sums[column][code]);
      const f64 more = std::max(among + weights[question], heaviest[column]) - heaviest[column];
      if (more < least) least = more, chosen = condition;
    }
    if (chosen < 0) throw std::invalid_argument("a question without a condition");
    const i64 column = column_of[chosen];
    const i8 *asked = &satisfied[places[chosen]];
    for (i64 code = 0; code < sizes[column]; ++code)
      if (asked[code]) heaviest[column] = std::max(heaviest[column], sums[column][code] += weights[question]);
  }
}
EXPORT(weigh_questions)

}  // namespace questions
