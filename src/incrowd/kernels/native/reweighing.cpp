// Compare what crowds show with what their people were expected to have. See `reweighing.py` for what things mean.
#include <algorithm>

#include "arguments.hpp"

namespace reweighing {

static void add_up_expected(
    Vector<const i64> offsets, Vector<const i64> crowds, Vector<const f64> weights, Vector<const i64> starts,
    Vector<const i32> values, Matrix<const f64> known, Vector<const f64> people, Vector<f64> expected) {
  Scratch<f64> inside(starts.length - 1, 0);
  for (i64 person = 0; person < offsets.length - 1; ++person) {
    for (i64 place = offsets[person]; place < offsets[person + 1]; ++place) {
      const i64 crowd = crowds[place];
      const f64 weight = weights[place] * people[person];
      inside[crowd] += weight;
      for (i64 entry = starts[crowd]; entry < starts[crowd + 1]; ++entry) {
        expected[entry] += weight * known[person][values[entry]];
      }
    }
  }
  for (i64 crowd = 0; crowd < starts.length - 1; ++crowd) {
    if (!(inside[crowd] > 0)) continue;
    for (i64 entry = starts[crowd]; entry < starts[crowd + 1]; ++entry) expected[entry] /= inside[crowd];
  }
}
EXPORT(add_up_expected)

static void compare_with_expected(
    Vector<const i64> offsets, Vector<const i64> crowds, Vector<const f64> weights, Vector<const i64> starts,
    Vector<const i32> values, Vector<const i64> counts, Vector<const i64> sizes, Matrix<const f64> known,
    Vector<const f64> expected, Matrix<f64> beliefs) {
  for (i64 person = 0; person < offsets.length - 1; ++person) {
    const f64 *before = known[person];
    f64 *after = beliefs[person];
    f64 total = 0;
    for (i64 place = offsets[person]; place < offsets[person + 1]; ++place) {
      const i64 crowd = crowds[place], first = starts[crowd], last = starts[crowd + 1];
      const auto share = [&](i64 entry) {
        const f64 shown = static_cast<f64>(counts[entry]) / static_cast<f64>(sizes[crowd]);
        return shown * before[values[entry]] / expected[entry];
      };
      f64 inside = 0;
      for (i64 entry = first; entry < last; ++entry) {
        if (expected[entry] > 0) inside += share(entry);
      }
      if (inside <= 0) continue;
      for (i64 entry = first; entry < last; ++entry) {
        if (!(expected[entry] > 0)) continue;
        // A crowd is as likely as before: what is known of values says nothing of where the person is.
        const f64 belief = weights[place] * share(entry) / inside;
        after[values[entry]] += belief;
        total += belief;
      }
    }
    if (total > 0) {
      for (i64 value = 0; value < known.columns; ++value) after[value] /= total;
    } else {
      std::copy(before, before + known.columns, after);
    }
  }
}
EXPORT(compare_with_expected)

}  // namespace reweighing
