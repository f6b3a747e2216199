// What crowds say of each person. See `beliefs.py` for what things mean.
#include "arguments.hpp"

namespace beliefs {

static void spread_shares(
    Vector<const i64> offsets, Vector<const i64> crowds, Vector<const f64> weights, Vector<const i64> starts,
    Vector<const i32> values, Vector<const i64> counts, Vector<const i64> sizes, Matrix<f64> shares) {
  for (i64 person = 0; person < shares.rows; ++person) {
    f64 *own = shares[person];
    for (i64 place = offsets[person]; place < offsets[person + 1]; ++place) {
      const i64 crowd = crowds[place];
      if (sizes[crowd] == 0) continue;
      const f64 weight = weights[place] / static_cast<f64>(sizes[crowd]);
      for (i64 entry = starts[crowd]; entry < starts[crowd + 1]; ++entry) {
        own[values[entry]] += weight * static_cast<f64>(counts[entry]);
      }
    }
  }
}
EXPORT(spread_shares)

static void sum_by_code(Vector<const i32> codes, Matrix<const f64> rows, Vector<const f64> weights, Matrix<f64> sums) {
  for (i64 row = 0; row < codes.length; ++row) {
    f64 *sum = sums[codes[row]];
    for (i64 place = 0; place < rows.columns; ++place) sum[place] += weights[row] * rows[row][place];
  }
}
EXPORT(sum_by_code)

}  // namespace beliefs
