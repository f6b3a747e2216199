// Partners for swaps. See `rank_swapping.py` for what things mean.
#include <algorithm>

#include "arguments.hpp"

namespace rank_swapping {

// How many places are free, in a tree of counts (Fenwick 1994): node i counts the places of the last lowest-bit(i)
// ones up to i, so that a count, a change and a search take as many steps as a place has binary digits.
class FreePlaces {
 public:
  explicit FreePlaces(i64 number) : number_(number), free_(number, 1), tree_(number + 1) {
    for (i64 node = 0; node <= number; ++node) tree_[node] = lowest_bit(node);  // everybody is free
    while (top_ * 2 <= number) top_ *= 2;
  }
  bool has(i64 place) const { return free_[place]; }
  void take(i64 place) {
    free_[place] = 0;
    for (i64 node = place + 1; node <= number_; node += lowest_bit(node)) --tree_[node];
  }
  i64 before(i64 place) const {
    i64 found = 0;
    for (i64 node = place; node > 0; node -= lowest_bit(node)) found += tree_[node];
    return found;
  }
  // The free place that so many free ones are before.
  i64 find(i64 wanted) const {
    i64 node = 0;
    for (i64 step = top_; step > 0; step /= 2) {
      if (node + step <= number_ && tree_[node + step] <= wanted) {
        node += step;
        wanted -= tree_[node];
      }
    }
    return node;
  }

 private:
  static i64 lowest_bit(i64 node) { return node & -node; }

  i64 number_, top_ = 1;
  Scratch<i8> free_;
  Scratch<i64> tree_;
};

static void swap_near(Vector<const f64> even, i64 reach, Vector<i64> partner) {
  const i64 number = even.length;
  FreePlaces free(number);
  for (i64 place = 0; place < number; ++place) {
    if (!free.has(place)) continue;
    free.take(place);
    const i64 before = free.before(place + 1);
    const i64 there = free.before(std::min(place + reach, number - 1) + 1) - before;
    if (there == 0) continue;
    const i64 picked = static_cast<i64>(even[place] * static_cast<f64>(there));
    const i64 other = free.find(before + std::min(picked, there - 1));
    free.take(other);
    partner[place] = other;
    partner[other] = place;
  }
}
EXPORT(swap_near)

}  // namespace rank_swapping
