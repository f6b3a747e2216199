// Count equal values of the same owner, where the rows of an owner lie in one run. See `run_counts.py`.
#include <algorithm>
#include <utility>
#include <vector>

#include "threads.hpp"

namespace run_counts {

template <class Item> void sort_few(std::vector<Item> &items) {
  if (items.size() > 24) return std::sort(items.begin(), items.end());
  for (std::size_t one = 1; one < items.size(); ++one) {
    const Item moved = items[one];
    std::size_t place = one;
    for (; place > 0 && moved < items[place - 1]; --place) items[place] = items[place - 1];
    items[place] = moved;
  }
}

// Goes through the rows of a run by owner, value and place. In a short run all three fit one number.
class Sorter {
 public:
  Sorter(Vector<const i64> tuples, Vector<const i64> owners, Vector<const i32> values)
      : tuples_(tuples), owners_(owners), values_(values) {}

  template <class See> void walk(i64 first, i64 last, See see) {
    if (first == last) return;
    i64 least = owners_[first], most = least;
    for (i64 row = first + 1; row < last; ++row) {
      least = std::min(least, owners_[row]);
      most = std::max(most, owners_[row]);
    }
    if (last - first > SHORT || most - least > SHORT) return walk_long(first, last, see);
    short_.clear();
    for (i64 row = first; row < last; ++row) {
      const u64 owner = static_cast<u64>(owners_[row] - least), value = static_cast<u32>(values_[tuples_[row]]);
      short_.push_back((owner << 32 | value) << BITS | static_cast<u64>(row - first));
    }
    sort_few(short_);
    for (u64 one : short_) {
      const u64 key = one >> BITS;
      see(least + static_cast<i64>(key >> 32), static_cast<i32>(key & 0xffffffffu), first + static_cast<i64>(one & SHORT));
    }
  }

 private:
  static constexpr int BITS = 15;
  static constexpr i64 SHORT = (1 << BITS) - 1;

  template <class See> void walk_long(i64 first, i64 last, See see) {
    long_.clear();
    for (i64 row = first; row < last; ++row) {
      const u64 owner = static_cast<u64>(owners_[row]), value = static_cast<u32>(values_[tuples_[row]]);
      long_.emplace_back(owner << 32 | value, row);
    }
    std::sort(long_.begin(), long_.end());
    for (const auto &[key, row] : long_) see(static_cast<i64>(key >> 32), static_cast<i32>(key & 0xffffffffu), row);
  }

  const Vector<const i64> tuples_, owners_;
  const Vector<const i32> values_;
  std::vector<u64> short_;
  std::vector<std::pair<u64, i64>> long_;
};

// The distinct pairs of an owner and a value that a thread found.
struct Pairs {
  Growing<i64> owners{1, 1 << 10}, rows{1, 1 << 10};
  Growing<i32> values{1, 1 << 10};

  void add(i64 owner, i32 value, i64 times) {
    const i64 last = owners.length() - 1;
    if (last >= 0 && owners[last] == owner && values[last] == value) {
      rows[last] += times;
    } else {
      owners.push(owner);
      values.push(value);
      rows.push(times);
    }
  }
};

// Return the owners, the values and the rows of the distinct pairs; `which` gets the pair of each row. With no `counts`,
// every row is one.
static std::tuple<Growing<i64>, Growing<i32>, Growing<i64>> count_in_runs(
    Vector<const i64> starts, Vector<const i64> tuples, Vector<const i64> owners, Vector<const i32> values,
    Vector<const i64> counts, Vector<i64> which, i64 threads) {
  const std::vector<i64> bounds =
      even_parts(starts.length - 1, threads, [&](i64 run) { return starts[run + 1] - starts[run]; });
  std::vector<Pairs> found(bounds.size() - 1);
  in_parts(bounds, [&](i64 part, i64 first_run, i64 last_run) {
    Pairs &pairs = found[part];
    Sorter sorter(tuples, owners, values);
    for (i64 run = first_run; run < last_run; ++run) {
      sorter.walk(starts[run], starts[run + 1], [&](i64 owner, i32 value, i64 row) {
        pairs.add(owner, value, counts.length > 0 ? counts[row] : 1);
        which[row] = pairs.owners.length() - 1;
      });
    }
  });
  if (found.size() == 1) return {std::move(found[0].owners), std::move(found[0].values), std::move(found[0].rows)};
  std::vector<i64> before(found.size() + 1, 0);
  for (std::size_t part = 0; part < found.size(); ++part) before[part + 1] = before[part] + found[part].owners.length();
  Growing<i64> all_owners(1, before.back()), all_rows(1, before.back());
  Growing<i32> all_values(1, before.back());
  all_owners.set_length(before.back());
  all_rows.set_length(before.back());
  all_values.set_length(before.back());
  in_parts(bounds, [&](i64 part, i64 first_run, i64 last_run) {
    const Pairs &own = found[static_cast<std::size_t>(part)];
    const i64 others = before[static_cast<std::size_t>(part)];
    for (i64 row = starts[first_run]; row < starts[last_run]; ++row) which[row] += others;
    std::copy(own.owners.row(0), own.owners.row(own.owners.length()), all_owners.row(others));
    std::copy(own.rows.row(0), own.rows.row(own.rows.length()), all_rows.row(others));
    std::copy(own.values.row(0), own.values.row(own.values.length()), all_values.row(others));
  });
  return {std::move(all_owners), std::move(all_values), std::move(all_rows)};
}
EXPORT(count_in_runs)

}  // namespace run_counts
