// What loops over sets share. Set s has the items `items[offsets[s]:offsets[s + 1]]`.
#pragma once

#include <algorithm>

#include "arguments.hpp"

namespace set_arrays {

// How many people have the likeliest sensitive value, and of how many that is a share.
struct Likeliest {
  i64 people, of_all;

  // Rounding alone is no reason to refuse.
  bool above(f64 share) const { return static_cast<f64>(people) > share * static_cast<f64>(of_all) + 1e-9; }
};

inline Likeliest most_frequent(i64 total, const i64 *held, i64 values, i64 first) {
  i64 high = 0, of_all = total;
  for (i64 value = 0; value < std::min(first, values); ++value) of_all -= held[value];
  for (i64 value = first; value < values; ++value) high = std::max(high, held[value]);
  if (of_all == 0) return {total, total};
  return {high, of_all};
}

// When a combination is unsafe: fewer than `k` people, or a sensitive value of more than `share` of them. Sensitive
// codes are below `values`, which is 0 where they do not count; those below `first` are missing values.
struct Limits {
  i64 values, k;
  f64 share;
  i64 first;
};

// How many people have each of some items, and how many of these have each sensitive value.
class Tally {
 public:
  Tally(i64 numbers, const Limits &limits)
      : limits_(limits), totals_(numbers, 0), held_(numbers * limits.values, 0), met_(numbers) {}

  void add(i32 item, i64 people, i32 sensitive) {
    if (totals_[item] == 0) met_[number_++] = item;
    totals_[item] += people;
    if (limits_.values > 0 && sensitive >= 0) held_[item * limits_.values + sensitive] += people;
  }
  // The items that somebody has, in the order in which they were met.
  Vector<i32> met() const { return met_.view().from(0, number_); }
  i64 total(i64 item) const { return totals_[item]; }
  Likeliest likeliest(i64 item) const {
    return most_frequent(totals_[item], &held_[item * limits_.values], limits_.values, limits_.first);
  }
  bool unsafe(i64 item) const {
    return totals_[item] < limits_.k || (limits_.values > 0 && likeliest(item).above(limits_.share));
  }
  void clear() {
    for (i32 item : met()) {
      totals_[item] = 0;
      std::fill_n(&held_[item * limits_.values], limits_.values, 0);
    }
    number_ = 0;
  }

 private:
  Limits limits_;
  Scratch<i64> totals_, held_;
  Scratch<i32> met_;
  i64 number_ = 0;
};

}  // namespace set_arrays
