// Find which groups to join. See `joining.py` for what things mean.
#include <algorithm>
#include <limits>

#include "arguments.hpp"
#include "threads.hpp"

namespace joining {

constexpr f64 INFINITE = std::numeric_limits<f64>::infinity();

// What is known of all groups, and of the nodes that they show.
struct Groups {
  Vector<const i64> sizes;
  Vector<const f64> losses;
  Matrix<const i32> lows, highs;
  Matrix<const i64> levels;
  Vector<const i64> keys;
  Vector<const f64> loss_at;
  Matrix<const i64> first_key;
  Vector<const i64> highest;

  // What one column loses if it shows all codes from low to high, at this level or the next one that holds them.
  f64 column_loss(i64 column, i32 low, i32 high, i64 level) const {
    const i64 *first = first_key[column];
    while (keys[first[level] + low] != keys[first[level] + high]) ++level;
    return level > highest[column] ? INFINITE : loss_at[first[level] + high];
  }

  // What a row of two joined groups loses; infinity if that is above `most` or a level above its highest.
  f64 joint_loss(i64 a, i64 b, f64 most) const {
    f64 total = 0;
    for (i64 column = 0; column < lows.columns; ++column) {
      total += column_loss(column, std::min(lows[a][column], lows[b][column]), std::max(highs[a][column], highs[b][column]),
                           std::max(levels[a][column], levels[b][column]));
      if (total > most || total == INFINITE) return INFINITE;
    }
    return total;
  }

  f64 lost_before(i64 a, i64 b) const {
    return static_cast<f64>(sizes[a]) * losses[a] + static_cast<f64>(sizes[b]) * losses[b];
  }
};

static void nearest(
    Vector<const i64> searching, Vector<const i8> is_failing, bool only_failing, Vector<const i64> own_row,
    Vector<const i64> kind_of, Matrix<const i8> safe, Vector<const i64> cell_of, Vector<const i64> members,
    Vector<const i64> starts, Vector<const i64> sizes, Vector<const f64> losses, Matrix<const i32> lows,
    Matrix<const i32> highs, Matrix<const i64> levels, Vector<const i64> keys, Vector<const f64> loss_at,
    Matrix<const i64> first_key, Vector<const i64> highest, Matrix<i64> found, Matrix<f64> costs,
    i64 threads) {
  const Groups groups{sizes, losses, lows, highs, levels, keys, loss_at, first_key, highest};
  const i64 wanted = found.columns;
  const auto compared = [&](i64 place) {
    const i64 cell = cell_of[searching[place]];
    return starts[cell + 1] - starts[cell];
  };
  in_parts(even_parts(searching.length, threads, compared), [&](i64, i64 from, i64 to) {
    for (i64 place = from; place < to; ++place) {
      const i64 one = searching[place], cell = cell_of[one];
      i64 *best = found[place];
      f64 *cost_of = costs[place];
      i64 known = 0;
      for (i64 index = starts[cell]; index < starts[cell + 1]; ++index) {
        const i64 other = members[index];
        if (other == one || !safe[own_row[place]][kind_of[other]] || (only_failing && !is_failing[other])) continue;
        const f64 rows = static_cast<f64>(sizes[one] + sizes[other]);
        const f64 helped = is_failing[other] ? rows : static_cast<f64>(sizes[one]);
        const f64 before = groups.lost_before(one, other);
        const f64 joint =
            groups.joint_loss(one, other, known < wanted ? INFINITE : (cost_of[wanted - 1] * helped + before) / rows);
        if (joint == INFINITE) continue;
        const f64 cost = (rows * joint - before) / helped;
        if (known < wanted) {
          ++known;
        } else if (cost >= cost_of[wanted - 1]) {
          continue;
        }
        i64 at = known - 1;
        for (; at > 0 && cost_of[at - 1] > cost; --at) {
          cost_of[at] = cost_of[at - 1];
          best[at] = best[at - 1];
        }
        cost_of[at] = cost;
        best[at] = other;
      }
      std::fill(best + known, best + wanted, i64{-1});
      std::fill(cost_of + known, cost_of + wanted, INFINITE);
    }
  });
}
EXPORT(nearest)

static void match_pairs(Vector<const i64> ones, Vector<const i64> others, Vector<i8> taken, Vector<i8> accepted) {
  for (i64 place = 0; place < ones.length; ++place) {
    if (!taken[ones[place]] && !taken[others[place]]) {
      taken[ones[place]] = taken[others[place]] = accepted[place] = 1;
    }
  }
}
EXPORT(match_pairs)

static void costs_of_joining(
    i64 one, Vector<const i64> sizes, Vector<const f64> losses, Matrix<const i32> lows, Matrix<const i32> highs,
    Matrix<const i64> levels, Vector<const i64> keys, Vector<const f64> loss_at, Matrix<const i64> first_key,
    Vector<const i64> highest, Vector<f64> costs) {
  const Groups groups{sizes, losses, lows, highs, levels, keys, loss_at, first_key, highest};
  for (i64 other = 0; other < sizes.length; ++other) {
    if (other == one) continue;
    costs[other] = static_cast<f64>(sizes[one] + sizes[other]) * groups.joint_loss(one, other, INFINITE) -
                   groups.lost_before(one, other);
  }
}
EXPORT(costs_of_joining)

}  // namespace joining
