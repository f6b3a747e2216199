// Answer counting queries one after the other. See `answering.py` for what things mean.
#include "threads.hpp"

namespace answering {

// The columns that one query asks about, and its shares of their runs: in one piece, since they are read box after box.
class Asked {
 public:
  Asked(i64 columns, i64 runs) : places_(columns), allowed_(columns), row_(runs) {}

  void read(i64 query, Matrix<const f64> shares_by_run, Vector<const i64> starts, const i8 *asked) {
    many_ = 0;
    for (i64 place = 0; place < starts.length; ++place) {
      if (!asked[place]) continue;
      const i64 end = place + 1 < starts.length ? starts[place + 1] : shares_by_run.rows;
      f64 total = 0;
      for (i64 run = starts[place]; run < end; ++run) total += row_[run] = shares_by_run[run][query];
      insert(place, total / static_cast<f64>(end - starts[place]));
    }
  }
  i64 length() const { return many_; }
  i64 operator[](i64 number) const { return places_[number]; }
  const f64 *shares_from(i64 start) const { return row_.begin() + start; }

 private:
  // What rules out most boxes is looked at first, and most often nothing else. Columns that rule out as many stay in
  // their order.
  void insert(i64 place, f64 allowed) {
    i64 at = many_++;
    for (; at > 0 && allowed < allowed_[at - 1]; --at) {
      allowed_[at] = allowed_[at - 1];
      places_[at] = places_[at - 1];
    }
    allowed_[at] = allowed;
    places_[at] = place;
  }

  Scratch<i64> places_;
  Scratch<f64> allowed_, row_;
  i64 many_ = 0;
};

// The runs of all boxes, one column after the other: that is how they are read.
static void turn(Matrix<const i32> runs, Scratch<i32> &by_column) {
  for (i64 box = 0; box < runs.rows; ++box) {
    for (i64 column = 0; column < runs.columns; ++column) by_column[column * runs.rows + box] = runs[box][column];
  }
}

// Add up what a query finds in the boxes of one column after the other; `left` and `left_shares` have room for all.
static f64 add_up(
    const Asked &columns, const Scratch<i32> &by_column, Vector<const f64> counts, Vector<const i64> starts,
    const Scratch<i64> &left, const Scratch<f64> &left_shares) {
  const i64 boxes = counts.length;
  f64 total = 0;
  if (columns.length() == 0) {
    for (f64 count : counts) total += count;
    return total;
  }
  // Boxes of which nothing is ruled out yet, with their share so far: column by column they become fewer.
  i64 number = 0;
  for (i64 at = 0; at < columns.length(); ++at) {
    const f64 *shares = columns.shares_from(starts[columns[at]]);
    const i32 *run_of = by_column.begin() + columns[at] * boxes;
    i64 still = 0;
    if (at == 0) {
      for (i64 box = 0; box < boxes; ++box) {
        const f64 share = shares[run_of[box]];
        left[still] = box;
        left_shares[still] = share;
        still += share > 0;
      }
    } else {
      for (i64 place = 0; place < number; ++place) {
        const i64 box = left[place];
        const f64 share = left_shares[place] * shares[run_of[box]];
        left[still] = box;
        left_shares[still] = share;
        still += share > 0;
      }
    }
    number = still;
  }
  for (i64 place = 0; place < number; ++place) total += left_shares[place] * counts[left[place]];
  return total;
}

static void add_up_shares(
    Matrix<const i32> runs, Vector<const f64> counts, Matrix<const f64> shares_by_run, Vector<const i64> starts,
    Matrix<const i8> asked, Vector<f64> answers, i64 threads) {
  const i64 boxes = runs.rows;
  Scratch<i32> by_column(boxes * runs.columns);
  turn(runs, by_column);
  const auto steps = [&](i64) { return boxes; };
  in_parts(even_parts(asked.rows, threads, steps), [&](i64, i64 from, i64 to) {
    Asked columns(starts.length, shares_by_run.rows);
    Scratch<i64> left(boxes);
    Scratch<f64> left_shares(boxes);
    for (i64 query = from; query < to; ++query) {
      columns.read(query, shares_by_run, starts, asked[query]);
      answers[query] = add_up(columns, by_column, counts, starts, left, left_shares);
    }
  });
}
EXPORT(add_up_shares)

}  // namespace answering
