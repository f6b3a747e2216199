// Cluster points, and merge clusters. See `clustering.py` for what things mean.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "threads.hpp"

namespace clustering {

constexpr f64 ANYTHING = std::numeric_limits<f64>::infinity();

constexpr i64 CHUNK = 512;  // so many points are looked at column by column: they stay near the processor

// The points that are in no cluster yet, in the order of their codes. They lie column by column, so that loops look at
// several at once. Those that were taken stay among them until they are many.
class Left {
 public:
  // Give every point with enough rows a cluster of its own, and keep the others.
  Left(Matrix<const f64> numbers, Matrix<const i32> paths, Vector<const i64> counts, i64 size, Vector<i64> cluster_of)
      : cluster_of_(cluster_of), points_(counts.length), rows_(counts.length), taken_(counts.length, 0) {
    for (i64 point = 0; point < counts.length; ++point) {
      if (counts[point] >= size) {
        cluster_of[point] = alone_++;
      } else {
        cluster_of[point] = -1;
        points_[length_] = point;
        rows_[length_++] = counts[point];
        rows_left_ += counts[point];
      }
    }
    copy_columns(numbers, numbers_);
    copy_columns(paths, paths_);
    for (const std::vector<f64> &own : numbers_) {
      has_missing_.push_back(std::any_of(own.begin(), own.end(), [](f64 number) { return std::isnan(number); }));
    }
  }
  i64 length() const { return length_; }  // with those that were taken
  i64 standing() const { return length_ - taken_number_; }
  i64 point(i64 index) const { return points_[index]; }
  i64 rows(i64 index) const { return rows_[index]; }
  bool is_taken(i64 index) const { return taken_[index] != 0; }
  const f64 *numbers(i64 column) const { return numbers_[static_cast<std::size_t>(column)].data(); }
  const i32 *paths(i64 place) const { return paths_[static_cast<std::size_t>(place)].data(); }
  bool has_missing(i64 column) const { return has_missing_[static_cast<std::size_t>(column)]; }

  i64 alone() const { return alone_; }  // how many points have a cluster of their own
  i64 rows_left() const { return rows_left_; }

  void take(i64 index, i64 cluster) {
    cluster_of_[points_[index]] = cluster;
    rows_left_ -= rows_[index];
    taken_[index] = 1;
    ++taken_number_;
  }

  // The place of the one left at the greatest of these distances. Those that were taken are dropped if they are many,
  // and places are other ones then.
  i64 furthest(const Scratch<f64> &distances) {
    i64 best = 0;
    f64 greatest = -1;
    for (i64 index = 0; index < length_; ++index) {
      if (distances[index] > greatest && !is_taken(index)) best = index, greatest = distances[index];
    }
    if (8 * taken_number_ <= length_) return best;
    best -= std::count(taken_.begin(), taken_.begin() + best, 1);
    for (std::vector<f64> &own : numbers_) drop_taken(own.data());
    for (std::vector<i32> &own : paths_) drop_taken(own.data());
    drop_taken(points_.begin());
    drop_taken(rows_.begin());
    length_ -= taken_number_;
    taken_number_ = 0;
    taken_.fill(0);
    return best;
  }

 private:
  template <class T> void copy_columns(Matrix<const T> rows, std::vector<std::vector<T>> &columns) const {
    for (i64 column = 0; column < rows.columns; ++column) {
      columns.emplace_back(static_cast<std::size_t>(length_));
      for (i64 index = 0; index < length_; ++index) columns.back()[static_cast<std::size_t>(index)] = rows[points_[index]][column];
    }
  }
  template <class T> void drop_taken(T *own) const {
    i64 kept = 0;
    for (i64 index = 0; index < length_; ++index) {
      own[kept] = own[index];
      kept += !is_taken(index);
    }
  }

