// Cheap elements that hit every one of many small combinations. See `hitting_set.py` for what things mean.
#include <algorithm>
#include <functional>
#include <queue>
#include <vector>

#include "arguments.hpp"

namespace hitting_set {

// Which combinations each element is in, and how often each combination is hit by what was taken.
class Hits {
 public:
  Hits(Matrix<const i32> combinations, i64 elements)
      : combinations_(combinations), starts_(elements + 1, 0), where_(combinations.rows * combinations.columns),
        open_(elements), hits_(combinations.rows, 0) {
    const i64 all = combinations.rows * combinations.columns;
    for (i64 entry = 0; entry < all; ++entry) ++starts_[combinations.data[entry] + 1];
    for (i64 element = 0; element < elements; ++element) {
      open_[element] = starts_[element + 1];
      starts_[element + 1] += starts_[element];
    }
    Scratch<i64> following(elements);
    std::copy(starts_.begin(), starts_.begin() + elements, following.begin());
    for (i64 number = 0; number < combinations.rows; ++number) {
      for (i64 step = 0; step < combinations.columns; ++step) {
        where_[following[combinations[number][step]]++] = static_cast<i32>(number);
      }
    }
  }

  // How many combinations with this element are hit by nothing.
  i64 open(i64 element) const { return open_[element]; }

  void take(i64 element) {
    for (i32 number : combinations_with(element)) {
      if (hits_[number]++ == 0) {
        for (i64 step = 0; step < combinations_.columns; ++step) --open_[combinations_[number][step]];
      }
    }
  }

  bool needs(i64 element) const {
    const Vector<i32> with = combinations_with(element);
    return std::any_of(with.begin(), with.end(), [&](i32 number) { return hits_[number] == 1; });
  }

  void give_back(i64 element) {
    for (i32 number : combinations_with(element)) --hits_[number];
  }

 private:
  Vector<i32> combinations_with(i64 element) const {
    return where_.view().from(starts_[element], starts_[element + 1]);
  }

  Matrix<const i32> combinations_;
  Scratch<i64> starts_;
  Scratch<i32> where_;
  Scratch<i64> open_;
  Scratch<i32> hits_;
};

static void hit_all(Matrix<const i32> combinations, Vector<const f64> costs, Vector<i8> taken) {
  Hits hits(combinations, costs.length);
  using Offer = std::tuple<f64, i64, i64>;  // the cost of one hit, the element, and how many it would hit
  const auto offer = [&](i64 element) {
    return Offer{costs[element] / static_cast<f64>(hits.open(element)), element, hits.open(element)};
  };
  std::vector<Offer> all;
  for (i64 element = 0; element < costs.length; ++element) {
    if (hits.open(element) > 0) all.push_back(offer(element));
  }
  std::priority_queue<Offer, std::vector<Offer>, std::greater<>> queue(std::greater<>{}, std::move(all));
  std::vector<i64> picks;
  while (!queue.empty()) {
    const auto [cost, element, number] = queue.top();
    queue.pop();
    if (hits.open(element) == 0) continue;
    if (hits.open(element) < number) {  // some were hit meanwhile: it is dearer than it was
      queue.push(offer(element));
      continue;
    }
    taken[element] = true;
    picks.push_back(element);
    hits.take(element);
  }
  std::stable_sort(picks.begin(), picks.end(), [&](i64 one, i64 other) { return costs[one] > costs[other]; });
  for (i64 element : picks) {
    if (!hits.needs(element)) {
      taken[element] = false;
      hits.give_back(element);
    }
  }
}
EXPORT(hit_all)

}  // namespace hitting_set
