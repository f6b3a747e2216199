// The least and the greatest code of each group. See `regions.py` for what things mean.
#include <algorithm>

#include "threads.hpp"

namespace regions {

// Threads share the groups: each goes through all items, and looks at those of its own groups.
static void bounds_of_groups(
    Matrix<const i32> codes, Vector<const i64> rows, Vector<const i64> group_of, Matrix<i32> lows, Matrix<i32> highs,
    i64 threads) {
  const i64 steps = rows.length * codes.columns / std::max<i64>(1, lows.rows) + 1;
  in_parts(even_parts(lows.rows, threads, [=](i64) { return steps; }), [&](i64, i64 first, i64 last) {
    for (i64 item = 0; item < rows.length; ++item) {
      const i64 group = group_of[item];
      if (group < first || group >= last) continue;
      const i32 *row = codes[rows[item]];
      i32 *low = lows[group], *high = highs[group];
      for (i64 column = 0; column < codes.columns; ++column) {
        low[column] = std::min(low[column], row[column]);
        high[column] = std::max(high[column], row[column] + 1);
      }
    }
  });
}
EXPORT(bounds_of_groups)

}  // namespace regions
