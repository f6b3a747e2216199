// Cluster points, and merge clusters. See `clustering.py` for what things mean.
#include <algorithm>
#include <cmath>
#include <limits>

#include "arguments.hpp"

namespace clustering {

constexpr f64 ANYTHING = std::numeric_limits<f64>::infinity();

// The points that are in no cluster yet, in the order of their codes.
class Left {
 public:
  // Give every point with enough rows a cluster of its own, and keep the others.
  Left(Vector<const i64> counts, i64 size, Vector<i64> cluster_of) : points_(counts.length), cluster_of_(cluster_of) {
    for (i64 point = 0; point < counts.length; ++point) {
      if (counts[point] >= size) {
        cluster_of[point] = alone_++;
      } else {
        cluster_of[point] = -1;
        points_[length_++] = point;
        rows_ += counts[point];
      }
    }
  }
  i64 length() const { return length_; }
  i64 operator[](i64 index) const { return points_[index]; }
  bool is_taken(i64 index) const { return cluster_of_[points_[index]] >= 0; }

  i64 alone() const { return alone_; }  // how many points have a cluster of their own
  i64 rows() const { return rows_; }    // of the points that were left at first

  // Drop the points that are in clusters now; return the place of the one at the greatest of these distances.
  i64 drop_taken(const Scratch<f64> &distances) {
    i64 kept = 0, best = 0;
    f64 furthest = -1;
    for (i64 index = 0; index < length_; ++index) {
      if (is_taken(index)) continue;
      if (distances[index] > furthest) best = kept, furthest = distances[index];
      points_[kept++] = points_[index];
    }
    length_ = kept;
    return best;
  }

 private:
  Scratch<i64> points_;
  Vector<i64> cluster_of_;
  i64 length_ = 0, alone_ = 0, rows_ = 0;
};

// Clusters by maximum distance to the average vector, one cluster after the other.
class Mdav {
 public:
  Mdav(Matrix<const f64> numbers, Matrix<const i32> paths, Vector<const i64> path_weights, i64 scale,
       Vector<const i64> counts, i64 size, i64 nodes, Vector<i64> cluster_of)
      : numbers_(numbers), paths_(paths), path_weights_(path_weights), scale_(scale), counts_(counts), size_(size),
        cluster_of_(cluster_of), left_(counts, size, cluster_of), rows_left_(left_.rows()), clusters_(left_.alone()),
        node_counts_(nodes, 0), means_(numbers.columns), known_(numbers.columns), distances_(left_.length()),
        near_(std::min(size, left_.length()) + 1), near_distances_(near_.length()) {
    for (i64 index = 0; index < left_.length(); ++index) count_nodes(left_[index], counts[left_[index]]);
  }

  i64 cluster() {
    while (rows_left_ >= 2 * size_) {
      const bool twice = rows_left_ >= 3 * size_;
      const i64 opposite = take_around(left_[furthest_from_center()]);
      if (twice) take_around(left_[opposite]);
    }
    for (i64 index = 0; index < left_.length(); ++index) cluster_of_[left_[index]] = clusters_;
    return clusters_ + (left_.length() > 0 ? 1 : 0);
  }

 private:
  void count_nodes(i64 point, i64 rows) {
    for (i64 place = 0; place < paths_.columns; ++place) node_counts_[paths_[point][place]] += rows;
  }

  // The distance of two points: over columns, the sum of shares of the line or of the hierarchy's height.
  f64 apart(i64 a, i64 b) const {
    f64 total = 0;
    for (i64 place = 0; place < numbers_.columns; ++place) {
      const f64 one = numbers_[a][place], other = numbers_[b][place];
      f64 gap = std::abs(one - other);
      if (std::isnan(gap)) gap = std::isnan(one) && std::isnan(other) ? 0 : 1;
      total += gap;
    }
    i64 levels = 0;  // whole numbers: the same differences in other columns tie exactly
    for (i64 place = 0; place < paths_.columns; ++place) {
      levels += paths_[a][place] != paths_[b][place] ? path_weights_[place] : 0;
    }
    return total + static_cast<f64>(levels) / static_cast<f64>(scale_);
  }

  // The center of an ordered column is its mean; missing values have no say in it.
  void find_center() {
    means_.fill(0);
    known_.fill(0);
    for (i64 index = 0; index < left_.length(); ++index) {
      const f64 *own = numbers_[left_[index]], rows = static_cast<f64>(counts_[left_[index]]);
      for (i64 place = 0; place < numbers_.columns; ++place) {
        if (std::isnan(own[place])) continue;
        means_[place] += rows * own[place];
        known_[place] += rows;
      }
    }
    for (i64 place = 0; place < numbers_.columns; ++place) {
      if (known_[place] > 0) means_[place] /= known_[place];
    }
  }

