// Number distinct keys. See `keys.py`.
#include "hashing.hpp"

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

}  // namespace keys
