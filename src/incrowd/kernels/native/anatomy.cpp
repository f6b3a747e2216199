// Deal rows out to groups in which no sensitive value occurs twice. See `anatomy.py` for what things mean.
#include <algorithm>

#include "arguments.hpp"

namespace anatomy {

// Deals one segment after the other out to groups.
class Dealer {
 public:
  Dealer(Vector<const i64> run_starts, Vector<const i64> run_order, i64 each, Vector<i64> group_of)
      : run_starts_(run_starts), run_order_(run_order), each_(each), group_of_(group_of),
        marks_(group_of.length + 1, -1), remaining_(run_starts.length), next_(run_starts.length) {}

  // Deal one segment out to groups of `each` values, numbered from `first_group` on; return how many there are.
  i64 deal(i64 first_run, i64 last_run, const u64 *words, i64 first_group) {
    i64 alive = last_run - first_run, groups = 0;
    for (i64 place = 0; place < alive; ++place) {
      const i64 run = run_order_[first_run + place];
      remaining_[place] = run_starts_[run + 1] - run_starts_[run];
      next_[place] = run_starts_[run];
    }
    while (alive >= each_) {
      // Values with more rows left than the last one taken are all taken; of those with as many, the last ones, so that
      // what remains is still in descending order.
      const i64 count = remaining_[each_ - 1];
      const i64 above = first_below(alive, count + 1), end = first_below(alive, count);
      take(0, above, first_group + groups);
      take(end - (each_ - above), end, first_group + groups);
      ++groups;
      while (alive > 0 && remaining_[alive - 1] == 0) --alive;
    }
    for (i64 place = 0; place < alive; ++place) {
      place_last(run_order_[first_run + place], next_[place], words[place], first_group, groups);
    }
    return groups;
  }

 private:
  // The first of the descending numbers of rows left that is below this one.
  i64 first_below(i64 many, i64 count) const {
    return std::partition_point(remaining_.begin(), remaining_.begin() + many,
                                [&](i64 rows) { return rows >= count; }) - remaining_.begin();
  }

  void take(i64 first, i64 last, i64 group) {
    for (i64 place = first; place < last; ++place) {
      group_of_[next_[place]++] = group;
      --remaining_[place];
    }
  }

  // One row of the value is left (Xiao & Tao's Property 1), and at least one group lacks it.
  void place_last(i64 run, i64 row, u64 word, i64 first_group, i64 groups) {
    const i64 with_value = row - run_starts_[run];
    for (i64 other = run_starts_[run]; other < row; ++other) marks_[group_of_[other]] = run;
    i64 chosen = static_cast<i64>(word % static_cast<u64>(groups - with_value)), group = first_group;
    for (; marks_[group] == run || chosen > 0; ++group) chosen -= marks_[group] != run;
    group_of_[row] = group;
  }

  const Vector<const i64> run_starts_, run_order_;
  const i64 each_;
  const Vector<i64> group_of_;
  Scratch<i64> marks_, remaining_, next_;
};

// Return how many groups there are.
static i64 deal_segments(
    Vector<const i64> run_starts, Vector<const i64> run_order, Vector<const i64> segment_starts,
    Vector<const i64> box_starts, i64 each, i64 together, Matrix<const u64> words, Vector<i64> group_of) {
  Dealer dealer(run_starts, run_order, each, group_of);
  i64 total = 0;
  for (i64 box = 0; box < box_starts.length - 1; ++box) {
    const i64 first = box_starts[box], last = box_starts[box + 1];
    i64 found = 0;
    for (i64 segment = first; segment < last; ++segment) {
      found += dealer.deal(segment_starts[segment], segment_starts[segment + 1], words[segment], total + found);
    }
    if (together > 1) {
      const i64 last_group = std::max<i64>(found / together, 1) - 1;
      for (i64 row = run_starts[segment_starts[first]]; row < run_starts[segment_starts[last]]; ++row) {
        group_of[row] = total + std::min((group_of[row] - total) / together, last_group);
      }
      found = last_group + 1;
    }
    total += found;
  }
  return total;
}
EXPORT(deal_segments)

}  // namespace anatomy