  // The place in `left` of the point furthest from the center of all points left. The center of a column of names is
  // all its names at once: the distance from it is the mean distance from everybody left.
  i64 furthest_from_center() {
    find_center();
    const f64 rows_left = static_cast<f64>(rows_left_), whole = static_cast<f64>(scale_ * rows_left_);
    i64 best = 0;
    f64 furthest = -1;
    for (i64 index = 0; index < left_.length(); ++index) {
      const f64 *own = numbers_[left_[index]];
      const i32 *path = paths_[left_[index]];
      f64 distance = 0;
      for (i64 place = 0; place < numbers_.columns; ++place) {
        if (std::isnan(own[place])) {
          distance += known_[place] / rows_left;
        } else {
          // those who miss the value are at distance 1, the others are where their mean is
          const f64 others = std::abs(own[place] - means_[place]) * known_[place];
          distance += (others + (rows_left - known_[place])) / rows_left;
        }
      }
      i64 others = 0;
      for (i64 place = 0; place < paths_.columns; ++place) {
        others += path_weights_[place] * (rows_left_ - node_counts_[path[place]]);
      }
      distance += static_cast<f64>(others) / whole;
      if (distance > furthest) best = index, furthest = distance;
    }
    return best;
  }

  // Put a point and its nearest ones into a cluster of at least `size` rows; return the place among those still left of
  // the one furthest from it.
  i64 take_around(i64 center) {
    const i64 needed = std::min(size_, left_.length());  // every point brings at least one row
    i64 found = 0;
    for (i64 index = 0; index < left_.length(); ++index) {
      const i64 point = left_[index];
      distances_[index] = apart(center, point);
      const f64 distance = point == center ? -1 : distances_[index];
      if (found < needed || distance < near_distances_[found - 1]) {
        if (found < needed) ++found;
        insert_near(found - 1, point, distance);
      }
    }
    i64 taken = 0;
    for (i64 index = 0; index < found && taken < size_; ++index) {
      const i64 point = near_[index];
      cluster_of_[point] = clusters_;
      taken += counts_[point];
      count_nodes(point, -counts_[point]);
    }
    ++clusters_;
    rows_left_ -= taken;
    return left_.drop_taken(distances_);
  }

  // Equal distances stay in the order of their codes.
  void insert_near(i64 place, i64 point, f64 distance) {
    for (; place > 0 && near_distances_[place - 1] > distance; --place) {
      near_distances_[place] = near_distances_[place - 1];
      near_[place] = near_[place - 1];
    }
    near_distances_[place] = distance;
    near_[place] = point;
  }

  Matrix<const f64> numbers_;
  Matrix<const i32> paths_;
  Vector<const i64> path_weights_;
  i64 scale_;
  Vector<const i64> counts_;
  i64 size_;
  Vector<i64> cluster_of_;
  Left left_;
  i64 rows_left_, clusters_;
  Scratch<i64> node_counts_;
  Scratch<f64> means_, known_, distances_;
  Scratch<i64> near_;
  Scratch<f64> near_distances_;
};

static i64 mdav(
    Matrix<const f64> numbers, Matrix<const i32> paths, Vector<const i64> path_weights, i64 scale,
    Vector<const i64> counts, i64 size, i64 nodes, Vector<i64> cluster_of) {
  return Mdav(numbers, paths, path_weights, scale, counts, size, nodes, cluster_of).cluster();
}
EXPORT(mdav)

// What a cluster spans: of ordered columns the ends, of columns of names a member's path and the common nodes' levels.
struct Box {
  const f64 *low, *high;
  const i64 *levels;
  const i32 *path;
};

// Columns of names: where each one's nodes are in a path.
struct Columns {
  Vector<const i64> path_starts;

