// Cut a table into ever smaller buckets while every bucket stays diverse by itself. See `slicing_cuts.py`.
#include <cstdlib>
#include <memory>
#include <numeric>

#include "partition.hpp"
#include "threads.hpp"

namespace slicing {

// A slice of the tuples' order.
struct Slice {
  i64 first, last;
};

static i64 largest(Vector<const i64> sizes) {
  i64 found = 0;
  for (i64 size : sizes) found = std::max(found, size);
  return found;
}

// Ranks the attributes of a bucket by how it is cut best: the cut nearest to the median in each that varies. The
// widest attribute comes first; of equally wide ones the one that is cut most evenly, then the first.
class CutRanking {
 public:
  CutRanking(Matrix<const i32> codes, Vector<const i64> itself, Vector<const i64> counts, Vector<const i64> order,
             Vector<const f64> positions, Vector<const i64> offsets, Vector<const f64> spans, Vector<const i64> sizes)
      : codes_(codes), order_(order), positions_(positions), offsets_(offsets), spans_(spans), sizes_(sizes),
        counter_(codes, itself, counts, order, largest(sizes), codes.rows),
        widths_(codes.columns), distances_(codes.columns), cuts_(codes.columns), ranked_(codes.columns) {}

  // Return how many attributes there are to cut.
  i64 rank(Slice bucket, i64 total) {
    i64 many = 0;
    for (i64 attribute = 0; attribute < codes_.columns; ++attribute) {
      i64 low = codes_[order_[bucket.first]][attribute], high = low;
      for (i64 place = bucket.first + 1; place < bucket.last; ++place) {
        const i64 code = codes_[order_[place]][attribute];
        low = std::min(low, code);
        high = std::max(high, code);
      }
      if (low == high) continue;
      widths_[attribute] = width(attribute, low, high);
      find_cut(bucket, total, attribute, low, high);
      i64 place = many++;
      for (; place > 0 && comes_before(attribute, ranked_[place - 1]); --place) ranked_[place] = ranked_[place - 1];
      ranked_[place] = attribute;
    }
    return many;
  }
  i64 attribute(i64 rank) const { return ranked_[rank]; }
  i64 cut(i64 attribute) const { return cuts_[attribute]; }
  i64 distance(i64 attribute) const { return distances_[attribute]; }  // how many rows more the larger side has

 private:
  f64 width(i64 attribute, i64 low, i64 high) const {
    if (low == 0) return 1;  // missing values beside others
    if (spans_[attribute] > 0) {
      const f64 *positions = &positions_[offsets_[attribute]];
      return (positions[high] - positions[low]) / spans_[attribute];
    }
    return static_cast<f64>(high - low) / static_cast<f64>(std::max<i64>(sizes_[attribute] - 2, 1));
  }

  void find_cut(Slice bucket, i64 total, i64 attribute, i64 low, i64 high) {
    const i64 kinds = counter_.count(bucket.first, bucket.last, attribute, low, high);
    i64 left = 0, best = -1;
    for (i64 kind = 1; kind < kinds; ++kind) {
      left += counter_.counts()[kind - 1];
      const i64 distance = std::abs(2 * left - total);
      if (best < 0 || distance < best) {
        best = distance;
        cuts_[attribute] = counter_.codes()[kind];
      }
    }
    distances_[attribute] = best;
  }

  bool comes_before(i64 attribute, i64 other) const {
    if (widths_[attribute] != widths_[other]) return widths_[attribute] > widths_[other];
    return distances_[attribute] < distances_[other];
  }

  const Matrix<const i32> codes_;
  const Vector<const i64> order_;
  const Vector<const f64> positions_;
  const Vector<const i64> offsets_;
  const Vector<const f64> spans_;
  const Vector<const i64> sizes_;
  partition::CodeCounter counter_;
  Scratch<f64> widths_;
  Scratch<i64> distances_, cuts_, ranked_;
};

// Tells whether both sides of a cut are diverse, by tallies of known parts and of (known part, value) pairs.
class DiversityTest {
 public:
  DiversityTest(Vector<const i64> order, Matrix<const i64> knowns, Matrix<const i64> pairs, Matrix<const i64> weights,
                i64 known_number, i64 pair_number, i64 numerator, i64 denominator)
      : order_(order), knowns_(knowns), pairs_(pairs), weights_(weights), numerator_(numerator),
        denominator_(denominator), known_number_(known_number), pair_number_(pair_number),
        of_known_(2 * knowns.rows * known_number, 0), of_pair_(2 * knowns.rows * pair_number, 0) {}

  bool passes(Slice bucket, Vector<const i8> side_of) {
    count(bucket, side_of, 1);
    const bool diverse = sides_are_diverse(bucket, side_of);
    count(bucket, side_of, -1);
    return diverse;
  }

 private:
  i64 &of_known(i64 secret, i64 side, i64 item) const {
    return of_known_[(2 * secret + side) * known_number_ + knowns_[secret][item]];
  }
  i64 &of_pair(i64 secret, i64 side, i64 item) const {
    return of_pair_[(2 * secret + side) * pair_number_ + pairs_[secret][item]];
  }

  void count(Slice bucket, Vector<const i8> side_of, i64 sign) {
    for (i64 place = bucket.first; place < bucket.last; ++place) {
      const i64 item = order_[place];
      for (i64 secret = 0; secret < knowns_.rows; ++secret) {
        of_known(secret, side_of[place], item) += sign * weights_[secret][item];
        of_pair(secret, side_of[place], item) += sign * weights_[secret][item];
      }
    }
  }

