// Sort by small keys on every core, without comparing.
#pragma once

#include <utility>

#include "threads.hpp"

// Sort a list by `key_at(place)`, which is below `size`; what has the same key stays in its order. Every part of the list
// counts its own keys, and then knows where they go: behind those of the parts before it. end_of(key, end) is told where
// what has a key ends.
template <class KeyAt, class EndOf>
void sort_by(Vector<const i64> order, i64 size, i64 threads, KeyAt key_at, EndOf end_of, Vector<i64> result) {
  const i64 worth = std::max<i64>(1, order.length / (size + 1));  // adding up the counts must not take longer than these
  const std::vector<i64> bounds = even_parts(order.length, std::min(threads, worth));
  const i64 parts = static_cast<i64>(bounds.size()) - 1;
  Scratch<i64> next(parts * size, 0);
  in_parts(bounds, [&](i64 part, i64 first, i64 last) {
    i64 *own = next.begin() + part * size;
    for (i64 place = first; place < last; ++place) ++own[key_at(place)];
  });
  i64 before = 0;
  for (i64 key = 0; key < size; ++key) {
    for (i64 part = 0; part < parts; ++part) before += std::exchange(next[part * size + key], before);
    end_of(key, before);
  }
  in_parts(bounds, [&](i64 part, i64 first, i64 last) {
    i64 *own = next.begin() + part * size;
    for (i64 place = first; place < last; ++place) result[own[key_at(place)]++] = order[place];
  });
}
