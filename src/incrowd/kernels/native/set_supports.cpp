// How many people have each combination of items that occurs. See `set_supports.py` for what things mean.
#include "set_arrays.hpp"
#include "set_walk.hpp"

namespace set_supports {

using set_walk::Order;
using set_walk::Walk;

static std::tuple<i64, i64, i64, f64> survey_supports(
    Vector<const i64> offsets, Vector<const i32> items, Vector<const i64> counts, Vector<const i32> sensitive,
    i64 values, i64 numbers, i64 size, i64 k, f64 share, i64 first, Vector<i64> smallest_of, Vector<i8> exposed) {
  i64 combinations = 0, unsafe = 0, smallest = i64{1} << 62;
  f64 largest = 0;
  Walk walk(offsets, items, numbers, size);
  set_arrays::Tally tally(numbers, {values, k, share, first});
  Scratch<i8> is_unsafe(numbers);
  walk.begin(Order::ASCENDING, [&](auto take) { take(0, items.length); });
  while (walk.there()) {
    if (walk.depth() < size - 2) {
      walk.follow(Order::ASCENDING, size - walk.depth() - 2);
      continue;
    }
    walk.complete(size, [&](i64 owner, i32 item) { tally.add(item, counts[owner], sensitive[owner]); });
    for (i32 item : tally.met()) {
      ++combinations;
      smallest = std::min(smallest, tally.total(item));
      if (values > 0) {
        const auto likeliest = tally.likeliest(item);
        largest = std::max(largest, static_cast<f64>(likeliest.people) / static_cast<f64>(likeliest.of_all));
      }
      is_unsafe[item] = tally.unsafe(item);
      unsafe += is_unsafe[item];
    }
    if (exposed.length > 0) {
      walk.complete(size, [&](i64 owner, i32 item) {
        smallest_of[owner] = std::min(smallest_of[owner], tally.total(item));
        exposed[owner] |= is_unsafe[item];
      });
    }
    tally.clear();
    walk.next();
  }
  return {combinations, unsafe, smallest, largest};
}
EXPORT(survey_supports)

static std::tuple<Growing<i32>, Growing<i64>, i64> frequent_combinations(
    Vector<const i64> offsets, Vector<const i32> items, Vector<const i64> counts, i64 numbers, i64 size, i64 least,
    i64 capacity) {
  Growing<i32> combinations(size);
  Growing<i64> supports;
  i64 known = 0;
  Walk walk(offsets, items, numbers, size);
  set_arrays::Tally tally(numbers, {});
  walk.begin(Order::ASCENDING, [&](auto take) { take(0, items.length); });
  while (walk.there()) {
    i64 people = 0;
    for (set_walk::Place place : walk.places()) people += counts[walk.owner(place)];
    if (people < least) {
      walk.next();
      continue;
    }
    if (walk.depth() < size - 2) {
      walk.follow(Order::ASCENDING, size - walk.depth() - 2);
      continue;
    }
    walk.complete(size, [&](i64 owner, i32 item) { tally.add(item, counts[owner], -1); });
    for (i32 item : tally.met()) {
      if (tally.total(item) < least) continue;
      if (known++ >= capacity) continue;
      i32 *combination = combinations.add();
      for (i64 level = 0; level < size - 1; ++level) combination[level] = walk.item(level);
      combination[size - 1] = item;
      supports.push(tally.total(item));
    }
    tally.clear();
    walk.next();
  }
  return {std::move(combinations), std::move(supports), known};
}
EXPORT(frequent_combinations)

static void count_itemsets(
    Vector<const i64> starts, Vector<const i32> holders, Vector<const i64> counts, Matrix<const i32> itemsets,
    Vector<i64> supports) {
  const i64 size = itemsets.columns;
  Scratch<i64> at(size);
  for (i64 number = 0; number < itemsets.rows; ++number) {
    const i32 *itemset = itemsets[number];
    const auto many = [&](i32 item) { return starts[item + 1] - starts[item]; };
    const i32 rarest = *std::min_element(itemset, itemset + size, [&](i32 a, i32 b) { return many(a) < many(b); });
    for (i64 step = 0; step < size; ++step) at[step] = starts[itemset[step]];
    // Lists of holders ascend: whoever is in all of them is found by going through them side by side.
    const auto has = [&](i32 owner, i64 step) {
      const i64 end = starts[itemset[step] + 1];
      while (at[step] < end && holders[at[step]] < owner) ++at[step];
      return at[step] < end && holders[at[step]] == owner;
    };
    i64 support = 0;
    for (i32 owner : holders.from(starts[rarest], starts[rarest + 1])) {
      i64 step = 0;
      while (step < size && has(owner, step)) ++step;
      if (step == size) support += counts[owner];
    }
    supports[number] = support;
  }
}
EXPORT(count_itemsets)

}  // namespace set_supports