  Vector<i64> cluster_of_;
  Scratch<i64> points_, rows_;
  Scratch<i8> taken_;
  std::vector<std::vector<f64>> numbers_;
  std::vector<std::vector<i32>> paths_;
  std::vector<bool> has_missing_;
  i64 length_ = 0, taken_number_ = 0, alone_ = 0, rows_left_ = 0;
};

// Add to sums how far numbers are from one of them: somebody who has none is at distance 1 from all who have one.
static void add_gaps(const f64 *__restrict numbers, f64 own, bool has_missing, i64 many, f64 *__restrict sums) {
  if (!has_missing) {
    for (i64 index = 0; index < many; ++index) sums[index] += std::abs(numbers[index] - own);
    return;
  }
  const f64 to_nobody = std::isnan(own) ? 0 : 1;
  for (i64 index = 0; index < many; ++index) {
    const f64 gap = std::abs(numbers[index] - own), apart = std::isnan(numbers[index]) ? to_nobody : 1;
    sums[index] += std::isnan(gap) ? apart : gap;
  }
}

// Add to sums a weight wherever a node is another one. Compilers look at several at once unless they join it with loops
// around it.
template <class Whole>
__attribute__((noinline)) static void add_differences(const i32 *__restrict nodes, i32 own, Whole weight, i64 many, Whole *__restrict sums) {
  for (i64 index = 0; index < many; ++index) sums[index] += nodes[index] != own ? weight : 0;
}

// Clusters by maximum distance to the average vector, one cluster after the other.
class Mdav {
 public:
  Mdav(Matrix<const f64> numbers, Matrix<const i32> paths, Vector<const i64> path_weights, i64 scale,
       Vector<const i64> counts, i64 size, i64 nodes, Vector<i64> cluster_of)
      : columns_(numbers.columns), path_weights_(path_weights), scale_(scale),
        all_weights_(std::accumulate(path_weights.begin(), path_weights.end(), i64{0})), size_(size),
        left_(numbers, paths, counts, size, cluster_of), clusters_(left_.alone()),
        node_weights_(nodes, 0), means_(columns_), known_(columns_), rows_(left_.length()), distances_(left_.length()),
        near_(std::min(size, left_.length()) + 1), near_distances_(near_.length()) {
    for (i64 index = 0; index < left_.length(); ++index) count_nodes(index, left_.rows(index));
  }

  i64 cluster() {
    while (left_.rows_left() >= 2 * size_) {
      const bool twice = left_.rows_left() >= 3 * size_;
      const i64 opposite = take_around(furthest_from_center());
      if (twice) take_around(opposite);
    }
    const bool some = left_.standing() > 0;
    for (i64 index = 0; index < left_.length(); ++index) {
      if (!left_.is_taken(index)) left_.take(index, clusters_);
    }
    return clusters_ + (some ? 1 : 0);
  }

 private:
  // Keep how many rows left have each node, times the node's weight.
  void count_nodes(i64 index, i64 rows) {
    for (i64 place = 0; place < path_weights_.length; ++place) {
      node_weights_[left_.paths(place)[index]] += rows * path_weights_[place];
    }
  }

  // Fill in how far everybody is from one of them: over columns, the sum of shares of the line or of the hierarchy's
  // height. Levels are whole numbers, so that the same differences in other columns tie exactly.
  template <class Whole> void measure_from(i64 center) {
    Whole levels[CHUNK];
    for (i64 first = 0; first < left_.length(); first += CHUNK) {
      const i64 many = std::min(CHUNK, left_.length() - first);
      f64 *sums = distances_.begin() + first;
      std::fill(sums, sums + many, 0.0);
      for (i64 column = 0; column < columns_; ++column) {
        const f64 *numbers = left_.numbers(column);
        add_gaps(numbers + first, numbers[center], left_.has_missing(column), many, sums);
      }
      std::fill(levels, levels + many, 0);
      for (i64 place = 0; place < path_weights_.length; ++place) {
        const i32 *nodes = left_.paths(place);
        add_differences(nodes + first, nodes[center], static_cast<Whole>(path_weights_[place]), many, levels);
      }
      for (i64 index = 0; index < many; ++index) sums[index] += static_cast<f64>(levels[index]) / static_cast<f64>(scale_);
    }
  }

