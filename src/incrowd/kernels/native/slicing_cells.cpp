// List the buckets that people match, each with the degree. See `slicing_cells.py` for what things mean.
#include "slicing_matches.hpp"

namespace slicing {

static std::tuple<Growing<i64>, Growing<i64>, Growing<f64>> list_matches(
    i64 most, Vector<const i64> listed, Vector<const i64> list_starts, Vector<const i64> buckets,
    Vector<const i64> levels, Vector<const i32> node_values, Vector<const i64> node_starts,
    Vector<const i64> first_leaves, Matrix<const i64> starts, Vector<const i32> values, Vector<const f64> shares,
    Vector<const i64> columns, Vector<const i64> secret_levels) {
  Search search(most, {listed, list_starts, buckets, starts, values, shares, columns},
                {levels, node_values, node_starts, first_leaves}, secret_levels);
  Growing<i64> leaves(1, 1024), cells(1, 1024);
  Growing<f64> degrees(1, 1024);
  search.all_leaves([&](i64 first, i64 many) {
    for (i64 place = 0; place < many; ++place) {
      const Vector<const i64> mine = search.matches_of(place);
      if (mine.length == 0) continue;
      const i64 least_scaled = search.least_scaled(mine);
      for (i64 match : mine) {
        leaves.push(first + place);
        cells.push(search.matches.entries(match)[0]);
        degrees.push(search.matches.degrees[match].beside(least_scaled));
      }
    }
  });
  return {std::move(leaves), std::move(cells), std::move(degrees)};
}
EXPORT(list_matches)

}  // namespace slicing
