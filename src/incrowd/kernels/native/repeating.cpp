// Numbers and lines of text, each as often as a number says. See `repeating.py`.
#include <algorithm>
#include <vector>

#include "threads.hpp"

namespace repeating {

template <class ItemAt>
void repeat(Vector<const i64> times, Vector<i64> repeated, i64 threads, ItemAt item_at) {
  const std::vector<i64> bounds = even_parts(times.length, threads);
  std::vector<i64> begins(bounds.size(), 0);
  in_parts(bounds, [&](i64 part, i64 first, i64 last) {
    i64 length = 0;
    for (i64 place = first; place < last; ++place) {
      if (times[place] < 0) throw std::runtime_error("nothing can be repeated less than never");
      length += times[place];
    }
    begins[static_cast<std::size_t>(part) + 1] = length;
  });
  for (std::size_t part = 1; part < begins.size(); ++part) begins[part] += begins[part - 1];
  if (begins.back() != repeated.length) throw std::runtime_error("there is too little room");
  in_parts(bounds, [&](i64 part, i64 first, i64 last) {
    i64 *to = &repeated[begins[static_cast<std::size_t>(part)]];
    for (i64 place = first; place < last; ++place) {
      const i64 item = item_at(place);
      for (i64 time = 0; time < times[place]; ++time) *to++ = item;
    }
  });
}

static void repeat_items(Vector<const i64> items, Vector<const i64> times, Vector<i64> repeated, i64 threads) {
  if (items.length != times.length) throw std::runtime_error("there are other numbers of items and of times");
  repeat(times, repeated, threads, [&](i64 place) { return items[place]; });
}
EXPORT(repeat_items)

static void repeat_places(Vector<const i64> times, Vector<i64> repeated, i64 threads) {
  repeat(times, repeated, threads, [](i64 place) { return place; });
}
EXPORT(repeat_places)

static void repeat_lines(Vector<const i8> text, Vector<const i64> ends, Vector<const i64> times, Vector<i8> repeated) {
  i8 *to = repeated.begin();
  for (i64 line = 0, begin = 0; line < ends.length; begin = ends[line++]) {
    const i64 length = ends[line] - begin;
    if (to + length * times[line] > repeated.end()) throw std::runtime_error("there is too little room");
    for (i64 time = 0; time < times[line]; ++time, to += length) std::memcpy(to, text.data + begin, static_cast<std::size_t>(length));
  }
}
EXPORT(repeat_lines)

}  // namespace repeating
