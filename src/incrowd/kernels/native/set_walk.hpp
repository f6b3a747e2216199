// A walk through the combinations of items that occur in sets. See `set_supports.py` for how it goes, and what it costs.
#pragma once

#include <algorithm>
#include <limits>

#include "arguments.hpp"

namespace set_walk {

using Place = i32;  // half the memory of 64 bits, and faster

enum class Order { AS_MET, ASCENDING };

// A combination without its last item: one item for each depth. Items that complete it follow its places.
//
// Use: list the first items; then, while there is a combination, either go deeper or go on to the next one.
class Walk {
 public:
  Walk(Vector<const i64> offsets, Vector<const i32> items, i64 numbers, i64 depths)
      : offsets_(offsets), items_(items), numbers_(numbers), owners_(items.length), marks_(numbers, 0),
        found_(depths * numbers), starts_(depths * (numbers + 1)), lists_(depths * items.length), many_(depths),
        at_(depths) {
    if (items.length > std::numeric_limits<Place>::max()) throw std::length_error("too many items in all sets together");
    for (i64 set = 0; set < offsets.length - 1; ++set) {
      std::fill(owners_.begin() + offsets[set], owners_.begin() + offsets[set + 1], static_cast<i32>(set));
    }
  }

  // Begin with the places of some runs: `each_run(take)` calls `take(begin, end)` for each of them.
  template <class EachRun> void begin(Order order, EachRun each_run) {
    depth_ = -1;
    deepen(order, each_run);
  }
  // Go one item further: what follows the places of this combination, with at least `missing` places behind it, in
  // sets that `counts` accepts.
  template <class Counts> void follow(Order order, i64 missing, Counts counts) {
    const Vector<Place> here = places();
    deepen(order, [&](auto take) {
      for (Place place : here) {
        const i64 owner = owners_[place];
        if (counts(owner)) take(place + 1, offsets_[owner + 1] - missing);
      }
    });
  }
  void follow(Order order, i64 missing) {
    follow(order, missing, [](i64) { return true; });
  }
  // Whether there is a combination; goes up where none is left at this depth.
  bool there() {
    while (depth_ >= 0 && at_[depth_] == many_[depth_]) {
      if (--depth_ >= 0) ++at_[depth_];
    }
    return depth_ >= 0;
  }
  void next() { ++at_[depth_]; }

  i64 depth() const { return depth_; }
  i32 item(i64 depth) const { return found_[depth * numbers_ + at_[depth]]; }
  i64 owner(Place place) const { return owners_[place]; }
  // Where the last item is in each set that has the combination.
  Vector<Place> places() const {
    const i64 *starts = &starts_[depth_ * (numbers_ + 1) + at_[depth_]];
    return Vector<Place>{list(depth_), items_.length}.from(starts[0], starts[1]);
  }
  // Call `visit(owner, item)` for each item that makes this a combination of `size` items.
  template <class Visit> void complete(i64 size, Visit visit) const {
    for (Place place : places()) {
      const i64 owner = owners_[place];
      if (size == 1) {
        visit(owner, items_[place]);
      } else {
        for (i64 later = place + 1; later < offsets_[owner + 1]; ++later) visit(owner, items_[later]);
      }
    }
  }

 private:
  Place *list(i64 depth) const { return lists_.begin() + depth * items_.length; }

  // Sort places by their items: a counting sort, in which `marks_` are numbers first and then where to write.
  template <class EachRun> void deepen(Order order, EachRun each_run) {
    ++depth_;
    i32 *found = found_.begin() + depth_ * numbers_;
    i64 *starts = starts_.begin() + depth_ * (numbers_ + 1);
    Place *list = this->list(depth_);
    i64 number = 0;
    each_run([&](i64 begin, i64 end) {
      for (i64 place = begin; place < end; ++place) {
        if (marks_[items_[place]]++ == 0) found[number++] = items_[place];
      }
    });
    if (order == Order::ASCENDING) std::sort(found, found + number);
    starts[0] = 0;
    for (i64 step = 0; step < number; ++step) {
      starts[step + 1] = starts[step] + marks_[found[step]];
      marks_[found[step]] = starts[step];
    }
    each_run([&](i64 begin, i64 end) {
      for (i64 place = begin; place < end; ++place) list[marks_[items_[place]]++] = static_cast<Place>(place);
    });
    for (i64 step = 0; step < number; ++step) marks_[found[step]] = 0;
    many_[depth_] = number;
    at_[depth_] = 0;
  }

  Vector<const i64> offsets_;
  Vector<const i32> items_;
  i64 numbers_, depth_ = -1;
  Scratch<i32> owners_;
  Scratch<i64> marks_;
  // One row for each depth: the items found there, where the places of each start in the list, and the list.
  Scratch<i32> found_;
  Scratch<i64> starts_;
  Scratch<Place> lists_;
  Scratch<i64> many_, at_;  // how many items were found at a depth, and which of them is the combination's
};

}  // namespace set_walk
