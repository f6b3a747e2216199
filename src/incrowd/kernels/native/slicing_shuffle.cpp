// Shuffle runs of a list, each by itself, with words of chance of 16, 32 or 64 bits. See `slicing_shuffle.py`.
#include <algorithm>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "threads.hpp"

namespace slicing {

// The largest word that gives an even draw among so many choices.
template <class Word> Word last_even(u64 choices) {
  constexpr u64 largest = std::numeric_limits<Word>::max();
  return static_cast<Word>(largest - (largest % choices + 1) % choices);
}

template <class Word> class Shuffler {
 public:
  Shuffler(Vector<const i64> starts, Vector<const Word> words, Vector<i64> items)
      : starts_(starts), words_(words), items_(items) {
    i64 longest = 1;
    for (i64 run = 0; run < starts.length - 1; ++run) longest = std::max(longest, starts[run + 1] - starts[run]);
    for (i64 choices = 1; choices <= std::min(longest, MOST_KNOWN); ++choices) {
      known_.push_back(last_even<Word>(static_cast<u64>(choices)));
    }
  }

  // Shuffle a run whose words are all even draws; return whether they are.
  bool shuffle_evenly(i64 run) const {
    const i64 first = starts_[run];
    for (i64 last = starts_[run + 1] - 1; last > first; --last) {
      if (words_[last] > last_even_of(last - first + 1)) return false;
    }
    for (i64 last = starts_[run + 1] - 1; last > first; --last) swap(first, last, words_[last]);
    return true;
  }

  // Shuffle a run with spare words in place of those that are not; return whether there were enough.
  bool shuffle(i64 run, i64 &spare) const {
    const i64 first = starts_[run];
    for (i64 last = starts_[run + 1] - 1; last > first; --last) {
      Word word = words_[last];
      while (word > last_even_of(last - first + 1)) {
        if (spare == words_.length) return false;
        word = words_[spare++];
      }
      swap(first, last, word);
    }
    return true;
  }

 private:
  static constexpr i64 MOST_KNOWN = 1 << 16;

  Word last_even_of(i64 choices) const {
    return choices <= static_cast<i64>(known_.size()) ? known_[static_cast<std::size_t>(choices - 1)]
                                                      : last_even<Word>(static_cast<u64>(choices));
  }
  // A remainder of short numbers takes a fraction of the time. A run of 16-bit words is never longer than they count.
  void swap(i64 first, i64 last, Word word) const {
    using Short = std::conditional_t<sizeof(Word) == 8, u64, u32>;
    const Short chosen = static_cast<Short>(word) % static_cast<Short>(last - first + 1);
    std::swap(items_[last], items_[first + static_cast<i64>(chosen)]);
  }

  const Vector<const i64> starts_;
  const Vector<const Word> words_;
  const Vector<i64> items_;
  std::vector<Word> known_;
};

// Runs whose words are all even draws need nothing of each other: threads share them. The few others follow in their
// order, since they share the spare words.
template <class Word> bool shuffle_all(
    Vector<const i64> items, Vector<const i64> starts, Vector<const Word> words, Vector<i64> shuffled, i64 threads) {
  const Shuffler<Word> shuffler(starts, words, shuffled);
  const std::vector<i64> bounds =
      even_parts(starts.length - 1, threads, [&](i64 run) { return starts[run + 1] - starts[run]; });
  std::vector<std::vector<i64>> others(bounds.size() - 1);
  in_parts(bounds, [&](i64 part, i64 first, i64 last) {
    std::copy(&items[starts[first]], &items[starts[last]], &shuffled[starts[first]]);
    for (i64 run = first; run < last; ++run) {
      if (!shuffler.shuffle_evenly(run)) others[static_cast<std::size_t>(part)].push_back(run);
    }
  });
  i64 spare = items.length;
  for (const std::vector<i64> &runs : others) {
    for (i64 run : runs) {
      if (!shuffler.shuffle(run, spare)) return false;
    }
  }
  return true;
}

static bool shuffle_by_uint16(
    Vector<const i64> items, Vector<const i64> starts, Vector<const u16> words, Vector<i64> shuffled, i64 threads) {
  return shuffle_all(items, starts, words, shuffled, threads);
}
EXPORT(shuffle_by_uint16)

static bool shuffle_by_uint32(
    Vector<const i64> items, Vector<const i64> starts, Vector<const u32> words, Vector<i64> shuffled, i64 threads) {
  return shuffle_all(items, starts, words, shuffled, threads);
}
EXPORT(shuffle_by_uint32)

static bool shuffle_by_uint64(
    Vector<const i64> items, Vector<const i64> starts, Vector<const u64> words, Vector<i64> shuffled, i64 threads) {
  return shuffle_all(items, starts, words, shuffled, threads);
}
EXPORT(shuffle_by_uint64)

}  // namespace slicing