  i64 length() const { return path_starts.length - 1; }
  i64 height(i64 column) const { return path_starts[column + 1] - path_starts[column]; }
  // The level of the lowest node that holds both.
  i64 common_level(i64 column, const i32 *path, const i32 *other) const {
    i64 level = 0;
    for (i64 place = path_starts[column]; place < path_starts[column + 1]; ++place) level += path[place] != other[place];
    return level;
  }
};

// What two boxes together span, summed over columns; anything of at least `limit` once it is reached.
static f64 joint_spread(const Box &a, const Box &b, i64 numbers, const Columns &columns, f64 limit) {
  f64 total = 0;
  for (i64 place = 0; place < numbers; ++place) {
    if (std::isnan(a.low[place]) || std::isnan(b.low[place])) {
      if (!(std::isnan(a.low[place]) && std::isnan(b.low[place]))) total += 1;
    } else {
      total += std::max(a.high[place], b.high[place]) - std::min(a.low[place], b.low[place]);
    }
  }
  for (i64 column = 0; column < columns.length() && total < limit; ++column) {
    const i64 level = std::max({columns.common_level(column, a.path, b.path), a.levels[column], b.levels[column]});
    total += static_cast<f64>(level) / static_cast<f64>(columns.height(column));
  }
  return total;
}

// Let a box, one of whose members has this path, take in a point.
static void widen(
    f64 *low, f64 *high, i64 *levels, const i32 *path, const f64 *numbers, i64 many, const i32 *other,
    const Columns &columns) {
  for (i64 place = 0; place < many; ++place) {
    const f64 number = numbers[place];
    if (std::isnan(low[place]) != std::isnan(number)) {
      low[place] = 0;
      high[place] = 1;
    } else if (!std::isnan(number)) {
      low[place] = std::min(low[place], number);
      high[place] = std::max(high[place], number);
    }
  }
  for (i64 column = 0; column < columns.length(); ++column) {
    levels[column] = std::max(columns.common_level(column, path, other), levels[column]);
  }
}

// Grows clusters, each time by the point that widens the cluster least.
class KMember {
 public:
  KMember(Matrix<const f64> numbers, Matrix<const i32> paths, Vector<const i64> path_starts, Vector<const i64> counts,
          i64 size, Vector<i64> cluster_of)
      : numbers_(numbers), paths_(paths), columns_{path_starts}, counts_(counts), size_(size), cluster_of_(cluster_of),
        left_(counts, size, cluster_of), rows_left_(left_.rows()), clusters_(left_.alone()),
        spreads_(left_.length()), from_start_(left_.length()), low_(numbers.columns), high_(numbers.columns),
        levels_(columns_.length()), no_levels_(columns_.length(), 0) {}

  i64 cluster() {
    if (left_.length() == 0) return clusters_;
    measure_from(left_[0]);
    i64 start = left_[std::max_element(spreads_.begin(), spreads_.end()) - spreads_.begin()];
    while (rows_left_ >= size_) {
      grow_from(start);
      const i64 furthest = left_.drop_taken(from_start_);
      if (left_.length() > 0) start = left_[furthest];
    }
    for (i64 index = 0; index < left_.length(); ++index) cluster_of_[left_[index]] = clusters_ + index;
    return clusters_ + left_.length();
  }

 private:
  Box single(i64 point) const { return {numbers_[point], numbers_[point], no_levels_.begin(), paths_[point]}; }

  // Fill in how far each point left is from one point.
  void measure_from(i64 start) {
    for (i64 index = 0; index < left_.length(); ++index) {
      spreads_[index] = joint_spread(single(start), single(left_[index]), numbers_.columns, columns_, ANYTHING);
    }
  }

  void grow_from(i64 start) {
    measure_from(start);
    std::copy(spreads_.begin(), spreads_.begin() + left_.length(), from_start_.begin());
    std::copy(numbers_[start], numbers_[start] + numbers_.columns, low_.begin());
    std::copy(numbers_[start], numbers_[start] + numbers_.columns, high_.begin());
    levels_.fill(0);
    i64 taken = take(start);
    while (taken < size_) {
      const i64 point = left_[least_widening(start)];
      widen(low_.begin(), high_.begin(), levels_.begin(), paths_[start], numbers_[point], numbers_.columns,
            paths_[point], columns_);
      taken += take(point);
    }
    rows_left_ -= taken;
    ++clusters_;
  }

  i64 take(i64 point) {
    cluster_of_[point] = clusters_;
    return counts_[point];
  }

  // What a point and the cluster span only grows with the cluster: the spread found earlier is a bound, and a point
  // whose bound does not beat the best one need not be looked at again.
  i64 least_widening(i64 start) {
    const Box cluster{low_.begin(), high_.begin(), levels_.begin(), paths_[start]};
    i64 best = 0;
    f64 least = ANYTHING;
    for (i64 index = 0; index < left_.length(); ++index) {
      if (spreads_[index] >= least || left_.is_taken(index)) continue;
      spreads_[index] = joint_spread(cluster, single(left_[index]), numbers_.columns, columns_, least);
      if (spreads_[index] < least) best = index, least = spreads_[index];
    }
    return best;
  }

