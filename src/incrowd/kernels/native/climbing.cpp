// Let rows climb their columns' hierarchies. See `climbing.py` for what things mean.
#include <cstring>
#include <limits>

#include "hashing.hpp"
#include "threads.hpp"

namespace climbing {

// The steps of all columns: a code at a level of a column is a place.
struct Steps {
  Vector<const i64> offsets, sizes;

  i64 place(i64 column, i64 level, i64 code) const { return offsets[column] + level * sizes[column] + code; }
};

static u64 hash_of(const i32 *row, i64 columns, u64 hash) {
  for (i64 column = 0; column < columns; ++column) {
    hash = (hash ^ static_cast<u64>(static_cast<u32>(row[column]))) * 0x9E3779B97F4A7C15u;
    hash ^= hash >> 32;
  }
  return hash;
}

// Number the distinct rows of two tables side by side, in the order in which they are met; return how many there are.
static i64 number_rows(Matrix<const i32> one, Matrix<const i32> other, Vector<i64> numbers, i64 threads) {
  Scratch<u64> hashes(one.rows);
  in_parts(even_parts(one.rows, threads), [&](i64, i64 first, i64 last) {
    for (i64 row = first; row < last; ++row) hashes[row] = hash_of(other[row], other.columns, hash_of(one[row], one.columns, 0));
  });
  const auto same = [&](i64 row, i64 before) {
    return hashes[row] == hashes[before] && std::equal(one[row], one[row] + one.columns, one[before]) &&
           std::equal(other[row], other[row] + other.columns, other[before]);
  };
  const Slots places(one.rows);
  Scratch<i64> slots(places.number(), -1);  // the first row of each kind
  i64 distinct = 0;
  for (i64 row = 0; row < one.rows; ++row) {
    if (row + AHEAD < one.rows) __builtin_prefetch(&slots[places.first(static_cast<i64>(hashes[row + AHEAD]))]);
    i64 slot = places.first(static_cast<i64>(hashes[row]));
    while (slots[slot] >= 0 && !same(row, slots[slot])) slot = places.next(slot);
    if (slots[slot] < 0) slots[slot] = row;
    numbers[row] = slots[slot] == row ? distinct++ : numbers[slots[slot]];
  }
  return distinct;
}
EXPORT(number_rows)

// `stuck` comes as zeros, one for each row.
static void climb(
    Matrix<const i32> codes, Matrix<i32> levels, Matrix<i32> nodes, Vector<const i64> members, Vector<const i64> offsets,
    Vector<const i64> sizes, Vector<const i32> above, Vector<const i32> node, Vector<const f64> loss,
    Vector<const f64> left, Vector<const i64> left_offsets, bool by_loss, Vector<i8> stuck, i64 threads) {
  const Steps steps{offsets, sizes};
  const auto each = [&](i64) { return codes.columns; };
  in_parts(even_parts(members.length, threads, each), [&](i64, i64 first, i64 last) {
    for (i64 index = first; index < last; ++index) {
      const i64 row = members[index];
      i64 best = -1;
      f64 most = -std::numeric_limits<f64>::infinity();
      for (i64 column = 0; column < codes.columns; ++column) {
        const i64 level = levels[row][column], place = steps.place(column, level, codes[row][column]);
        if (above[place] < 0) continue;
        const i64 next = steps.place(column, above[place], codes[row][column]);
        const f64 worth = by_loss ? loss[place] - loss[next] : left[left_offsets[column] + level];
        if (best < 0 || worth > most) best = column, most = worth;  // of equals, the first by name
      }
      if (best < 0) {
        stuck[row] = 1;
        continue;
      }
      const i64 code = codes[row][best];
      levels[row][best] = above[steps.place(best, levels[row][best], code)];
      nodes[row][best] = node[steps.place(best, levels[row][best], code)];
    }
  });
}
EXPORT(climb)

static void add_up_climbed(
    Matrix<const i32> codes, Matrix<const i32> levels, Vector<const i64> offsets, Vector<const i64> sizes,
    Vector<const f64> climbed, Vector<f64> totals, i64 threads) {
  const Steps steps{offsets, sizes};
  in_parts(even_parts(codes.rows, threads), [&](i64, i64 first, i64 last) {
    for (i64 row = first; row < last; ++row) {
      f64 total = 0;
      for (i64 column = 0; column < codes.columns; ++column) {
        total += climbed[steps.place(column, levels[row][column], codes[row][column])];
      }
      totals[row] = total;
    }
  });
}
EXPORT(add_up_climbed)

}  // namespace climbing
