// Group the rows of a table by generalized codes. See `lattice.py` for what things mean.
#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "hashing.hpp"
#include "threads.hpp"

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
  // Find the groups of many keys in their order, and `take` each with whether it is new; return how many there are.
  template <class KeyOf, class Take> i64 group(const Slots &places, i64 rows, const KeyOf &key_of, const Take &take) const {
    std::array<i64, AHEAD> keys;
    i64 groups = 0;
    for (i64 first = 0; first < rows; first += AHEAD) {
      const i64 number = std::min(AHEAD, rows - first);
      for (i64 place = 0; place < number; ++place) {
        keys[place] = key_of(first + place);
        const i64 slot = places.first(keys[place]);
        __builtin_prefetch(&slots[slot]);
        __builtin_prefetch(&slot_keys[slot]);
      }
      for (i64 place = 0; place < number; ++place) {
        const i64 before = groups, own = find(places, keys[place], groups);
        take(first + place, own, groups > before);
      }
    }
    clear(groups);
    return groups;
  }
};

// Keys are random numbers of 64 bits, and their sums go round: unsigned numbers may do that.
template <class Sum, class T> Sum sum_at(const T *numbers, const i64 *first_key, const i32 *row, i64 columns) {
  Sum sum = 0;
  for (i64 column = 0; column < columns; ++column) sum += static_cast<Sum>(numbers[first_key[column] + row[column]]);
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
    u64 sum = 0;
    for (i64 place = 0; place < number_; ++place) sum += static_cast<u64>(keys_[first_[place] + own[columns_[place]]]);
    return static_cast<i64>(sum);
  }

 private:
  const Matrix<const i32> codes_;
  const Vector<const i64> keys_;
  const Scratch<i32> last_;
  const Scratch<i64> silent_, columns_, first_;
  i64 number_ = 0;
};