  bool sides_are_diverse(Slice bucket, Vector<const i8> side_of) const {
    for (i64 place = bucket.first; place < bucket.last; ++place) {
      for (i64 secret = 0; secret < knowns_.rows; ++secret) {
        const i64 with_value = of_pair(secret, side_of[place], order_[place]);
        const i64 of_all = of_known(secret, side_of[place], order_[place]);
        if (numerator_ * with_value > denominator_ * of_all) return false;
        if (of_all == 0 && numerator_ > denominator_) return false;  // where no value is recorded, there is one at most
      }
    }
    return true;
  }

  const Vector<const i64> order_;
  const Matrix<const i64> knowns_, pairs_, weights_;
  const i64 numerator_, denominator_, known_number_, pair_number_;
  Scratch<i64> of_known_, of_pair_;
};

// The table that is cut, and what all threads write into: a bucket's slice is one thread's alone.
struct Cutting {
  Matrix<const i32> codes;
  Vector<const i64> counts;
  i64 least;
  Vector<i64> order;
  Vector<i64> moved;
  Vector<i8> side_of, opens_bucket;
};

// Cuts slices of the order, with scratch space of its own.
class Cutter {
 public:
  Cutter(const Cutting &table, CutRanking *ranking, DiversityTest *diversity)
      : table_(table), ranking_(ranking), diversity_(diversity) {}

  // Cut a slice in two; return where the second half begins, or its end where no cut leaves two diverse buckets.
  i64 cut(Slice bucket) {
    if (!is_cut(bucket)) {
      table_.opens_bucket[bucket.first] = 1;
      return bucket.last;
    }
    i64 left = bucket.first, right = bucket.first;
    for (i64 place = bucket.first; place < bucket.last; ++place) {
      const i64 item = table_.order[place];
      if (table_.side_of[place]) {
        table_.moved[right++] = item;
      } else {
        table_.order[left++] = item;
      }
    }
    std::copy_n(&table_.moved[bucket.first], right - bucket.first, &table_.order[left]);
    return left;
  }

  // Cut a slice into buckets.
  void cut_all(Slice bucket) {
    waiting_.assign(1, bucket.last);
    for (i64 first = bucket.first; !waiting_.empty();) {
      const i64 last = waiting_.back(), middle = cut({first, last});
      if (middle < last) {
        waiting_.push_back(middle);
      } else {
        first = last;
        waiting_.pop_back();
      }
    }
  }

 private:
  // Set the sides of the best cut that leaves two diverse buckets, if there is one.
  bool is_cut(Slice bucket) {
    i64 total = 0;
    for (i64 place = bucket.first; place < bucket.last; ++place) total += table_.counts[table_.order[place]];
    if (total < 2 * table_.least) return false;
    const i64 many = ranking_->rank(bucket, total);
    for (i64 rank = 0; rank < many; ++rank) {
      const i64 attribute = ranking_->attribute(rank);
      if (total - ranking_->distance(attribute) < 2 * table_.least) continue;
      for (i64 place = bucket.first; place < bucket.last; ++place) {
        table_.side_of[place] = table_.codes[table_.order[place]][attribute] >= ranking_->cut(attribute);
      }
      if (diversity_->passes(bucket, {table_.side_of.data, table_.side_of.length})) return true;
    }
    return false;
  }

  const Cutting &table_;
  std::unique_ptr<CutRanking> ranking_;
  std::unique_ptr<DiversityTest> diversity_;
  std::vector<i64> waiting_;
};

// Return how many buckets there are; `order` and `starts` are written. How a slice is cut depends on nothing else, so
// that it does not matter which thread cuts it, or when.
static i64 cut_buckets(
    Matrix<const i32> codes, Vector<const i64> counts, Vector<const f64> positions, Vector<const i64> offsets,
    Vector<const f64> spans, Vector<const i64> sizes, Matrix<const i64> knowns, Matrix<const i64> pairs,
    Matrix<const i64> weights, i64 known_number, i64 pair_number, i64 least, i64 numerator, i64 denominator,
    Vector<i64> order, Vector<i64> starts, i64 threads) {
  const i64 tuples = codes.rows, slots = std::max<i64>(tuples, 1);
  Scratch<i64> itself(tuples), moved(slots);
  Scratch<i8> side_of(slots), opens_bucket(slots, 0);
  std::iota(order.begin(), order.end(), 0);
  std::iota(itself.begin(), itself.end(), 0);
  const Vector<const i64> parts{itself.begin(), tuples}, ordered{order.data, tuples};
  const Cutting table{codes, counts, least, order, moved.view(), side_of.view(), opens_bucket.view()};
  const auto cutter = [&] {
    auto own = std::make_shared<Cutter>(
        table, new CutRanking(codes, parts, counts, ordered, positions, offsets, spans, sizes),
        new DiversityTest(ordered, knowns, pairs, weights, known_number, pair_number, numerator, denominator));
    return [own](Slice bucket, auto add) {
      if (bucket.last - bucket.first < WORTH_A_THREAD) return own->cut_all(bucket);
      const i64 middle = own->cut(bucket);
      if (middle == bucket.last) return;
      add({bucket.first, middle});
      add({middle, bucket.last});
    };
  };
  work_off(std::max<i64>(1, std::min(threads, tuples / WORTH_A_THREAD)), Slice{0, tuples}, cutter);
  i64 buckets = 0;
  for (i64 place = 0; place < slots; ++place) {
    if (opens_bucket[place]) starts[buckets++] = place;
  }
  starts[buckets] = tuples;
  return buckets;
}
EXPORT(cut_buckets)

}  // namespace slicing
