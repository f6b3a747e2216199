// Estimate how many rows of buckets satisfy a question. See `slicing_counts.py` for what things mean.
#include <cmath>
#include <vector>

#include "arguments.hpp"

namespace slicing {

constexpr f64 STEPS_OF_ONE = 0x1p24;  // parts of a row are counted in such steps, so that sums of them are exact
constexpr f64 WHOLE = 0x1p52;         // numbers from here on are whole

static f64 in_steps(f64 rows) {
  const f64 steps = rows * STEPS_OF_ONE;
  return (steps < WHOLE ? (steps + WHOLE) - WHOLE : steps) / STEPS_OF_ONE;  // halves become even
}

// A sum without error: as numbers that do not overlap, the smallest first (Shewchuk 1997).
class ExactSum {
 public:
  void add(f64 value) {
    std::size_t kept = 0;
    for (f64 part : parts_) {
      if (std::fabs(value) < std::fabs(part)) std::swap(value, part);
      const f64 sum = value + part, rest = part - (sum - value);
      if (rest != 0) parts_[kept++] = rest;
      value = sum;
    }
    parts_.resize(kept);
    parts_.push_back(value);
  }

  // The nearest number to the sum.
  f64 rounded() const {
    std::size_t left = parts_.size();
    if (left == 0) return 0;
    f64 high = parts_[--left], low = 0;
    while (left > 0 && low == 0) {
      const f64 before = high, part = parts_[--left];
      high = before + part;
      low = part - (high - before);
    }
    // Half way between two numbers, what is left below decides.
    if (left > 0 && ((low < 0 && parts_[left - 1] < 0) || (low > 0 && parts_[left - 1] > 0))) {
      const f64 twice = 2 * low, next = high + twice;
      if (twice == next - high) high = next;
    }
    return high;
  }

 private:
  std::vector<f64> parts_;
};

// Return the attribute, of some, that is satisfied by the smallest share of its codes: it rules out most parts.
static i64 most_demanding(i64 first, i64 last, Vector<const f64> shares, Vector<const i64> starts) {
  i64 found = first;
  f64 least = 2;
  for (i64 place = first; place < last; ++place) {
    f64 total = 0;
    for (i64 code = starts[place]; code < starts[place + 1]; ++code) total += shares[code];
    const f64 mean = total / static_cast<f64>(std::max<i64>(starts[place + 1] - starts[place], 1));
    if (mean < least) least = mean, found = place;
  }
  return found;
}

static f64 count_in_buckets(
    Matrix<const i32> codes, Vector<const i64> counts, Vector<const i64> bucket_of, Vector<const i64> sizes,
    Vector<const i64> attributes, Vector<const i64> column_starts, Vector<const f64> shares,
    Vector<const i64> share_starts) {
  const i64 parts = counts.length, buckets = sizes.length;
  Scratch<f64> estimate(buckets), rows(buckets);
  for (i64 bucket = 0; bucket < buckets; ++bucket) estimate[bucket] = static_cast<f64>(sizes[bucket]);
  for (i64 column = 0; column + 1 < column_starts.length; ++column) {
    const i64 first = column_starts[column], last = column_starts[column + 1];
    rows.fill(0);
    const i64 demanding = most_demanding(first, last, shares, share_starts);
    const i32 *demanded = codes[attributes[demanding]];
    const f64 *allowed = &shares[share_starts[demanding]];
    for (i64 part = 0; part < parts; ++part) {
      if (allowed[demanded[part]] == 0) continue;
      f64 fits = 1;  // a product in the order of the attributes, so that it is rounded the same way for any question
      for (i64 place = first; place < last && fits != 0; ++place) {
        fits *= shares[share_starts[place] + codes[attributes[place]][part]];
      }
      if (fits != 0) rows[bucket_of[part]] += in_steps(fits * static_cast<f64>(counts[part]));
    }
    for (i64 bucket = 0; bucket < buckets; ++bucket) {
      estimate[bucket] *= rows[bucket] / static_cast<f64>(std::max<i64>(sizes[bucket], 1));
    }
  }
  ExactSum sum;
  for (f64 one : estimate) {
    if (one != 0) sum.add(one);
  }
  return sum.rounded();
}
EXPORT(count_in_buckets)

}  // namespace slicing
