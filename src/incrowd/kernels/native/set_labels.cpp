// Show one more label in as many sets as is safe. See `set_labels.py` for what things mean.
#include "set_arrays.hpp"
#include "set_walk.hpp"

namespace set_labels {

using set_arrays::Limits;
using set_arrays::Tally;
using set_walk::Order;
using set_walk::Walk;

static std::tuple<Growing<i64>> sets_lacking(
    Vector<const i64> starts, Vector<const i32> holders, Vector<const i64> places, Vector<const i32> labels, i64 low,
    i64 high, Vector<i32> seen, i64 stamp, bool alone) {
  const i32 mark = static_cast<i32>(stamp);
  if (alone) {
    for (i64 index = starts[low]; index < starts[high]; ++index) {
      if (labels[places[index]] != 0) seen[holders[index]] = mark;
    }
  }
  Growing<i64> members;
  for (i64 index = starts[low]; index < starts[high]; ++index) {
    const i32 set = holders[index];
    if (labels[places[index]] == 0 && seen[set] != mark) {
      seen[set] = mark;
      members.push(set);
    }
  }
  return {std::move(members)};
}
EXPORT(sets_lacking)

static std::tuple<Growing<i32>> write_labels(
    Vector<const i64> offsets, Vector<const i32> labels, Vector<const i8> leads, Vector<const i64> members,
    Vector<i64> new_offsets) {
  Growing<i32> new_items;
  for (i64 number = 0; number < members.length; ++number) {
    const i64 set = members[number], begin = new_items.length();
    for (i64 place = offsets[set]; place < offsets[set + 1]; ++place) {
      if (!leads[place]) continue;
      i64 hole = new_items.length();
      new_items.add();
      for (; hole > begin && new_items[hole - 1] > labels[place]; --hole) new_items[hole] = new_items[hole - 1];
      new_items[hole] = labels[place];
    }
    new_offsets[number + 1] = new_items.length();
  }
  return {std::move(new_items)};
}
EXPORT(write_labels)

static void give_label(
    Vector<const i64> offsets, Vector<const i32> items, Vector<i32> labels, Vector<i8> leads,
    Vector<const i64> members, i64 low, i64 high, i64 label) {
  for (i64 set : members) {
    bool first = true;
    for (i64 place = offsets[set]; place < offsets[set + 1]; ++place) {
      if (low <= items[place] && items[place] < high && labels[place] == 0) {
        labels[place] = static_cast<i32>(label);
        leads[place] = std::exchange(first, false);
      }
    }
  }
}
EXPORT(give_label)

// Sets that may still show the new label, and what combinations of it with their other labels take them out.
class Peeling {
 public:
  Peeling(
      Vector<const i64> offsets, Vector<const i32> items, Vector<const i64> counts, Vector<const i32> sensitive,
      const Limits &limits, i64 numbers, i64 known, Vector<i8> inside)
      : offsets_(offsets), items_(items), counts_(counts), sensitive_(sensitive), limits_(limits), inside_(inside),
        tally_(numbers, limits), is_unsafe_(numbers, 0),
        walk_(offsets, items, numbers, std::max<i64>(known - 1, 1)) {}

  // Whether the label by itself is safe in the sets that are left.
  bool safe_alone() const {
    Tally tally(1, limits_);
    for (i64 set = 0; set < counts_.length; ++set) {
      if (inside_[set]) tally.add(0, counts_[set], sensitive_[set]);
    }
    return !tally.unsafe(0);
  }

  // Take out sets with a label that is unsafe together with the new one; return whether there are any.
  bool take_out_by_one() {
    for (i64 set = 0; set < counts_.length; ++set) {
      if (inside_[set]) add(set, offsets_[set]);
    }
    bool some = false;
    if (find_unsafe()) {
      for (i64 set = 0; set < counts_.length; ++set) some |= inside_[set] && take_out(set, offsets_[set]);
    }
    forget();
    return some;
  }

  // Take out sets with `size` labels that are unsafe together with the new one; return whether there are any.
  bool take_out_by_more(i64 size) {
    bool some = false;
    walk_.begin(Order::AS_MET, [&](auto take) {
      for (i64 set = 0; set < counts_.length; ++set) {
        if (inside_[set]) take(offsets_[set], offsets_[set + 1] - (size - 1));
      }
    });
    while (walk_.there()) {
      if (walk_.depth() < size - 2) {
        walk_.follow(Order::AS_MET, size - walk_.depth() - 2, [&](i64 set) { return inside_[set]; });
        continue;
      }
      for (set_walk::Place place : walk_.places()) {
        if (inside_[walk_.owner(place)]) add(walk_.owner(place), place + 1);
      }
      if (find_unsafe()) {
        for (set_walk::Place place : walk_.places()) {
          const i64 set = walk_.owner(place);
          some |= inside_[set] && take_out(set, place + 1);
        }
      }
      forget();
      walk_.next();
    }
    return some;
  }

 private:
  // Count the labels of a set from a place on.
  void add(i64 set, i64 begin) {
    for (i32 label : items_.from(begin, offsets_[set + 1])) tally_.add(label, counts_[set], sensitive_[set]);
  }
  bool find_unsafe() {
    bool some = false;
    for (i32 label : tally_.met()) {
      is_unsafe_[label] = tally_.unsafe(label);
      some |= is_unsafe_[label] != 0;
    }
    return some;
  }
  // Take a set out if one of its labels from a place on is unsafe; return whether it is.
  bool take_out(i64 set, i64 begin) {
    const auto labels = items_.from(begin, offsets_[set + 1]);
    if (std::none_of(labels.begin(), labels.end(), [&](i32 label) { return is_unsafe_[label]; })) return false;
    inside_[set] = false;
    return true;
  }
  void forget() {
    for (i32 label : tally_.met()) is_unsafe_[label] = 0;
    tally_.clear();
  }

  Vector<const i64> offsets_;
  Vector<const i32> items_;
  Vector<const i64> counts_;
  Vector<const i32> sensitive_;
  Limits limits_;
  Vector<i8> inside_;
  Tally tally_;
  Scratch<i8> is_unsafe_;
  Walk walk_;
};

static void peel(
    Vector<const i64> offsets, Vector<const i32> items, Vector<const i64> counts, Vector<const i32> sensitive,
    i64 values, i64 numbers, i64 known, i64 k, f64 share, i64 first, Vector<i8> inside) {
  Peeling peeling(offsets, items, counts, sensitive, {values, k, share, first}, numbers, known, inside);
  i64 size = 0;
  while (size < known) {
    if (size == 0 && !peeling.safe_alone()) {
      std::fill(inside.begin(), inside.end(), i8{0});
      return;
    }
    const bool some = size == 1 ? peeling.take_out_by_one() : size > 1 && peeling.take_out_by_more(size);
    size = some ? 0 : size + 1;
  }
}
EXPORT(peel)

}  // namespace set_labels
