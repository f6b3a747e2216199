// Count the values of each group, without the zeros. See `histograms.py`.
#include <algorithm>
#include <utility>

#include "arguments.hpp"

namespace histograms {

// `values` and `totals` have room for one entry of every item; return how many entries there are.
static i64 count_by_group(
    Vector<const i64> group_of, Vector<const i32> codes, Vector<const i64> counts, Vector<i64> offsets,
    Vector<i32> values, Vector<i64> totals) {
  const i64 items = codes.length, groups = offsets.length - 1;
  Scratch<i64> next(groups + 1, 0);
  for (i64 group : group_of) ++next[group + 1];
  for (i64 group = 0; group < groups; ++group) next[group + 1] += next[group];
  Scratch<std::pair<i32, i64>> sorted(items);
  for (i64 item = 0; item < items; ++item) sorted[next[group_of[item]]++] = {codes[item], counts[item]};
  i64 used = 0;
  for (i64 group = 0; group < groups; ++group) {
    // filling the runs has moved each group's start to the start of the next one
    const i64 first = group == 0 ? 0 : next[group - 1], last = next[group], begin = used;
    std::sort(sorted.begin() + first, sorted.begin() + last);
    for (i64 place = first; place < last; ++place) {
      if (used > begin && values[used - 1] == sorted[place].first) {
        totals[used - 1] += sorted[place].second;
      } else {
        values[used] = sorted[place].first;
        totals[used++] = sorted[place].second;
      }
    }
    offsets[group + 1] = used;
  }
  return used;
}
EXPORT(count_by_group)

}  // namespace histograms
