// Sets as arrays. See `set_arrays.py` for what things mean.
#include "set_arrays.hpp"

namespace set_arrays {

constexpr u64 FIRST = 0x9E3779B97F4A7C15, SECOND = 0xBF58476D1CE4E5B9, THIRD = 0x94D049BB133111EB;

// A word in which every bit depends on all bits (the finalizer of SplitMix64).
static u64 mixed(u64 word) {
  word = (word ^ (word >> 30)) * SECOND;
  word = (word ^ (word >> 27)) * THIRD;
  return word ^ (word >> 31);
}

static void hash_sets(
    Vector<const i64> offsets, Vector<const i32> items, Vector<const i64> apart, Vector<u64> hashes) {
  for (i64 set = 0; set < offsets.length - 1; ++set) {
    u64 word = mixed(static_cast<u64>(apart[set] + 1) * FIRST);
    for (i32 item : items.from(offsets[set], offsets[set + 1])) {
      word = mixed(word + FIRST * static_cast<u64>(static_cast<i64>(item) + 1));
    }
    hashes[set] = word;
  }
}
EXPORT(hash_sets)

static std::tuple<Growing<i64>> number_sets(
    Vector<const i64> offsets, Vector<const i32> items, Vector<const i64> apart, Vector<const u64> hashes,
    Vector<const i64> order, Vector<i64> number) {
  const auto equal = [&](i64 one, i64 other) {
    const auto own = items.from(offsets[one], offsets[one + 1]), others = items.from(offsets[other], offsets[other + 1]);
    return apart[one] == apart[other] && std::equal(own.begin(), own.end(), others.begin(), others.end());
  };
  Growing<i64> first;
  for (i64 set : order) {
    // Sets with one hash are neighbours; different ones among them are all but impossible, and cost a look back.
    i64 back = first.length() - 1;
    while (back >= 0 && hashes[first[back]] == hashes[set] && !equal(first[back], set)) --back;
    if (back < 0 || hashes[first[back]] != hashes[set]) {
      back = first.length();
      first.push(set);
    }
    number[set] = back;
  }
  return {std::move(first)};
}
EXPORT(number_sets)

static void take_sets(
    Vector<const i64> offsets, Vector<const i32> items, Vector<const i64> chosen, Vector<const i64> new_offsets,
    Vector<i32> new_items) {
  for (i64 place = 0; place < chosen.length; ++place) {
    const auto taken = items.from(offsets[chosen[place]], offsets[chosen[place] + 1]);
    std::copy(taken.begin(), taken.end(), &new_items[new_offsets[place]]);
  }
}
EXPORT(take_sets)

static i64 shown_sets(
    Vector<const i64> offsets, Vector<const i32> shown, Vector<i64> new_offsets, Vector<i32> new_items) {
  i64 used = 0;
  for (i64 set = 0; set < offsets.length - 1; ++set) {
    const i64 begin = used;
    for (i32 node : shown.from(offsets[set], offsets[set + 1])) {
      if (node == 0) continue;
      i64 hole = used;
      while (hole > begin && new_items[hole - 1] > node) --hole;
      if (hole > begin && new_items[hole - 1] == node) continue;
      for (i64 step = used; step > hole; --step) new_items[step] = new_items[step - 1];
      new_items[hole] = node;
      ++used;
    }
    new_offsets[set + 1] = used;
  }
  return used;
}
EXPORT(shown_sets)

static void holders_of_items(
    Vector<const i64> offsets, Vector<const i32> items, Vector<i64> starts, Vector<i32> sets, Vector<i64> places) {
  for (i32 item : items) ++starts[item + 1];
  for (i64 item = 1; item < starts.length; ++item) starts[item] += starts[item - 1];
  Scratch<i64> following(starts.length);
  std::copy(starts.begin(), starts.end(), following.begin());
  for (i64 set = 0; set < offsets.length - 1; ++set) {
    for (i64 place = offsets[set]; place < offsets[set + 1]; ++place) {
      const i64 at = following[items[place]]++;
      sets[at] = static_cast<i32>(set);
      places[at] = place;
    }
  }
}
EXPORT(holders_of_items)

static std::tuple<i64, i64> likeliest_value(i64 total, Vector<const i64> held, i64 values, i64 first) {
  const Likeliest found = most_frequent(total, held.data, values, first);
  return {found.people, found.of_all};
}
EXPORT(likeliest_value)

}  // namespace set_arrays