  Matrix<const f64> numbers_;
  Matrix<const i32> paths_;
  Columns columns_;
  Vector<const i64> counts_;
  i64 size_;
  Vector<i64> cluster_of_;
  Left left_;
  i64 rows_left_, clusters_;
  Scratch<f64> spreads_, from_start_, low_, high_;
  Scratch<i64> levels_, no_levels_;
};

static i64 k_member(
    Matrix<const f64> numbers, Matrix<const i32> paths, Vector<const i64> path_starts, Vector<const i64> counts,
    i64 size, Vector<i64> cluster_of) {
  return KMember(numbers, paths, path_starts, counts, size, cluster_of).cluster();
}
EXPORT(k_member)

static void box_clusters(
    Matrix<const f64> numbers, Matrix<const i32> paths, Vector<const i64> path_starts, Vector<const i64> counts,
    Vector<const i64> cluster_of, Matrix<f64> low, Matrix<f64> high, Matrix<i64> levels, Vector<i64> member,
    Vector<f64> spreads, Vector<i64> rows) {
  const Columns columns{path_starts};
  for (i64 point = 0; point < counts.length; ++point) {
    const i64 cluster = cluster_of[point];
    rows[cluster] += counts[point];
    if (member[cluster] < 0) {
      member[cluster] = point;
      std::copy(numbers[point], numbers[point] + numbers.columns, low[cluster]);
      std::copy(numbers[point], numbers[point] + numbers.columns, high[cluster]);
    } else {
      widen(low[cluster], high[cluster], levels[cluster], paths[member[cluster]], numbers[point], numbers.columns,
            paths[point], columns);
    }
  }
  for (i64 cluster = 0; cluster < member.length; ++cluster) {
    const Box box{low[cluster], high[cluster], levels[cluster], paths[member[cluster]]};
    spreads[cluster] = joint_spread(box, box, numbers.columns, columns, ANYTHING);
  }
}
EXPORT(box_clusters)

static void nearest_clusters(
    Matrix<const i32> paths, Vector<const i64> path_starts, Matrix<const f64> low, Matrix<const f64> high,
    Matrix<const i64> levels, Vector<const i64> member, Vector<const f64> spreads, Vector<const i64> rows,
    Vector<const i64> failing, i64 reach, Vector<i64> nearest, Vector<f64> losses) {
  const Columns columns{path_starts};
  const auto box_of = [&](i64 cluster) {
    return Box{low[cluster], high[cluster], levels[cluster], paths[member[cluster]]};
  };
  const auto loss_of = [&](i64 cluster) { return static_cast<f64>(rows[cluster]) * spreads[cluster]; };
  for (i64 index = 0; index < failing.length; ++index) {
    const i64 own = failing[index];
    const Box own_box = box_of(own);
    nearest[index] = -1;
    losses[index] = ANYTHING;
    const i64 first = std::max<i64>(own - reach, 0), last = std::min(own + reach + 1, rows.length);
    for (i64 other = first; other < last; ++other) {
      if (other == own) continue;
      const f64 before = loss_of(own) + loss_of(other), together = static_cast<f64>(rows[own] + rows[other]);
      const f64 limit = (losses[index] + before) / together;
      if (std::max(spreads[own], spreads[other]) >= limit) continue;  // together they span no less than each alone
      const f64 spread = joint_spread(own_box, box_of(other), low.columns, columns, limit);
      const f64 loss = together * spread - before;
      if (spread < limit && loss < losses[index]) nearest[index] = other, losses[index] = loss;
    }
  }
}
EXPORT(nearest_clusters)

static void join_failing(
    Vector<const i64> failing, Vector<const i64> nearest, Vector<const i64> order, Vector<i64> becomes) {
  Scratch<i8> fails(becomes.length, 0), used(becomes.length, 0);
  for (i64 cluster = 0; cluster < becomes.length; ++cluster) becomes[cluster] = cluster;
  for (i64 cluster : failing) fails[cluster] = 1;
  for (i64 index : order) {
    const i64 own = failing[index], other = nearest[index];
    if (used[own] || (fails[other] && used[other])) continue;
    used[own] = used[other] = 1;
    becomes[own] = other;
  }
}
EXPORT(join_failing)

}  // namespace clustering