  // The center of an ordered column is its mean; missing values have no say in it.
  void find_center() {
    for (i64 index = 0; index < left_.length(); ++index) rows_[index] = left_.is_taken(index) ? 0 : static_cast<f64>(left_.rows(index));
    for (i64 column = 0; column < columns_; ++column) {
      const f64 *numbers = left_.numbers(column);
      f64 sum = 0, known = 0;
      if (left_.has_missing(column)) {
        for (i64 index = 0; index < left_.length(); ++index) {
          if (std::isnan(numbers[index])) continue;
          sum += rows_[index] * numbers[index];
          known += rows_[index];
        }
      } else {
        for (i64 index = 0; index < left_.length(); ++index) sum += rows_[index] * numbers[index];
        known = static_cast<f64>(left_.rows_left());
      }
      means_[column] = known > 0 ? sum / known : sum;
      known_[column] = known;
    }
  }

  // The place of the point furthest from the center of all points left. The center of a column of names is all its
  // names at once: the distance from it is the mean distance from everybody left.
  i64 furthest_from_center() {
    find_center();
    const f64 rows_left = static_cast<f64>(left_.rows_left()), whole = static_cast<f64>(scale_ * left_.rows_left());
    i64 others[CHUNK];
    for (i64 first = 0; first < left_.length(); first += CHUNK) {
      const i64 many = std::min(CHUNK, left_.length() - first);
      f64 *sums = distances_.begin() + first;
      std::fill(sums, sums + many, 0.0);
      for (i64 column = 0; column < columns_; ++column) {
        // Those who miss the value are at distance 1, the others are where their mean is.
        const f64 *numbers = left_.numbers(column) + first, mean = means_[column], known = known_[column];
        const f64 missing = known / rows_left;
        for (i64 index = 0; index < many; ++index) {
          const f64 distance = (std::abs(numbers[index] - mean) * known + (rows_left - known)) / rows_left;
          sums[index] += std::isnan(distance) ? missing : distance;
        }
      }
      std::fill(others, others + many, all_weights_ * left_.rows_left());
      for (i64 place = 0; place < path_weights_.length; ++place) {
        const i32 *nodes = left_.paths(place) + first;
        for (i64 index = 0; index < many; ++index) others[index] -= node_weights_[nodes[index]];
      }
      for (i64 index = 0; index < many; ++index) sums[index] += static_cast<f64>(others[index]) / whole;
    }
    return left_.furthest(distances_);
  }

  // Put a point and its nearest ones into a cluster of at least `size` rows; return the place of the one left that is
  // furthest from it.
  i64 take_around(i64 center) {
    all_weights_ <= INT32_MAX ? measure_from<i32>(center) : measure_from<i64>(center);
    distances_[center] = -1;  // it is the first of its cluster, whoever is as near
    const i64 needed = std::min(size_, left_.standing());  // every point brings at least one row
    i64 found = 0;
    f64 limit = ANYTHING;
    for (i64 index = 0; index < left_.length(); ++index) {
      if (distances_[index] >= limit || left_.is_taken(index)) continue;
      if (found < needed) ++found;
      insert_near(found - 1, index, distances_[index]);
      if (found == needed) limit = near_distances_[found - 1];
    }
    i64 taken = 0;
    for (i64 place = 0; place < found && taken < size_; ++place) {
      const i64 index = near_[place];
      taken += left_.rows(index);
      count_nodes(index, -left_.rows(index));
      left_.take(index, clusters_);
    }
    ++clusters_;
    return left_.furthest(distances_);
  }

  // Equal distances stay in the order of their codes.
  void insert_near(i64 place, i64 index, f64 distance) {
    for (; place > 0 && near_distances_[place - 1] > distance; --place) {
      near_distances_[place] = near_distances_[place - 1];
      near_[place] = near_[place - 1];
    }
    near_distances_[place] = distance;
    near_[place] = index;
  }

