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
    Vector<const i64> columns, Vector<i64> of_leaf, Vector<i64> of_bucket, i64 threads) {
  const i64 first_level = 0;  // an entry of the first column tells the bucket
  const std::vector<i64> bounds = even_parts(of_leaf.length, threads, [](i64) { return STEPS_OF_LEAF; });
  const i64 parts = static_cast<i64>(bounds.size()) - 1;
  Scratch<i64> of_part(parts * of_bucket.length, 0);
  in_parts(bounds, [&](i64 part, i64 from, i64 to) {
    Search search(most / parts, {listed, list_starts, buckets, starts, values, shares, columns},
                  {levels, node_values, node_starts, first_leaves}, {&first_level, 1});
    i64 *own = of_part.begin() + part * of_bucket.length;
    search.some_leaves(from, to, [&](i64 first, i64 leaves) {
      for (i64 place = 0; place < leaves; ++place) of_leaf[first + place] = search.matches_of(place).length;
      for (i64 match = 0; match < search.matches.length(); ++match) ++own[buckets[search.matches.entries(match)[0]]];
    });
  });
  for (i64 place = 0; place < of_part.length(); ++place) of_bucket[place % of_bucket.length] += of_part[place];
}
EXPORT(count_matches)

}  // namespace slicing
