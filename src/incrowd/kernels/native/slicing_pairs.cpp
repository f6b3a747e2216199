// Count how often the values of one attribute go with those of all others. See `slicing_pairs.py`.
#include "arguments.hpp"

namespace slicing {

static void count_attribute_pairs(
    Matrix<const i32> codes, Vector<const i64> counts, i64 attribute, i64 usual, Vector<const i64> offsets,
    Matrix<i64> table) {
  for (i64 row = 0; row < codes.rows; ++row) {
    const i32 *own = codes[row];
    if (own[attribute] == usual) continue;
    i64 *beside = table[own[attribute]];
    for (i64 other = 0; other < codes.columns; ++other) beside[offsets[other] + own[other]] += counts[row];
  }
}
EXPORT(count_attribute_pairs)

}  // namespace slicing
