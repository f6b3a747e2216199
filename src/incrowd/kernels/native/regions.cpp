// The least and the greatest code of each group. See `regions.py` for what things mean.
#include <algorithm>

#include "arguments.hpp"

namespace regions {

static void bounds_of_groups(
    Matrix<const i32> codes, Vector<const i64> rows, Vector<const i64> group_of, Matrix<i32> lows, Matrix<i32> highs) {
  for (i64 item = 0; item < rows.length; ++item) {
    const i32 *row = codes[rows[item]];
    i32 *low = lows[group_of[item]], *high = highs[group_of[item]];
    for (i64 column = 0; column < codes.columns; ++column) {
      low[column] = std::min(low[column], row[column]);
      high[column] = std::max(high[column], row[column] + 1);
    }
  }
}
EXPORT(bounds_of_groups)

}  // namespace regions
