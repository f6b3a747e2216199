// Pack tuples into keys, and number distinct keys. See `keys.py`.
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

// Number keys in their order by a table of all that are possible; return where each is first met. Parts of the keys have
// a table each, and the first part that has a key has it first.
static std::tuple<Growing<i64>> rank_by_table(Vector<const i64> keys, i64 room, Vector<i64> ranks, i64 threads) {
  const i64 worth = std::max<i64>(1, keys.length / (4 * room + 1));  // joining the tables must not take longer than this
  const std::vector<i64> bounds = even_parts(keys.length, std::min(threads, worth));
  const i64 parts = static_cast<i64>(bounds.size()) - 1;
  Scratch<i64> met(parts * room, -1), rank_of(room);
  in_parts(bounds, [&](i64 part, i64 first, i64 last) {
    i64 *own = met.begin() + part * room;
    for (i64 place = last - 1; place >= first; --place) {
      if (keys[place] < 0 || keys[place] >= room) throw std::runtime_error("a key has no room");
      own[keys[place]] = place;
    }
  });
  Growing<i64> firsts(1, room);
  for (i64 key = 0; key < room; ++key) {
    for (i64 part = 0; part < parts; ++part) {
      if (met[part * room + key] < 0) continue;
      rank_of[key] = firsts.length();
      firsts.push(met[part * room + key]);
      break;
    }
  }
  in_parts(even_parts(keys.length, threads), [&](i64, i64 first, i64 last) {
    for (i64 place = first; place < last; ++place) ranks[place] = rank_of[keys[place]];
  });
  return {std::move(firsts)};
}
EXPORT(rank_by_table)

// The same of keys that are sorted, each with its place in its lowest bits.
static std::tuple<Growing<i64>> rank_sorted(Vector<const i64> ordered, i64 bits, Vector<i64> ranks, i64 threads) {
  const auto is_new = [&](i64 at) { return at == 0 || ordered[at] >> bits != ordered[at - 1] >> bits; };
  const std::vector<i64> bounds = even_parts(ordered.length, threads);
  std::vector<i64> before(bounds.size(), 0);
  in_parts(bounds, [&](i64 part, i64 first, i64 last) {
    i64 distinct = 0;
    for (i64 at = first; at < last; ++at) distinct += is_new(at);
    before[static_cast<std::size_t>(part) + 1] = distinct;
  });
  for (std::size_t part = 1; part < before.size(); ++part) before[part] += before[part - 1];
  Growing<i64> firsts(1, before.back());
  firsts.set_length(before.back());
  const i64 places = (i64{1} << bits) - 1;
  in_parts(bounds, [&](i64 part, i64 first, i64 last) {
    i64 rank = before[static_cast<std::size_t>(part)] - 1;
    for (i64 at = first; at < last; ++at) {
      const i64 place = ordered[at] & places;
      if (is_new(at)) firsts[++rank] = place;
      ranks[place] = rank;
    }
  });
  return {std::move(firsts)};
}
EXPORT(rank_sorted)

// Mark the codes that some rows have in each column; those of column j are marked from `starts[j]` on, to `starts[j + 1]`.
static void mark_codes(Matrix<const i32> codes, Vector<const i8> of_rows, Vector<const i64> starts, Vector<i8> marks, i64 threads) {
  const std::vector<i64> bounds = even_parts(codes.rows, threads);
  const i64 parts = static_cast<i64>(bounds.size()) - 1;
  Scratch<i8> met(parts * marks.length, 0);  // each part's own: threads must not write into one
  in_parts(bounds, [&](i64 part, i64 first, i64 last) {
    i8 *own = met.begin() + part * marks.length;
    for (i64 row = first; row < last; ++row) {
      if (!of_rows[row]) continue;
      for (i64 column = 0; column < codes.columns; ++column) {
        const i64 at = starts[column] + codes[row][column];
        if (codes[row][column] < 0 || at >= starts[column + 1]) throw std::runtime_error("a code has no room");
        own[at] = 1;
      }
    }
  });
  for (i64 part = 0; part < parts; ++part) {
    for (i64 at = 0; at < marks.length; ++at) marks[at] |= met[part * marks.length + at];
  }
}
EXPORT(mark_codes)

}  // namespace keys