  i64 columns_;
  Vector<const i64> path_weights_;
  i64 scale_, all_weights_, size_;
  Left left_;
  i64 clusters_;
  Scratch<i64> node_weights_;
  Scratch<f64> means_, known_, rows_, distances_;
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
      : numbers_(numbers), paths_(paths), columns_{path_starts}, size_(size),
        left_(numbers, paths, counts, size, cluster_of), clusters_(left_.alone()), spreads_(left_.length()),
        from_start_(left_.length()), low_(numbers.columns), high_(numbers.columns), levels_(columns_.length()),
        no_levels_(columns_.length(), 0) {}

  i64 cluster() {
    if (left_.length() == 0) return clusters_;
    measure_from(0);
    i64 start = left_.furthest(from_start_);
    while (left_.rows_left() >= size_) {
      grow_from(start);
      start = left_.furthest(from_start_);
    }
    for (i64 index = 0; index < left_.length(); ++index) {
      if (!left_.is_taken(index)) left_.take(index, clusters_++);
    }
    return clusters_;
  }

 private:
  // Fill in what each point left and one of them span together: over columns, the sum of shares of the line or of the
  // hierarchy's height.
  void measure_from(i64 start) {
    i32 levels[CHUNK];
    for (i64 first = 0; first < left_.length(); first += CHUNK) {
      const i64 many = std::min(CHUNK, left_.length() - first);
      f64 *sums = from_start_.begin() + first;
      std::fill(sums, sums + many, 0.0);
      for (i64 column = 0; column < numbers_.columns; ++column) {
        const f64 *numbers = left_.numbers(column);
        add_gaps(numbers + first, numbers[start], left_.has_missing(column), many, sums);
      }
      for (i64 column = 0; column < columns_.length(); ++column) {
        std::fill(levels, levels + many, 0);
        for (i64 place = columns_.path_starts[column]; place < columns_.path_starts[column + 1]; ++place) {
          const i32 *nodes = left_.paths(place);
          add_differences(nodes + first, nodes[start], 1, many, levels);
        }
        const f64 height = static_cast<f64>(columns_.height(column));
        for (i64 index = 0; index < many; ++index) sums[index] += static_cast<f64>(levels[index]) / height;
      }
    }
    std::copy(from_start_.begin(), from_start_.begin() + left_.length(), spreads_.begin());
  }

  void grow_from(i64 start) {
    const i64 own = left_.point(start);
    measure_from(start);
    std::copy(numbers_[own], numbers_[own] + numbers_.columns, low_.begin());
    std::copy(numbers_[own], numbers_[own] + numbers_.columns, high_.begin());
    levels_.fill(0);
    i64 taken = take(start);
    while (taken < size_) {
      const i64 index = least_widening(own), point = left_.point(index);
      widen(low_.begin(), high_.begin(), levels_.begin(), paths_[own], numbers_[point], numbers_.columns, paths_[point],
            columns_);
      taken += take(index);
    }
    ++clusters_;
  }

  i64 take(i64 index) {
    left_.take(index, clusters_);
    return left_.rows(index);
  }

  // What a point and the cluster span only grows with the cluster: the spread found earlier is a bound, and a point
  // whose bound does not beat the best one need not be looked at again.
  i64 least_widening(i64 start) {
    const Box cluster{low_.begin(), high_.begin(), levels_.begin(), paths_[start]};
    i64 best = 0;
    f64 least = ANYTHING;
    for (i64 index = 0; index < left_.length(); ++index) {
      if (spreads_[index] >= least || left_.is_taken(index)) continue;
      const i64 point = left_.point(index);
      const Box single{numbers_[point], numbers_[point], no_levels_.begin(), paths_[point]};
      spreads_[index] = joint_spread(cluster, single, numbers_.columns, columns_, least);
      if (spreads_[index] < least) best = index, least = spreads_[index];
    }
    return best;
  }

