// Number distinct keys by a hash table: grouping without sorting.
#pragma once

#include "arguments.hpp"

// Slots of keys are asked for so many keys before their turn: what is not in the cache would be waited for, one by one.
constexpr i64 AHEAD = 16;

// The slots of a table that is at least twice as long as what goes into it, and a power of two.
struct Slots {
  explicit Slots(i64 rows) {
    while ((u64{1} << bits) < static_cast<u64>(2 * rows)) ++bits;
  }
  i64 first(i64 key) const { return static_cast<i64>((static_cast<u64>(key) * 0x9E3779B97F4A7C15u) >> (64 - bits)); }
  i64 next(i64 slot) const { return (slot + 1) & ((i64{1} << bits) - 1); }
  i64 number() const { return i64{1} << bits; }

  int bits = 1;
};
