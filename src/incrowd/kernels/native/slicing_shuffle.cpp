// Shuffle runs of a list, each by itself, with words of chance of 16, 32 or 64 bits. See `slicing_shuffle.py`.
#include <limits>
#include <utility>

#include "arguments.hpp"

namespace slicing {

template <class Word> bool shuffle(Vector<i64> items, Vector<const i64> starts, Vector<const Word> words) {
  constexpr u64 largest = std::numeric_limits<Word>::max();
  i64 spare = items.length;
  for (i64 run = 0; run < starts.length - 1; ++run) {
    const i64 first = starts[run];
    for (i64 last = starts[run + 1] - 1; last > first; --last) {
      const u64 choices = static_cast<u64>(last - first + 1), last_even = largest - (largest % choices + 1) % choices;
      u64 word = words[last];
      while (word > last_even) {
        if (spare == words.length) return false;
        word = words[spare++];
      }
      std::swap(items[last], items[first + static_cast<i64>(word % choices)]);
    }
  }
  return true;
}

static bool shuffle_by_uint16(Vector<i64> items, Vector<const i64> starts, Vector<const u16> words) {
  return shuffle(items, starts, words);
}
EXPORT(shuffle_by_uint16)

static bool shuffle_by_uint32(Vector<i64> items, Vector<const i64> starts, Vector<const u32> words) {
  return shuffle(items, starts, words);
}
EXPORT(shuffle_by_uint32)

static bool shuffle_by_uint64(Vector<i64> items, Vector<const i64> starts, Vector<const u64> words) {
  return shuffle(items, starts, words);
}
EXPORT(shuffle_by_uint64)

}  // namespace slicing
