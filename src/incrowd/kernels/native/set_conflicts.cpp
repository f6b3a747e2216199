// Find the unsafe combinations that a change of what is shown would bring. See `set_conflicts.py` for what things mean.
#include "set_arrays.hpp"
#include "set_walk.hpp"

namespace set_conflicts {

using set_walk::Order;
using set_walk::Walk;

static std::tuple<Growing<i64>> sets_with(
    Vector<const i64> starts, Vector<const i32> holders, i64 low, i64 high, Vector<i32> seen, i64 stamp) {
  Growing<i64> members;
  for (i32 set : holders.from(starts[low], starts[high])) {
    if (seen[set] != stamp) {
      seen[set] = static_cast<i32>(stamp);
      members.push(set);
    }
  }
  return {std::move(members)};
}
EXPORT(sets_with)

static std::tuple<Growing<i64>, Growing<i32>, Growing<i64>> shown_slots(
    Vector<const i64> offsets, Vector<const i32> items, Vector<const i32> slots, Vector<const i64> members, i64 low,
    i64 high) {
  Growing<i64> new_offsets, kept;
  Growing<i32> new_items;
  new_offsets.push(0);
  for (i64 set : members) {
    const auto write = [&](bool in_run) {
      i32 last = -1;
      for (i32 item : items.from(offsets[set], offsets[set + 1])) {
        if ((low <= item && item < high) != in_run) continue;
        const i32 slot = slots[item];
        if (slot >= 0 && slot != last) {
          new_items.push(slot);
          last = slot;
        }
      }
    };
    const i64 begin = new_items.length();
    write(true);
    if (new_items.length() == begin) continue;
    write(false);
    kept.push(set);
    new_offsets.push(new_items.length());
  }
  return {std::move(new_offsets), std::move(new_items), std::move(kept)};
}
EXPORT(shown_slots)

static std::tuple<Growing<i64>, Growing<i32>, Growing<i64>> slots_without(
    Vector<const i64> offsets, Vector<const i32> items, Vector<const i64> kept, Vector<const i8> dropped, i64 fresh) {
  Growing<i64> new_offsets, new_kept;
  Growing<i32> new_items;
  new_offsets.push(0);
  for (i64 place = 0; place < kept.length; ++place) {
    const i64 begin = new_items.length();
    for (i32 slot : items.from(offsets[place], offsets[place + 1])) {
      if (!dropped[slot]) new_items.push(slot);
    }
    if (new_items.length() == begin || new_items[begin] >= fresh) {
      new_items.set_length(begin);
      continue;
    }
    new_kept.push(kept[place]);
    new_offsets.push(new_items.length());
  }
  return {std::move(new_offsets), std::move(new_items), std::move(new_kept)};
}
EXPORT(slots_without)

static std::tuple<Growing<i32>, bool> find_conflicts(
    Vector<const i64> offsets, Vector<const i32> items, Vector<const i64> counts, Vector<const i32> sensitive,
    i64 values, i64 fresh, i64 numbers, i64 size, i64 k, f64 share, i64 first, i64 capacity) {
  Growing<i32> conflicts(size);
  Walk walk(offsets, items, numbers, std::max<i64>(size - 1, 1));
  set_arrays::Tally tally(numbers, {values, k, share, first});
  walk.begin(Order::ASCENDING, [&](auto take) {
    for (i64 set = 0; set < offsets.length - 1; ++set) {
      i64 end = offsets[set];  // new slots come first in each set
      while (end < offsets[set + 1] && items[end] < fresh) ++end;
      take(offsets[set], end);
    }
  });
  while (walk.there()) {
    if (walk.depth() < size - 2) {
      walk.follow(Order::AS_MET, size - walk.depth() - 2);
      continue;
    }
    walk.complete(size, [&](i64 owner, i32 slot) { tally.add(slot, counts[owner], sensitive[owner]); });
    for (i32 slot : tally.met()) {
      if (!tally.unsafe(slot)) continue;
      if (conflicts.length() == capacity) return {std::move(conflicts), true};
      i32 *conflict = conflicts.add();
      for (i64 level = 0; level < size - 1; ++level) conflict[level] = walk.item(level);
      conflict[size - 1] = slot;
    }
    tally.clear();
    walk.next();
  }
  return {std::move(conflicts), false};
}
EXPORT(find_conflicts)

}  // namespace set_conflicts
