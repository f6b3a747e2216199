// Take columns out of a graph one after the other, the one first whose clique has the fewest cells. See
// `elimination.py`.
#include <cmath>
#include <limits>

#include "arguments.hpp"

namespace elimination {

// A graph as sets of neighbours, each column a neighbour of itself.
class Graph {
 public:
  Graph(i64 columns, Vector<const f64> logs)
      : columns_(columns), words_((columns + 63) / 64), joined_(columns * words_), weights_(columns), logs_(logs) {}

  void read(Matrix<const i8> told) {
    joined_.fill(0);
    for (i64 one = 0; one < columns_; ++one) {
      for (i64 other = 0; other < columns_; ++other) {
        if (told[one][other]) join(one, other);
      }
    }
  }
  void copy(const Graph &other) {
    for (i64 place = 0; place < joined_.length(); ++place) joined_[place] = other.joined_[place];
  }
  void join(i64 one, i64 other) { of(one)[other / 64] |= u64{1} << (other % 64); }

  // Take all columns out. The cells of all cliques are added up until there are more than `most`. Where `cliques` is
  // given, its lines become the cliques, in the order in which columns were taken out.
  f64 eliminate(f64 most, i8 *cliques) {
    Scratch<i8> there(columns_, 1);
    for (i64 column = 0; column < columns_; ++column) weigh(column);
    f64 cells = 0;
    for (i64 step = 0; step < columns_ && cells <= most; ++step) {
      i64 out = -1;
      for (i64 column = 0; column < columns_; ++column) {
        if (there[column] && (out < 0 || weights_[column] < weights_[out])) out = column;
      }
      cells += std::exp(weights_[out]);
      there[out] = 0;
      each(of(out), [&](i64 column) {
        if (cliques != nullptr) cliques[step * columns_ + column] = 1;
        if (column == out) return;
        for (i64 word = 0; word < words_; ++word) of(column)[word] |= of(out)[word];
        of(column)[out / 64] &= ~(u64{1} << (out % 64));
        weigh(column);
      });
    }
    return cells;
  }

 private:
  i64 columns_, words_;
  Scratch<u64> joined_;
  Scratch<f64> weights_;
  Vector<const f64> logs_;

  u64 *of(i64 column) const { return joined_.begin() + column * words_; }
  template <class Work> void each(const u64 *some, Work work) const {
    for (i64 word = 0; word < words_; ++word) {
      for (u64 left = some[word]; left; left &= left - 1) work(word * 64 + __builtin_ctzll(left));
    }
  }
  void weigh(i64 column) {
    f64 sum = 0;
    each(of(column), [&](i64 other) { sum += logs_[other]; });
    weights_[column] = sum;
  }
};

// `cliques` is full of zeros; return the cells of all cliques.
static f64 eliminate(Matrix<const i8> graph, Vector<const f64> logs, Matrix<i8> cliques) {
  Graph one(graph.rows, logs);
  one.read(graph);
  return one.eliminate(std::numeric_limits<f64>::infinity(), cliques.data);
}
EXPORT(eliminate)

// The cells of all cliques if a set of columns more is joined, for each set of up to three; -1 stands for none.
static void cells_with_sets(
    Matrix<const i8> graph, Vector<const f64> logs, Matrix<const i32> sets, f64 most, Vector<f64> cells) {
  Graph before(graph.rows, logs), with(graph.rows, logs);
  before.read(graph);
  for (i64 number = 0; number < sets.rows; ++number) {
    with.copy(before);
    for (i64 one = 0; one < sets.columns; ++one) {
      for (i64 other = 0; other < sets.columns; ++other) {
        if (sets[number][one] >= 0 && sets[number][other] >= 0) with.join(sets[number][one], sets[number][other]);
      }
    }
    cells[number] = with.eliminate(most, nullptr);
  }
}
EXPORT(cells_with_sets)

}  // namespace elimination
