// Group the rows of a table by generalized codes. See `lattice.py` for what things mean.
#include <algorithm>

#include "hashing.hpp"

namespace lattice {

constexpr i64 EMPTY = -1;

// The scratch of a hash table, which the caller keeps: all slots are empty before and after.
struct Table {
  Vector<i64> slots, slot_keys, used;

  // Return the group of a key, and in `groups` one more if the key is new.
  i64 find(const Slots &places, i64 key, i64 &groups) const {
    i64 slot = places.first(key);
    while (slots[slot] != EMPTY && slot_keys[slot] != key) slot = places.next(slot);
    if (slots[slot] == EMPTY) {
      slots[slot] = groups;
      slot_keys[slot] = key;
      used[groups++] = slot;
    }
    return slots[slot];
  }
  void clear(i64 groups) const {
    for (i64 group = 0; group < groups; ++group) slots[used[group]] = EMPTY;
  }
};

template <class T> T sum_at(const T *numbers, const i64 *first_key, const i32 *row, i64 columns) {
  T sum = 0;
  for (i64 column = 0; column < columns; ++column) sum += numbers[first_key[column] + row[column]];
  return sum;
}

static i64 group_rows(
    Matrix<const i32> codes, Vector<const i64> members, Vector<const i64> keys, const i64 *first_key, Vector<i64> group_of,
    const Table &table) {
  const Slots places(members.length);
  i64 groups = 0;
  for (i64 place = 0; place < members.length; ++place) {
    group_of[place] = table.find(places, sum_at(keys.data, first_key, codes[members[place]], codes.columns), groups);
  }
  table.clear(groups);
  return groups;
}

static i64 count_groups(
    Matrix<const i32> codes, Vector<const i64> counts, Vector<const i64> keys, Vector<const f64> scores,
    Vector<const i64> first_key, Vector<i64> group_of, Vector<i64> sizes, Vector<f64> totals, Vector<i64> slots,
    Vector<i64> slot_keys, Vector<i64> used) {
  const Table table{slots, slot_keys, used};
  const Slots places(codes.rows);
  i64 groups = 0;
  for (i64 row = 0; row < codes.rows; ++row) {
    const i64 before = groups;
    const i64 group = table.find(places, sum_at(keys.data, first_key.data, codes[row], codes.columns), groups);
    if (groups > before) {
      totals[group] = sum_at(scores.data, first_key.data, codes[row], codes.columns);
      sizes[group] = 0;
    }
    group_of[row] = group;
    sizes[group] += counts[row];
  }
  table.clear(groups);
  return groups;
}
EXPORT(count_groups)

// Add up rows with equal keys; `members` becomes the first row of each, `totals` the sum. Return how many there are.
static i64 merge_rows(
    Matrix<const i32> codes, Matrix<const i32> sensitive, Vector<const i64> counts, Vector<const i64> keys,
    Vector<const i64> first_key, Vector<i64> members, Vector<i64> totals, Vector<i64> slots, Vector<i64> slot_keys,
    Vector<i64> used) {
  const Table table{slots, slot_keys, used};
  const Slots places(codes.rows);
  i64 groups = 0;
  for (i64 row = 0; row < codes.rows; ++row) {
    const i64 key = sum_at(keys.data, first_key.data, codes[row], codes.columns) +
                    sum_at(keys.data, first_key.data + codes.columns, sensitive[row], sensitive.columns);
    const i64 before = groups, group = table.find(places, key, groups);
    if (groups > before) {
      members[group] = row;
      totals[group] = 0;
    }
    totals[group] += counts[row];
  }
  table.clear(groups);
  return groups;
}
EXPORT(merge_rows)

static std::tuple<i64, i64> next_promising(
    Matrix<const i32> codes, Vector<const i64> counts, Vector<const i64> members, Vector<const i64> keys,
    Matrix<const i64> first_keys, i64 start, i64 min_group, Vector<i64> group_of, Vector<i64> sizes, Vector<i64> slots,
    Vector<i64> slot_keys, Vector<i64> used) {
  const Table table{slots, slot_keys, used};
  for (i64 vector = start; vector < first_keys.rows; ++vector) {
    const i64 groups = group_rows(codes, members, keys, first_keys[vector], group_of, table);
    std::fill_n(sizes.data, groups, i64{0});
    i64 largest = 0;
    for (i64 place = 0; place < members.length; ++place) {
      largest = std::max(largest, sizes[group_of[place]] += counts[members[place]]);
    }
    if (largest >= min_group) return {vector, groups};
  }
  return {first_keys.rows, 0};
}
EXPORT(next_promising)

static std::tuple<i64, i64> sweep_sizes(
    Matrix<const i32> codes, Vector<const i64> counts, Vector<i64> left, Vector<const i64> keys,
    Matrix<const i64> first_keys, i64 min_group, Vector<i64> group_of, i64 groups, Vector<i64> here, Vector<i64> sizes,
    Vector<i64> slots, Vector<i64> slot_keys, Vector<i64> used) {
  const Table table{slots, slot_keys, used};
  i64 many = left.length;
  for (i64 vector = 0; vector < first_keys.rows && many > 0; ++vector) {
    const Vector<const i64> members{left.data, many};
    const i64 found = group_rows(codes, members, keys, first_keys[vector], here, table);
    std::fill_n(sizes.data, found, i64{0});
    for (i64 place = 0; place < many; ++place) sizes[here[place]] += counts[left[place]];
    for (i64 group = 0; group < found; ++group) sizes[group] = sizes[group] >= min_group ? groups++ : EMPTY;
    i64 kept = 0;
    for (i64 place = 0; place < many; ++place) {
      const i64 number = sizes[here[place]];
      if (number == EMPTY) {
        left[kept++] = left[place];
      } else {
        group_of[left[place]] = number;
      }
    }
    many = kept;
  }
  return {many, groups};
}
EXPORT(sweep_sizes)

}  // namespace lattice
