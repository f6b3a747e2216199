// Number distinct keys. See `keys.py`.
#include <algorithm>
#include <vector>

#include "hashing.hpp"
#include "threads.hpp"

namespace keys {

// The table begins small, and becomes so many times longer when it is full: few keys stay in the cache.
constexpr i64 AT_FIRST = i64{1} << 12, LONGER = 16;

static i64 number_keys(Vector<const i64> keys, Vector<i64> numbers) {
  Slots slots(std::min(keys.length, AT_FIRST));
  std::vector<i64> taken(static_cast<std::size_t>(slots.number()), -1);
  Scratch<i64> distinct(keys.length);
  i64 found = 0;
  const auto lengthen = [&] {
    slots = Slots(std::min(keys.length, LONGER * found));
    taken.assign(static_cast<std::size_t>(slots.number()), -1);
    for (i64 number = 0; number < found; ++number) {
      if (number + AHEAD < found) __builtin_prefetch(&taken[slots.first(distinct[number + AHEAD])], 1);
      i64 slot = slots.first(distinct[number]);
      while (taken[slot] >= 0) slot = slots.next(slot);
      taken[slot] = number;
    }
  };
  for (i64 place = 0; place < keys.length; ++place) {
    if (place + AHEAD < keys.length) __builtin_prefetch(&taken[slots.first(keys[place + AHEAD])]);
    const i64 key = keys[place];
    i64 slot = slots.first(key);
    while (taken[slot] >= 0 && distinct[taken[slot]] != key) slot = slots.next(slot);
    numbers[place] = taken[slot] < 0 ? found : taken[slot];
    if (taken[slot] >= 0) continue;
    taken[slot] = found;
    distinct[found++] = key;
    if (2 * found > slots.number()) lengthen();
  }
  return found;
}
EXPORT(number_keys)

static void pack_codes(Matrix<const i32> codes, Vector<const i64> sizes, Vector<i64> keys, i64 threads) {
  in_parts(even_parts(codes.rows, threads), [&](i64, i64 first, i64 last) {
    for (i64 row = first; row < last; ++row) {
      i64 key = 0;
      for (i64 column = 0; column < codes.columns; ++column) key = key * sizes[column] + codes[row][column];
      keys[row] = key;
    }
  });
}
EXPORT(pack_codes)

}  // namespace keys
