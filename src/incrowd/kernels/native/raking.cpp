// Fit a small table to what is known of pairs of its axes. See `raking.py`.
#include <algorithm>
#include <vector>

#include "arguments.hpp"

namespace raking {

// `pairs` are two axes each; `wanted` is what is known of all of them, one after the other, each in C order.
static void rake(
    Vector<f64> table, Vector<const i64> sizes, Matrix<const i64> pairs, Vector<const f64> wanted, i64 rounds, f64 tiny) {
  std::vector<std::vector<i64>> cell_of(static_cast<std::size_t>(pairs.rows));
  std::vector<i64> starts{0}, strides(static_cast<std::size_t>(sizes.length), 1);
  for (i64 axis = sizes.length - 2; axis >= 0; --axis) strides[axis] = strides[axis + 1] * sizes[axis + 1];
  for (i64 pair = 0; pair < pairs.rows; ++pair) {
    const i64 one = pairs[pair][0], other = pairs[pair][1];
    for (i64 cell = 0; cell < table.length; ++cell)
      cell_of[pair].push_back((cell / strides[one] % sizes[one]) * sizes[other] + cell / strides[other] % sizes[other]);
    starts.push_back(starts.back() + sizes[one] * sizes[other]);
  }
  if (starts.back() != wanted.length) throw std::invalid_argument("not as many numbers as pairs have cells");
  std::vector<f64> factors;
  for (i64 round = 0; round < rounds; ++round)
    for (i64 pair = 0; pair < pairs.rows; ++pair) {
      const std::vector<i64> &of = cell_of[pair];
      factors.assign(static_cast<std::size_t>(starts[pair + 1] - starts[pair]), 0.0);
      for (i64 cell = 0; cell < table.length; ++cell) factors[of[cell]] += table[cell];
      for (std::size_t cell = 0; cell < factors.size(); ++cell)
        factors[cell] = wanted[starts[pair] + static_cast<i64>(cell)] / std::max(factors[cell], tiny);
      for (i64 cell = 0; cell < table.length; ++cell) table[cell] *= factors[of[cell]];
    }
}
EXPORT(rake)

}  // namespace raking
