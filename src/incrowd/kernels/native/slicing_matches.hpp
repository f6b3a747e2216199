// Which buckets people match: the entries of a bucket and the children of a node are intersected, level by level.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>

#include "threads.hpp"

namespace slicing {

constexpr i64 STEPS_OF_LEAF = 8;  // about what the matches of a leaf take

// Products of shares that sink below this are scaled up by as much, so that they never become zero.
constexpr int TINY_EXPONENT = -500;
constexpr f64 TINY = 0x1p-500;

// The product of the shares of a match's entries, and how often it was scaled up.
struct Degree {
  f64 product;
  i64 scaled;

  Degree times(f64 share) const {
    const f64 smaller = product * share;
    return smaller < TINY ? Degree{smaller / TINY, scaled + 1} : Degree{smaller, scaled};
  }
  // The product among others, all of which stay scaled up so many times.
  f64 beside(i64 least_scaled) const {
    if (scaled == least_scaled) return product;
    return std::ldexp(product, TINY_EXPONENT * static_cast<int>(scaled - least_scaled));
  }
};

// The entries of all columns' buckets; `listed` are those of the first column searched, value by value.
struct Entries {
  Vector<const i64> listed, list_starts, buckets;
  Matrix<const i64> starts;
  Vector<const i32> values;
  Vector<const f64> shares;
  Vector<const i64> columns;
};

struct Trie {
  Vector<const i64> levels;
  Vector<const i32> values;
  Vector<const i64> starts, first_leaves;