static i64 group_rows(const Keys &keys, Vector<const i64> members, Vector<i64> group_of, const Table &table) {
  return table.group(
      Slots(members.length), members.length, [&](i64 place) { return keys[members[place]]; },
      [&](i64 place, i64 group, bool) { group_of[place] = group; });
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
    for (i64 first = 0; first < members.length; first += AHEAD) {
      const i64 last = std::min(first + AHEAD, members.length);
      for (i64 place = first; place < last; ++place) {
        const i64 bucket = places.first(keys[members[place]]);
        bucket_of_[place] = static_cast<u32>(bucket);
        __builtin_prefetch(&buckets_[bucket], 1);
      }
      for (i64 place = first; place < last; ++place) {
        i8 &bucket = buckets_[bucket_of_[place]];
        const i64 rows = std::min(bucket + counts[members[place]], FULL);
        bucket = static_cast<i8>(rows);
        crowded |= rows >= enough;
      }
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

// Look at several vectors at the same time, each on a thread of its own: which rows may be in large enough groups. What
// has been found at one of them does not matter to the next: rows that are gone by then are passed over, for without
// them there is no group that there would not be with them.
class Ahead {
 public:
  Ahead(Matrix<const i32> codes, Vector<const i64> counts, Vector<const i64> members, Vector<const i64> keys,
        Matrix<const i64> first_keys, i64 min_group, i64 threads)
      : codes_(codes), counts_(counts), members_(members), keys_(keys), first_keys_(first_keys), min_group_(min_group),
        threads_(threads), looks_(threads), rows_(MOST_FOR_EACH * threads) {
    looks_[0] = std::make_unique<Look>(*this);
  }

  // Look at a vector and some that follow it; return the one after the last. After vectors at which nothing was found,
  // more are looked at together.
  i64 look(i64 vector, Vector<const i64> members) {
    first_ = vector;
    number_ = std::min({number_, threads_ == 1 ? 1 : MOST_FOR_EACH * threads_, first_keys_.rows - vector});
    const auto steps = [&](i64) { return members.length * codes_.columns; };
    in_parts(even_parts(number_, threads_, steps), [&](i64 part, i64 first, i64 last) {
      if (looks_[part] == nullptr) looks_[part] = std::make_unique<Look>(*this);
      for (i64 place = first; place < last; ++place) {
        Look &own = *looks_[part];
        own.keys.at(first_keys_[first_ + place]);
        const i64 found = own.crowds.find(own.keys, counts_, members, min_group_, own.found);
        rows_[place].assign(own.found.begin(), own.found.begin() + found);
      }
    });
    const i64 after = first_ + number_;
    number_ *= 2;
    return after;
  }
  // The rows that may be in groups at a vector, in their order; the caller may drop some.
  std::vector<i64> &rows(i64 vector) { return rows_[vector - first_]; }

  // Something was found: what follows has other rows.
  void begin_again() { number_ = threads_; }

  const Keys &keys_at(i64 vector) {
    looks_[0]->keys.at(first_keys_[vector]);
    return looks_[0]->keys;
  }

 private:
  struct Look {
    explicit Look(const Ahead &of)
        : keys(of.codes_, of.members_, of.keys_), crowds(of.members_.length), found(of.members_.length) {}
    Keys keys;
    Crowds crowds;
    Scratch<i64> found;
  };
  static constexpr i64 MOST_FOR_EACH = 4;

  const Matrix<const i32> codes_;
  const Vector<const i64> counts_, members_, keys_;
  const Matrix<const i64> first_keys_;
  const i64 min_group_, threads_;
  std::vector<std::unique_ptr<Look>> looks_;
  std::vector<std::vector<i64>> rows_;
  i64 first_ = 0, number_ = 1;
};

static Vector<const i64> listed(const std::vector<i64> &rows) { return {rows.data(), static_cast<i64>(rows.size())}; }

static i64 count_groups(
    Matrix<const i32> codes, Vector<const i64> counts, Vector<const i64> keys, Vector<const f64> scores,
    Vector<const i64> first_key, Vector<i64> group_of, Vector<i64> sizes, Vector<f64> totals, Vector<i64> slots,
    Vector<i64> slot_keys, Vector<i64> used) {
  const auto key_of = [&](i64 row) {
    return static_cast<i64>(sum_at<u64>(keys.data, first_key.data, codes[row], codes.columns));
  };
  return Table{slots, slot_keys, used}.group(Slots(codes.rows), codes.rows, key_of, [&](i64 row, i64 group, bool fresh) {
    if (fresh) {
      totals[group] = sum_at<f64>(scores.data, first_key.data, codes[row], codes.columns);
      sizes[group] = 0;
    }
    group_of[row] = group;
    sizes[group] += counts[row];
  });
}
EXPORT(count_groups)

// Add up rows with equal keys; `members` becomes the first row of each, `totals` the sum. Return how many there are.
static i64 merge_rows(
    Matrix<const i32> codes, Matrix<const i32> sensitive, Vector<const i64> counts, Vector<const i64> keys,
    Vector<const i64> first_key, Vector<i64> members, Vector<i64> totals, Vector<i64> slots, Vector<i64> slot_keys,
    Vector<i64> used) {
  const auto key_of = [&](i64 row) {
    return static_cast<i64>(
        sum_at<u64>(keys.data, first_key.data, codes[row], codes.columns) +
        sum_at<u64>(keys.data, first_key.data + codes.columns, sensitive[row], sensitive.columns));
  };
  return Table{slots, slot_keys, used}.group(Slots(codes.rows), codes.rows, key_of, [&](i64 row, i64 group, bool fresh) {
    if (fresh) {
      members[group] = row;
      totals[group] = 0;
    }
    totals[group] += counts[row];
  });
}
EXPORT(merge_rows)

static std::tuple<i64, i64> next_promising(
    Matrix<const i32> codes, Vector<const i64> counts, Vector<const i64> members, Vector<const i64> keys,
    Matrix<const i64> first_keys, i64 start, i64 min_group, Vector<i64> group_of, Vector<i64> sizes, Vector<i64> slots,
    Vector<i64> slot_keys, Vector<i64> used, i64 threads) {
  const Table table{slots, slot_keys, used};
  Ahead ahead(codes, counts, members, keys, first_keys, min_group, threads);
  const auto largest_of = [&](Vector<const i64> rows, i64 groups) {
    std::fill_n(sizes.data, groups, i64{0});
    i64 largest = 0;
    for (i64 place = 0; place < rows.length; ++place) {
      largest = std::max(largest, sizes[group_of[place]] += counts[rows[place]]);
    }
    return largest;
  };
  for (i64 vector = start, after; vector < first_keys.rows;) {
    for (after = ahead.look(vector, members); vector < after; ++vector) {
      const Vector<const i64> some = listed(ahead.rows(vector));
      if (some.length == 0) continue;
      const Keys &own = ahead.keys_at(vector);
      if (largest_of(some, group_rows(own, some, group_of, table)) < min_group) continue;
      const i64 groups = group_rows(own, members, group_of, table);
      largest_of(members, groups);
      return {vector, groups};
    }
  }
  return {first_keys.rows, 0};
}
EXPORT(next_promising)

static std::tuple<i64, i64> sweep_sizes(
    Matrix<const i32> codes, Vector<const i64> counts, Vector<i64> left, Vector<const i64> keys,
    Matrix<const i64> first_keys, i64 min_group, Vector<i64> group_of, i64 groups, Vector<i64> here, Vector<i64> sizes,
    Vector<i64> slots, Vector<i64> slot_keys, Vector<i64> used, i64 threads) {
  const Table table{slots, slot_keys, used};
  Ahead ahead(codes, counts, {left.data, left.length}, keys, first_keys, min_group, threads);
  i64 many = left.length;
  const auto has_group = [&](i64 row) { return group_of[row] != EMPTY; };
  for (i64 vector = 0, after; vector < first_keys.rows && many > 0;) {
    const i64 before = groups;
    for (after = ahead.look(vector, {left.data, many}); vector < after; ++vector) {
      std::vector<i64> &rows = ahead.rows(vector);
      if (groups > before) rows.erase(std::remove_if(rows.begin(), rows.end(), has_group), rows.end());
      if (rows.empty()) continue;
      const Vector<const i64> some = listed(rows);
      const i64 number = group_rows(ahead.keys_at(vector), some, here, table);
      std::fill_n(sizes.data, number, i64{0});
      for (i64 place = 0; place < some.length; ++place) sizes[here[place]] += counts[some[place]];
      for (i64 group = 0; group < number; ++group) sizes[group] = sizes[group] >= min_group ? groups++ : EMPTY;
      for (i64 place = 0; place < some.length; ++place) group_of[some[place]] = sizes[here[place]];
    }
    if (groups == before) continue;
    many = std::remove_if(left.begin(), left.begin() + many, has_group) - left.begin();
    ahead.begin_again();
  }
  return {many, groups};
}
EXPORT(sweep_sizes)

}  // namespace lattice
