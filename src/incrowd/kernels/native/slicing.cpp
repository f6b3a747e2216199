// Find out what the buckets that people match say about their secrets. See `slicing.py` for what things mean.
#include "slicing_matches.hpp"

namespace slicing {

constexpr i32 FINE = 0, EXCEEDS = 1, UNDECIDED = 2;

// The values of all secrets behind the entries of their columns.
struct Hidden {
  Vector<const i64> starts;
  Vector<const i32> codes;
  Vector<const i64> counts, most, rows;
};

struct Guess {
  f64 worst;
  i32 verdict;
};

// A likeliest value may be as probable as denominator / numerator.
struct Bound {
  i64 numerator, denominator;

  bool holds(i64 most, i64 rows) const { return numerator * most <= denominator * rows; }

  // Compare two sums of products that were rounded at every step.
  //
  // A share is rounded once, a product of `depth` shares and one more `depth` times, a sum once per match, and the last
  // product once: each side is off by at most (2 * depth + matches + 3) roundings of half a unit in the last place.
  i32 verdict(f64 likeliest, f64 whole, i64 matches, i64 depth) const {
    const f64 likelihood = static_cast<f64>(numerator) * likeliest, limit = static_cast<f64>(denominator) * whole;
    const f64 doubt = static_cast<f64>(2 * depth + matches + 8) * 0x1p-52;
    if (likelihood <= limit * (1.0 - doubt)) return FINE;
    if (likelihood > limit * (1.0 + doubt)) return EXCEEDS;
    return UNDECIDED;
  }
};

// How probable one person's likeliest value of a secret is, and the verdict; `mine` are the matches. `sums` come as
// zeros and are left so.
static Guess guess(
    const Search &search, Vector<const i64> mine, i64 secret, i64 hidden_offset, const Hidden &hidden,
    const Scratch<f64> &sums, i64 depth, Bound bound) {
  if (mine.length == 0) return {0.0, FINE};
  const i64 least_scaled = search.least_scaled(mine);
  f64 whole = 0, likeliest = 0, largest_share = 0;
  bool safe = true;
  for (i64 match : mine) {
    const f64 degree = search.matches.degrees[match].beside(least_scaled);
    whole += degree;
    const i64 behind = search.matches.entries(match)[secret] + hidden_offset;
    const f64 rows = static_cast<f64>(hidden.rows[behind]);
    largest_share = std::max(largest_share, static_cast<f64>(hidden.most[behind]) / rows);
    safe = safe && bound.holds(hidden.most[behind], hidden.rows[behind]);
    for (i64 place = hidden.starts[behind]; place < hidden.starts[behind + 1]; ++place) {
      f64 &sum = sums[hidden.codes[place]];
      sum += degree * (static_cast<f64>(hidden.counts[place]) / rows);
      likeliest = std::max(likeliest, sum);
    }
  }
  for (i64 match : mine) {
    const i64 behind = search.matches.entries(match)[secret] + hidden_offset;
    for (i64 place = hidden.starts[behind]; place < hidden.starts[behind + 1]; ++place) sums[hidden.codes[place]] = 0;
  }
  // A mean of shares is no larger than the largest of them, whatever rounding says.
  const f64 worst = mine.length > 1 ? std::min(likeliest / whole, largest_share) : largest_share;
  return {worst, safe ? FINE : bound.verdict(likeliest, whole, mine.length, depth)};
}

static void guess_secrets(
    i64 most, Vector<const i64> listed, Vector<const i64> list_starts, Vector<const i64> buckets,
    Vector<const i64> levels, Vector<const i32> node_values, Vector<const i64> node_starts,
    Vector<const i64> first_leaves, Matrix<const i64> starts, Vector<const i32> values, Vector<const f64> shares,
    Vector<const i64> columns, Vector<const i64> secret_levels, Vector<const i64> hidden_offsets,
    Vector<const i64> hidden_starts, Vector<const i32> hidden_codes, Vector<const i64> hidden_counts,
    Vector<const i64> hidden_most, Vector<const i64> hidden_rows, i64 most_codes, i64 numerator, i64 denominator,
    Matrix<f64> worst, Matrix<i32> verdicts, i64 threads) {
  const Hidden hidden{hidden_starts, hidden_codes, hidden_counts, hidden_most, hidden_rows};
  const std::vector<i64> bounds = even_parts(worst.columns, threads, [](i64) { return STEPS_OF_LEAF; });
  in_parts(bounds, [&](i64, i64 from, i64 to) {
    Search search(most / static_cast<i64>(bounds.size() - 1),
                  {listed, list_starts, buckets, starts, values, shares, columns},
                  {levels, node_values, node_starts, first_leaves}, secret_levels);
    const Scratch<f64> sums(most_codes, 0);
    search.some_leaves(from, to, [&](i64 first, i64 leaves) {
      for (i64 place = 0; place < leaves; ++place) {
        const Vector<const i64> mine = search.matches_of(place);
        for (i64 secret = 0; secret < secret_levels.length; ++secret) {
          const Guess found = guess(search, mine, secret, hidden_offsets[secret], hidden, sums, columns.length,
                                    {numerator, denominator});
          worst[secret][first + place] = found.worst;
          verdicts[secret][first + place] = found.verdict;
        }
      }
    });
  });
}
EXPORT(guess_secrets)

}  // namespace slicing