  i64 depth() const { return levels.length - 1; }
  i64 roots() const { return levels[1]; }
  i64 leaves() const { return levels[depth()] - levels[depth() - 1]; }
  i64 first_leaf() const { return levels[depth() - 1]; }
  i64 end_of_leaves(i64 root) const { return root + 1 == roots() ? levels[depth()] : first_leaves[root + 1]; }
};

// Return the first place from here on whose value is not below this one; near places are found soonest.
template <class T> i64 seek(Vector<const T> values, i64 place, i64 end, T value) {
  i64 step = 1;
  for (; place + step < end && values[place + step] < value; step *= 2) place += step;
  i64 low = place, high = std::min(place + step, end);
  while (low < high) {
    const i64 middle = (low + high) >> 1;
    if (values[middle] < value) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

// Each match is the node that it has reached, its entry in the column of each secret, and its degree.
struct Matches {
  explicit Matches(i64 secrets) : nodes(1 + secrets, 64), degrees(1, 64) {}

  void clear() {
    nodes.set_length(0);
    degrees.set_length(0);
  }
  i64 *add(i64 node, Degree degree) {  // the entries, which are still undefined
    degrees.push(degree);
    i64 *row = nodes.add();
    row[0] = node;
    return row + 1;
  }
  void swap(Matches &other) {
    nodes.swap(other.nodes);
    degrees.swap(other.degrees);
  }
  i64 length() const { return nodes.length(); }
  i64 node(i64 match) const { return nodes.row(match)[0]; }
  const i64 *entries(i64 match) const { return nodes.row(match) + 1; }

  Growing<i64> nodes;
  Growing<Degree> degrees;
};

class Search {
 public:
  // What was found last: the matches, and those of each leaf, from `leaf_starts` on, as places in `matches`.
  Matches matches;
  Growing<i64> leaf_starts, by_leaf;

  Search(i64 most, Entries entries, Trie trie, Vector<const i64> secret_levels)
      : matches(secret_levels.length), most_(most), entries_(entries), trie_(trie), secret_levels_(secret_levels),
        reached_(secret_levels.length), deeper_(secret_levels.length), ranges_(trie.depth()) {}

  // Find the matches of `step` leaves below one root, or of fewer if there are too many to hold at once. Return how
  // many leaves that was.
  i64 match_leaves(i64 root, i64 leaf, i64 step) {
    const i64 end = trie_.end_of_leaves(root);
    i64 last = std::min(leaf + step, end);
    while (!match(root, leaf, last)) last = leaf + std::max<i64>((last - leaf) / 4, 1);
    sort_by_leaf(leaf, last);
    return last - leaf;
  }

  template <class Visit> void all_leaves(Visit visit) { some_leaves(0, trie_.leaves(), visit); }

  // Find the matches of some leaves, from 0 on, and visit those of some neighbours at a time: the first, and how many.
  template <class Visit> void some_leaves(i64 from, i64 to, Visit visit) {
    for (i64 root = 0; root < trie_.roots(); ++root) {
      const i64 end = std::min(trie_.end_of_leaves(root), trie_.first_leaf() + to);
      i64 leaf = std::max(trie_.first_leaves[root], trie_.first_leaf() + from), step = end - leaf;
      for (; leaf < end; leaf += step) {
        step = match_leaves(root, leaf, std::min(step, end - leaf));
        visit(leaf - trie_.first_leaf(), step);
      }
    }
  }

  Vector<const i64> matches_of(i64 place) const {
    return {&by_leaf[leaf_starts[place]], leaf_starts[place + 1] - leaf_starts[place]};
  }
  i64 least_scaled(Vector<const i64> mine) const {
    i64 least = matches.degrees[mine[0]].scaled;
    for (i64 match : mine) least = std::min(least, matches.degrees[match].scaled);
    return least;
  }

 private:
  // Find the matches of some leaves below a root, unless they are more than are to be held: then return false.
  bool match(i64 root, i64 first_leaf, i64 last_leaf) {
    find_ranges(first_leaf, last_leaf);
    matches.clear();
    const i32 value = trie_.values[root];
    for (i64 item = entries_.list_starts[value]; item < entries_.list_starts[value + 1]; ++item) {
      const i64 entry = entries_.listed[item], bucket = entries_.buckets[entry];
      reached_.clear();
      std::fill_n(reached_.add(root, {entries_.shares[entry], 0}), secret_levels_.length, entry);
      for (i64 level = 1; level < trie_.depth() && reached_.length() > 0; ++level) descend(level, bucket);
      if (matches.length() + reached_.length() > most_ && last_leaf - first_leaf > 1) return false;
      for (i64 one = 0; one < reached_.length(); ++one) {
        i64 *kept = matches.add(reached_.node(one), reached_.degrees[one]);
        std::copy_n(reached_.entries(one), secret_levels_.length, kept);
      }
    }
    return true;
  }

  // Find out, level by level, which nodes have any of these leaves below them.
  void find_ranges(i64 first_leaf, i64 last_leaf) {
    for (i64 level = 0; level < trie_.depth(); ++level) {
      const i64 first = trie_.levels[level], last = trie_.levels[level + 1];
      ranges_[level] = {seek(trie_.first_leaves, first, last, first_leaf + 1) - 1,
                        seek(trie_.first_leaves, first, last, last_leaf)};
    }
  }

  // Follow the matches of a bucket to the nodes of the next level.
  void descend(i64 level, i64 bucket) {
    const i64 *starts = entries_.starts[entries_.columns[level]];
    const i64 low = starts[bucket], high = starts[bucket + 1];
    deeper_.clear();
    for (i64 match = 0; match < reached_.length(); ++match) {
      const i64 node = reached_.node(match);
      i64 child = std::max(trie_.starts[node], ranges_[level].first), entry = low;
      const i64 last_child = std::min(trie_.starts[node + 1], ranges_[level].second);
      while (entry < high && child < last_child) {
        const i32 wanted = trie_.values[child], there = entries_.values[entry];
        if (wanted < there) {
          child = seek(trie_.values, child, last_child, there);
        } else if (wanted > there) {
          entry = seek(entries_.values, entry, high, wanted);
        } else {
          i64 *found = deeper_.add(child, reached_.degrees[match].times(entries_.shares[entry]));
          for (i64 secret = 0; secret < secret_levels_.length; ++secret) {
            found[secret] = secret_levels_[secret] == level ? entry : reached_.entries(match)[secret];
          }
          ++entry;
          ++child;
        }
      }
    }
    reached_.swap(deeper_);
  }

  void sort_by_leaf(i64 first_leaf, i64 last_leaf) {
    leaf_starts.set_length(0);
    for (i64 leaf = first_leaf; leaf <= last_leaf; ++leaf) leaf_starts.push(0);
    for (i64 match = 0; match < matches.length(); ++match) ++leaf_starts[matches.node(match) - first_leaf + 1];
    for (i64 place = 0; place < last_leaf - first_leaf; ++place) leaf_starts[place + 1] += leaf_starts[place];
    Scratch<i64> next(leaf_starts.length());
    std::copy_n(&leaf_starts[0], leaf_starts.length(), next.begin());
    by_leaf.set_length(0);
    for (i64 match = 0; match < matches.length(); ++match) by_leaf.push(0);
    for (i64 match = 0; match < matches.length(); ++match) by_leaf[next[matches.node(match) - first_leaf]++] = match;
  }

  const i64 most_;
  const Entries entries_;
  const Trie trie_;
  const Vector<const i64> secret_levels_;
  Matches reached_, deeper_;  // of one bucket, on one level and on the next
  Scratch<std::pair<i64, i64>> ranges_;
};

}  // namespace slicing
