// Number distinct keys. See `keys.py`.
#include <vector>

#include "hashing.hpp"
#include "threads.hpp"

namespace keys {

static i64 number_keys(Vector<const i64> keys, Vector<i64> numbers) {
  const Slots slots(keys.length);
  Scratch<i64> taken(slots.number(), -1), first(keys.length);
  i64 found = 0;
  for (i64 place = 0; place < keys.length; ++place) {
    i64 slot = slots.first(keys[place]);
    while (taken[slot] >= 0 && keys[first[taken[slot]]] != keys[place]) slot = slots.next(slot);
    if (taken[slot] < 0) {
      taken[slot] = found;
      first[found++] = place;
    }
    numbers[place] = taken[slot];
  }
  return found;
}
EXPORT(number_keys)

// `found` comes as zeros, one for each move; the steps of a move begin at its offset.
static void count_moved(
    Vector<const i64> keys, Matrix<const i32> codes, Vector<const i64> counts, Vector<const i64> columns,
    Vector<const i64> offsets, Vector<const i64> steps, Vector<const i64> wanted, Vector<i64> found, i64 threads) {
  const i64 moves = columns.length;
  const std::vector<i64> bounds = even_parts(keys.length, threads, [&](i64) { return moves; });
  std::vector<std::vector<i64>> of_part(bounds.size() - 1, std::vector<i64>(static_cast<std::size_t>(moves), 0));
  in_parts(bounds, [&](i64 part, i64 first, i64 last) {
    i64 *own = of_part[part].data();
    for (i64 row = first; row < last; ++row) {
      for (i64 move = 0; move < moves; ++move) {
        const u64 step = static_cast<u64>(steps[offsets[move] + codes[row][columns[move]]]);  // sums go round
        own[move] += static_cast<u64>(keys[row]) + step == static_cast<u64>(wanted[move]) ? counts[row] : 0;
      }
    }
  });
  for (const std::vector<i64> &own : of_part) {
    for (i64 move = 0; move < moves; ++move) found[move] += own[move];
  }
}
EXPORT(count_moved)

}  // namespace keys
