// List the values of buckets, and arrange people as a trie. See `slicing_index.py` for what things mean.
#include <algorithm>

#include "sorting.hpp"

namespace slicing {

static void sort_by_short_key(
    Vector<const i64> order, Vector<const i32> keys, i64 size, Vector<i64> result, i64 threads) {
  sort_by(order, size, threads, [&](i64 place) { return keys[order[place]]; }, [](i64, i64) {}, result);
}
EXPORT(sort_by_short_key)

static void sort_by_long_key(
    Vector<const i64> order, Vector<const i64> keys, i64 size, Vector<i64> result, i64 threads) {
  sort_by(order, size, threads, [&](i64 place) { return keys[order[place]]; }, [](i64, i64) {}, result);
}
EXPORT(sort_by_long_key)

// `starts` come as zeros. Return how many entries there are.
static i64 count_entries(
    Vector<const i64> order, Vector<const i64> buckets, Vector<const i32> values, Vector<const i64> counts,
    Vector<i64> starts, Vector<i32> entry_values, Vector<i64> entry_counts, Vector<i64> entry_of) {
  i64 used = 0, last_bucket = -1;
  for (i64 item : order) {
    if (buckets[item] != last_bucket || entry_values[used - 1] != values[item]) {
      last_bucket = buckets[item];
      entry_values[used] = values[item];
      entry_counts[used++] = 0;
      ++starts[last_bucket + 1];
    }
    entry_counts[used - 1] += counts[item];
    entry_of[item] = used - 1;
  }
  for (i64 bucket = 1; bucket < starts.length; ++bucket) starts[bucket] += starts[bucket - 1];
  return used;
}
EXPORT(count_entries)

// A row opens new nodes from the first column on in which it differs from the row before. `levels` come as zeros.
static void open_nodes(
    Vector<const i64> order, Matrix<const i32> known, Vector<const i64> columns, Vector<i64> opens,
    Vector<i64> levels) {
  const i64 depth = columns.length;
  for (i64 place = 0; place < order.length; ++place) {
    i64 level = 0;
    if (place > 0) {
      const i32 *row = known[order[place]], *before = known[order[place - 1]];
      while (level < depth && row[columns[level]] == before[columns[level]]) ++level;
    }
    opens[place] = level;
    for (i64 deeper = level; deeper < depth; ++deeper) ++levels[deeper + 1];
  }
  for (i64 level = 1; level <= depth; ++level) levels[level] += levels[level - 1];
}
EXPORT(open_nodes)

static void grow_trie(
    Vector<const i64> order, Matrix<const i32> known, Vector<const i64> columns, Vector<const i64> opens,
    Vector<const i64> levels, Vector<i64> leaf, Vector<i32> values, Vector<i64> starts, Vector<i64> first_leaves) {
  const i64 depth = columns.length;
  Scratch<i64> used(depth);
  std::copy(levels.begin(), levels.begin() + depth, used.begin());
  for (i64 place = 0; place < order.length; ++place) {
    const i32 *row = known[order[place]];
    for (i64 level = opens[place]; level < depth; ++level) {
      values[used[level]] = row[columns[level]];
      if (level + 1 < depth) starts[used[level]] = used[level + 1];
      ++used[level];
    }
    leaf[order[place]] = used[depth - 1] - 1 - levels[depth - 1];
  }
  // The node after a level's last one is the next level's first, whose children begin where that level ends.
  starts[levels[depth - 1]] = levels[depth];
  for (i64 node = levels[depth] - 1; node >= 0; --node) {
    first_leaves[node] = node < levels[depth - 1] ? first_leaves[starts[node]] : node;
  }
}
EXPORT(grow_trie)

}  // namespace slicing
