// Find which groups to join. See `joining.py` for what things mean.
#include <algorithm>
#include <limits>

#include "arguments.hpp"

namespace joining {

constexpr f64 INFINITE = std::numeric_limits<f64>::infinity();
constexpr i64 PATIENCE = 16;

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

// The tree of boxes around the groups.
struct Boxes {
  Matrix<const i32> lows, highs;
  Matrix<const i64> levels;
  Matrix<const f64> facts;

  // What joining a group with any group of a box costs at least, as `nearest` counts it.
  f64 least_cost(const Groups &groups, i64 one, i64 box) const {
    f64 joint = 0;
    for (i64 column = 0; column < lows.columns; ++column) {
      i32 low = groups.lows[one][column], high = groups.highs[one][column];
      if (lows[box][column] > high) {
        high = lows[box][column];
      } else if (highs[box][column] < low) {
        low = highs[box][column];
      }
      joint += groups.column_loss(column, low, high, std::max(groups.levels[one][column], levels[box][column]));
      if (joint == INFINITE) return INFINITE;
    }
    const f64 most_lost = facts[box][0], smallest = facts[box][1], largest = facts[box][2];
    const f64 size = static_cast<f64>(groups.sizes[one]), own = joint - groups.losses[one];
    const f64 other = std::max(joint - most_lost, 0.0);
    f64 least = own + other * smallest / size;
    if (facts[box][3] > 0) {  // the cost is then shared by the rows of both
      least = std::min(least, (size * own + smallest * other) / (size + smallest));
      least = std::min(least, (size * own + largest * other) / (size + largest));
    }
    return least;
  }
};

static void nearest(
    Vector<const i64> searching, Vector<const i8> is_failing, bool only_failing, Vector<const i64> own_row,
    Vector<const i64> kind_of, Matrix<const i8> safe, i64 most_looked_at, Vector<const i64> children,
    Matrix<const i64> spans, Vector<const i64> members, Matrix<const i32> box_lows, Matrix<const i32> box_highs,
    Matrix<const i64> box_levels, Matrix<const f64> box_facts, Vector<i64> stack, Vector<f64> stack_costs,
    Vector<const i64> sizes, Vector<const f64> losses, Matrix<const i32> lows, Matrix<const i32> highs,
    Matrix<const i64> levels, Vector<const i64> keys, Vector<const f64> loss_at, Matrix<const i64> first_key,
    Vector<const i64> highest, Matrix<i64> found, Matrix<f64> costs, Vector<i8> cut) {
  const Groups groups{sizes, losses, lows, highs, levels, keys, loss_at, first_key, highest};
  const Boxes boxes{box_lows, box_highs, box_levels, box_facts};
  const i64 wanted = found.columns;
  for (i64 place = 0; place < searching.length; ++place) {
    const i64 one = searching[place];
    i64 *best = found[place];
    f64 *cost_of = costs[place];
    i64 known = 0, looked_at = 0, waiting = 1;
    stack[0] = 0;
    stack_costs[0] = -INFINITE;
    cut[place] = 0;
    while (waiting > 0) {
      const i64 box = stack[--waiting];
      if (known == wanted && stack_costs[waiting] >= cost_of[wanted - 1]) continue;
      if (looked_at >= most_looked_at && (known > 0 || looked_at >= PATIENCE * most_looked_at)) {
        cut[place] = 1;
        break;
      }
      if (children[box] >= 0) {
        looked_at += 2;
        for (i64 child = children[box]; child < children[box] + 2; ++child) {
          stack_costs[waiting] = boxes.least_cost(groups, one, child);
          stack[waiting] = child;
          waiting += stack_costs[waiting] < INFINITE && (!only_failing || box_facts[child][3] > 0);
        }
        const bool both = waiting > 1 && stack[waiting - 2] == children[box];
        if (both && stack_costs[waiting - 2] < stack_costs[waiting - 1]) {  // the nearer one is looked at first
          std::swap(stack[waiting - 2], stack[waiting - 1]);
          std::swap(stack_costs[waiting - 2], stack_costs[waiting - 1]);
        }
        continue;
      }
      for (i64 index = spans[box][0]; index < spans[box][1]; ++index) {
        const i64 other = members[index];
        if (other == one || sizes[other] == 0 || (only_failing && !is_failing[other])) continue;
        if (!safe[own_row[place]][kind_of[other]]) continue;
        ++looked_at;
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
    }
    std::fill(best + known, best + wanted, i64{-1});
    std::fill(cost_of + known, cost_of + wanted, INFINITE);
  }
}
EXPORT(nearest)

static void widen(
    Vector<const i64> changed, Vector<const i64> box_of, Vector<const i64> parents, Matrix<i32> box_lows,
    Matrix<i32> box_highs, Matrix<f64> box_facts, Vector<const i8> is_failing, Vector<const i64> sizes,
    Vector<const f64> losses, Matrix<const i32> lows, Matrix<const i32> highs) {
  for (i64 group : changed) {
    for (i64 box = box_of[group]; box >= 0; box = parents[box]) {
      for (i64 column = 0; column < lows.columns; ++column) {
        box_lows[box][column] = std::min(box_lows[box][column], lows[group][column]);
        box_highs[box][column] = std::max(box_highs[box][column], highs[group][column]);
      }
      f64 *facts = box_facts[box];
      facts[0] = std::max(facts[0], losses[group]);
      facts[2] = std::max(facts[2], static_cast<f64>(sizes[group]));
      facts[3] = std::max(facts[3], is_failing[group] ? 1.0 : 0.0);
    }
  }
}
EXPORT(widen)

static void match_pairs(Vector<const i64> ones, Vector<const i64> others, Vector<i8> taken, Vector<i8> accepted) {
  for (i64 place = 0; place < ones.length; ++place) {
    if (!taken[ones[place]] && !taken[others[place]]) {
      taken[ones[place]] = taken[others[place]] = accepted[place] = 1;
    }
  }
}
EXPORT(match_pairs)

static void costs_of_pairs(
    Vector<const i64> ones, Vector<const i64> others, Vector<const i8> is_failing, Vector<const i64> sizes,
    Vector<const f64> losses, Matrix<const i32> lows, Matrix<const i32> highs, Matrix<const i64> levels,
    Vector<const i64> keys, Vector<const f64> loss_at, Matrix<const i64> first_key, Vector<const i64> highest,
    Vector<f64> costs) {
  const Groups groups{sizes, losses, lows, highs, levels, keys, loss_at, first_key, highest};
  for (i64 place = 0; place < ones.length; ++place) {
    const i64 one = ones[place], other = others[place];
    const f64 rows = static_cast<f64>(sizes[one] + sizes[other]), own = static_cast<f64>(sizes[one]);
    const f64 added = rows * groups.joint_loss(one, other, INFINITE) - own * losses[one] -
                      static_cast<f64>(sizes[other]) * losses[other];
    costs[place] = added / (is_failing[other] ? rows : own);
  }
}
EXPORT(costs_of_pairs)

static void costs_of_joining(
    i64 one, Vector<const i64> sizes, Vector<const f64> losses, Matrix<const i32> lows, Matrix<const i32> highs,
    Matrix<const i64> levels, Vector<const i64> keys, Vector<const f64> loss_at, Matrix<const i64> first_key,
    Vector<const i64> highest, Vector<f64> costs) {
  const Groups groups{sizes, losses, lows, highs, levels, keys, loss_at, first_key, highest};
  for (i64 other = 0; other < sizes.length; ++other) {
    if (other == one || sizes[other] == 0) continue;
    costs[other] = static_cast<f64>(sizes[one] + sizes[other]) * groups.joint_loss(one, other, INFINITE) -
                   groups.lost_before(one, other);
  }
}
EXPORT(costs_of_joining)

}  // namespace joining
