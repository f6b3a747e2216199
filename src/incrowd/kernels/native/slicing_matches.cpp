// Find the buckets that people match. See `slicing_matches.py` for what things mean.
#include "slicing_matches.hpp"

namespace slicing {

// Return how many leaves were looked at, where each one's matches start, these, all matches, and their degrees.
static std::tuple<i64, Growing<i64>, Growing<i64>, Growing<i64>, Growing<f64>> match_leaves(
    i64 root, i64 leaf, i64 step, i64 most, Vector<const i64> listed, Vector<const i64> list_starts,
    Vector<const i64> buckets, Vector<const i64> levels, Vector<const i32> node_values, Vector<const i64> node_starts,
    Vector<const i64> first_leaves, Matrix<const i64> starts, Vector<const i32> values, Vector<const f64> shares,
    Vector<const i64> columns, Vector<const i64> secret_levels) {
  Search search(most, {listed, list_starts, buckets, starts, values, shares, columns},
                {levels, node_values, node_starts, first_leaves}, secret_levels);
  step = search.match_leaves(root, leaf, step);
  Growing<f64> degrees(2);
  for (i64 match = 0; match < search.matches.length(); ++match) {
    f64 *degree = degrees.add();
    degree[0] = search.matches.degrees[match].product;
    degree[1] = static_cast<f64>(search.matches.degrees[match].scaled);
  }
  return {step, std::move(search.leaf_starts), std::move(search.by_leaf), std::move(search.matches.nodes),
          std::move(degrees)};
}
EXPORT(match_leaves)

static void count_matches(
    i64 most, Vector<const i64> listed, Vector<const i64> list_starts, Vector<const i64> buckets,
    Vector<const i64> levels, Vector<const i32> node_values, Vector<const i64> node_starts,
    Vector<const i64> first_leaves, Matrix<const i64> starts, Vector<const i32> values, Vector<const f64> shares,
    Vector<const i64> columns, Vector<i64> of_leaf, Vector<i64> of_bucket) {
  const i64 first_level = 0;  // an entry of the first column tells the bucket
  Search search(most, {listed, list_starts, buckets, starts, values, shares, columns},
                {levels, node_values, node_starts, first_leaves}, {&first_level, 1});
  search.all_leaves([&](i64 first, i64 leaves) {
    for (i64 place = 0; place < leaves; ++place) of_leaf[first + place] = search.matches_of(place).length;
    for (i64 match = 0; match < search.matches.length(); ++match) ++of_bucket[buckets[search.matches.entries(match)[0]]];
  });
}
EXPORT(count_matches)

}  // namespace slicing