  Matrix<const f64> numbers_;
  Matrix<const i32> paths_;
  Columns columns_;
  i64 size_;
  Left left_;
  i64 clusters_;
  Scratch<f64> spreads_, from_start_, low_, high_;
  Scratch<i64> levels_, no_levels_;
};

static i64 k_member(
    Matrix<const f64> numbers, Matrix<const i32> paths, Vector<const i64> path_starts, Vector<const i64> counts,
    i64 size, Vector<i64> cluster_of) {
  return KMember(numbers, paths, path_starts, counts, size, cluster_of).cluster();
}
EXPORT(k_member)

// Threads share the clusters: each goes through all points, and looks at those of its own clusters.
static void box_clusters(
    Matrix<const f64> numbers, Matrix<const i32> paths, Vector<const i64> path_starts, Vector<const i64> counts,
    Vector<const i64> cluster_of, Matrix<f64> low, Matrix<f64> high, Matrix<i64> levels, Vector<i64> member,
    Vector<f64> spreads, Vector<i64> rows, i64 threads) {
  const Columns columns{path_starts};
  const i64 steps = counts.length * (numbers.columns + paths.columns) / std::max<i64>(1, member.length) + 1;
  in_parts(even_parts(member.length, threads, [=](i64) { return steps; }), [&](i64, i64 first, i64 last) {
    for (i64 point = 0; point < counts.length; ++point) {
      const i64 cluster = cluster_of[point];
      if (cluster < first || cluster >= last) continue;
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
    for (i64 cluster = first; cluster < last; ++cluster) {
      const Box box{low[cluster], high[cluster], levels[cluster], paths[member[cluster]]};
      spreads[cluster] = joint_spread(box, box, numbers.columns, columns, ANYTHING);
    }
  });
}
EXPORT(box_clusters)

static void nearest_clusters(
    Matrix<const i32> paths, Vector<const i64> path_starts, Matrix<const f64> low, Matrix<const f64> high,
    Matrix<const i64> levels, Vector<const i64> member, Vector<const f64> spreads, Vector<const i64> rows,
    Vector<const i64> failing, i64 reach, Vector<i64> nearest, Vector<f64> losses, i64 threads) {
  const Columns columns{path_starts};
  const auto box_of = [&](i64 cluster) {
    return Box{low[cluster], high[cluster], levels[cluster], paths[member[cluster]]};
  };
  const auto loss_of = [&](i64 cluster) { return static_cast<f64>(rows[cluster]) * spreads[cluster]; };
  const i64 steps = 1 + std::min(2 * reach, rows.length);
  const std::vector<i64> bounds = even_parts(failing.length, threads, [=](i64) { return steps; });
  const i64 parts = static_cast<i64>(bounds.size()) - 1;
  // Threads take turns: clusters next to each other take about as long, and those far apart may not.
  in_parts(bounds, [&](i64 part, i64, i64) {
    for (i64 index = part; index < failing.length; index += parts) {
      const i64 own = failing[index];
      const Box own_box = box_of(own);
      i64 best = -1;
      f64 least = ANYTHING;
      const i64 first = std::max<i64>(own - reach, 0), last = std::min(own + reach + 1, rows.length);
      for (i64 other = first; other < last; ++other) {
        if (other == own) continue;
        const f64 before = loss_of(own) + loss_of(other), together = static_cast<f64>(rows[own] + rows[other]);
        const f64 limit = (least + before) / together;
        if (std::max(spreads[own], spreads[other]) >= limit) continue;  // together they span no less than each alone
        const f64 spread = joint_spread(own_box, box_of(other), low.columns, columns, limit);
        const f64 loss = together * spread - before;
        if (spread < limit && loss < least) best = other, least = loss;
      }
      nearest[index] = best;
      losses[index] = least;
    }
  });
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
