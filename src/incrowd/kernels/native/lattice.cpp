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

// The keys of rows at one vector of levels, without what is the same of all: most columns say nothing at high levels.
class Keys {
 public:
  Keys(Matrix<const i32> codes, Vector<const i64> members, Vector<const i64> keys)
      : codes_(codes), keys_(keys), last_(codes.columns, 0), silent_(codes.columns, -1), columns_(codes.columns),
        first_(codes.columns) {
    for (i64 place = 0; place < members.length; ++place) {
      const i32 *own = codes[members[place]];
      for (i64 column = 0; column < codes.columns; ++column) last_[column] = std::max(last_[column], own[column]);
    }
  }
  void at(const i64 *first_key) {
    number_ = 0;
    for (i64 column = 0; column < codes_.columns; ++column) {
      const i64 *own = keys_.data + first_key[column];
      if (silent_[column] == first_key[column]) continue;
      if (std::all_of(own, own + last_[column] + 1, [own](i64 key) { return key == own[0]; })) {
        silent_[column] = first_key[column];  // the keys of a column with many codes are not read again for each vector
        continue;
      }
      columns_[number_] = column;
      first_[number_++] = first_key[column];
    }
  }
  i64 operator[](i64 row) const {
    const i32 *own = codes_[row];
    i64 sum = 0;
    for (i64 place = 0; place < number_; ++place) sum += keys_[first_[place] + own[columns_[place]]];
    return sum;
  }

 private:
  const Matrix<const i32> codes_;
  const Vector<const i64> keys_;
  const Scratch<i32> last_;
  const Scratch<i64> silent_, columns_, first_;
  i64 number_ = 0;
};

static i64 group_rows(const Keys &keys, Vector<const i64> members, Vector<i64> group_of, const Table &table) {
  const Slots places(members.length);
  i64 groups = 0;
  for (i64 place = 0; place < members.length; ++place) group_of[place] = table.find(places, keys[members[place]], groups);
  table.clear(groups);
  return groups;
}

// Find the rows that may be in groups of at least so many: all others share a bucket with too few. A bucket is a byte, so
// that all of them stay in the cache; most vectors of a sweep have no such row, and need no table of groups.
class Crowds {
 public:
  explicit Crowds(i64 rows) : buckets_(Slots(2 * rows).number()), bucket_of_(rows) {}

  // Put the rows into `found`, in their order; return how many there are.
  i64 find(
      const Keys &keys, Vector<const i64> counts, Vector<const i64> members, i64 min_group,
      const Scratch<i64> &found) const {
    const Slots places(2 * members.length);
    const i64 enough = std::min(min_group, FULL);
    std::fill_n(buckets_.begin(), places.number(), i8{0});
    bool crowded = false;
    for (i64 place = 0; place < members.length; ++place) {
      const i64 row = members[place];
      const i64 bucket = places.first(keys[row]);
      const i64 rows = std::min(buckets_[bucket] + counts[row], FULL);
      buckets_[bucket] = static_cast<i8>(rows);
      bucket_of_[place] = static_cast<u32>(bucket);
      crowded |= rows >= enough;
    }
    i64 number = 0;
    for (i64 place = 0; crowded && place < members.length; ++place) {
      if (buckets_[bucket_of_[place]] >= enough) found[number++] = members[place];
    }
    return number;
  }

 private:
  static constexpr i64 FULL = 255;
  Scratch<i8> buckets_;
  Scratch<u32> bucket_of_;
};

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
  const Crowds crowds(members.length);
  const Scratch<i64> found(members.length);
  Keys own(codes, members, keys);
  const auto largest_of = [&](Vector<const i64> rows, i64 groups) {
    std::fill_n(sizes.data, groups, i64{0});
    i64 largest = 0;
    for (i64 place = 0; place < rows.length; ++place) {
      largest = std::max(largest, sizes[group_of[place]] += counts[rows[place]]);
    }
    return largest;
  };
  for (i64 vector = start; vector < first_keys.rows; ++vector) {
    own.at(first_keys[vector]);
    const Vector<const i64> some{found.begin(), crowds.find(own, counts, members, min_group, found)};
    if (largest_of(some, group_rows(own, some, group_of, table)) < min_group) continue;
    const i64 groups = group_rows(own, members, group_of, table);
    largest_of(members, groups);
    return {vector, groups};
  }
  return {first_keys.rows, 0};
}
EXPORT(next_promising)

static std::tuple<i64, i64> sweep_sizes(
    Matrix<const i32> codes, Vector<const i64> counts, Vector<i64> left, Vector<const i64> keys,
    Matrix<const i64> first_keys, i64 min_group, Vector<i64> group_of, i64 groups, Vector<i64> here, Vector<i64> sizes,
    Vector<i64> slots, Vector<i64> slot_keys, Vector<i64> used) {
  const Table table{slots, slot_keys, used};
  const Crowds crowds(left.length);
  const Scratch<i64> found(left.length);
  Keys own(codes, {left.data, left.length}, keys);
  i64 many = left.length;
  for (i64 vector = 0; vector < first_keys.rows && many > 0; ++vector) {
    own.at(first_keys[vector]);
    const Vector<const i64> members{left.data, many};
    const Vector<const i64> some{found.begin(), crowds.find(own, counts, members, min_group, found)};
    const i64 number = group_rows(own, some, here, table), before = groups;
    std::fill_n(sizes.data, number, i64{0});
    for (i64 place = 0; place < some.length; ++place) sizes[here[place]] += counts[some[place]];
    for (i64 group = 0; group < number; ++group) sizes[group] = sizes[group] >= min_group ? groups++ : EMPTY;
    if (groups == before) continue;
    for (i64 place = 0; place < some.length; ++place) group_of[some[place]] = sizes[here[place]];
    i64 kept = 0;
    for (i64 place = 0; place < many; ++place) {
      if (group_of[left[place]] == EMPTY) left[kept++] = left[place];
    }
    many = kept;
  }
  return {many, groups};
}
EXPORT(sweep_sizes)

}  // namespace lattice
