// What several releases tell together of people who were in the same groups. See `releases_together.py` for what
// classes, entries and cells are.
#include <algorithm>
#include <cmath>
#include <vector>

#include "arguments.hpp"

namespace releases_together {

// The groups of each class, and the values that each group shows.
struct Shown {
  Matrix<const i64> groups;
  Vector<const i64> starts;
  Vector<const i32> values;

  bool shows(i64 group, i32 value) const {
    const auto own = values.from(starts[group], starts[group + 1]);
    return std::binary_search(own.begin(), own.end(), value);
  }
  i64 number(i64 group) const { return starts[group + 1] - starts[group]; }
  // The group of a class that shows the fewest values, or -1.
  i64 smallest(i64 one) const {
    i64 best = -1;
    for (i64 release = 0; release < groups.columns; ++release) {
      const i64 group = groups[one][release];
      if (group >= 0 && (best < 0 || number(group) < number(best))) best = group;
    }
    return best;
  }
  bool all_show(i64 one, i32 value) const {
    return std::all_of(groups[one], groups[one] + groups.columns, [&](i64 group) {
      return group < 0 || shows(group, value);
    });
  }
};

// The same with the cells of each class.
struct Cells {
  Shown shown;
  Vector<const i64> cells;
  Vector<const i32> cell_values;

  i64 classes() const { return shown.groups.rows; }
  i64 first(i64 one) const { return cells[one]; }
  i64 last(i64 one) const { return cells[one + 1]; }

  // Call `visit(cell, entry)` for the cells of a class and their entries in one release. Both ascend by value.
  template <class Visit> void each_entry(i64 one, i64 release, Visit visit) const {
    const i64 group = shown.groups[one][release];
    if (group < 0) return;
    i64 entry = shown.starts[group];
    for (i64 cell = first(one); cell < last(one); ++cell) {
      while (shown.values[entry] < cell_values[cell]) ++entry;
      visit(cell, entry);
    }
  }
  template <class Visit> void each_entry(i64 one, Visit visit) const {
    for (i64 release = 0; release < shown.groups.columns; ++release) each_entry(one, release, visit);
  }
};

static std::tuple<Growing<i32>> cells_of_classes(
    Matrix<const i64> groups, Vector<const i64> starts, Vector<const i32> values, Vector<i64> cells) {
  const Shown shown{groups, starts, values};
  Growing<i32> found;
  for (i64 one = 0; one < groups.rows; ++one) {
    const i64 group = shown.smallest(one);
    if (group >= 0) {
      for (i32 value : values.from(starts[group], starts[group + 1])) {
        if (shown.all_show(one, value)) found.push(value);
      }
    }
    cells[one + 1] = found.length();
  }
  return {std::move(found)};
}
EXPORT(cells_of_classes)

// Bounds of cells that are narrowed round by round: each round looks at the bounds of the round before.
class Bounds {
 public:
  Bounds(const Cells &all, Vector<const i64> counts, Vector<const i64> sizes, Vector<i64> least, Vector<i64> most)
      : all_(all), counts_(counts), sizes_(sizes), least_(least), most_(most), of_least_(counts.length, 0),
        of_most_(counts.length, 0), lower_(least.length), upper_(most.length) {
    for (i64 one = 0; one < all.classes(); ++one) {
      for (i64 cell = all.first(one); cell < all.last(one); ++cell) {
        least[cell] = 0;
        most[cell] = sizes[one];
      }
      all.each_entry(one, [&](i64 cell, i64 entry) { of_most_[entry] += most_[cell]; });
    }
  }

  // Find the new bounds of a class's cells; return whether any is another one.
  bool narrow(i64 one) {
    i64 sure = 0, possible = 0;
    for (i64 cell = all_.first(one); cell < all_.last(one); ++cell) {
      sure += least_[cell];
      possible += most_[cell];
    }
    for (i64 cell = all_.first(one); cell < all_.last(one); ++cell) {
      lower_[cell] = std::max(least_[cell], sizes_[one] - (possible - most_[cell]));
      upper_[cell] = std::min(most_[cell], sizes_[one] - (sure - least_[cell]));
    }
    all_.each_entry(one, [&](i64 cell, i64 entry) {
      lower_[cell] = std::max(lower_[cell], counts_[entry] - (of_most_[entry] - most_[cell]));
      upper_[cell] = std::min(upper_[cell], counts_[entry] - (of_least_[entry] - least_[cell]));
    });
    bool changed = false;
    for (i64 cell = all_.first(one); cell < all_.last(one); ++cell) {
      changed |= lower_[cell] != least_[cell] || upper_[cell] != most_[cell];
    }
    return changed;
  }

  // Let the bounds that were found be those of a class, and add what changes to the sums; return whether all is known.
  bool settle(i64 one) {
    all_.each_entry(one, [&](i64 cell, i64 entry) {
      of_least_[entry] += lower_[cell] - least_[cell];
      of_most_[entry] += upper_[cell] - most_[cell];
    });
    bool known = true;
    for (i64 cell = all_.first(one); cell < all_.last(one); ++cell) {
      least_[cell] = lower_[cell];
      most_[cell] = upper_[cell];
      known &= least_[cell] == most_[cell];
    }
    return known;
  }

 private:
  Cells all_;
  Vector<const i64> counts_, sizes_;
  Vector<i64> least_, most_;
  Scratch<i64> of_least_, of_most_;  // sums over the cells of each entry
  Scratch<i64> lower_, upper_;       // the bounds of the next round
};

static void bounds_of_cells(
    Matrix<const i64> groups, Vector<const i64> starts, Vector<const i32> values, Vector<const i64> counts,
    Vector<const i64> cells, Vector<const i32> cell_values, Vector<const i64> sizes, i64 rounds, Vector<i64> least,
    Vector<i64> most) {
  Bounds bounds({{groups, starts, values}, cells, cell_values}, counts, sizes, least, most);
  std::vector<i64> open, changed, still;
  for (i64 one = 0; one < groups.rows; ++one) open.push_back(one);
  for (i64 round = 0; round < rounds; ++round) {
    changed.clear();
    still.clear();
    for (i64 one : open) {
      if (bounds.narrow(one)) changed.push_back(one);
    }
    if (changed.empty()) return;
    auto next = changed.begin();
    for (i64 one : open) {
      const bool is_changed = next != changed.end() && *next == one;
      if (is_changed) ++next;
      if (!is_changed || !bounds.settle(one)) still.push_back(one);
    }
    open.swap(still);
  }
}
EXPORT(bounds_of_cells)

// Let the cells of a class add up to its size again after they were cut to their bounds.
static void settle(
    Vector<f64> fitted, Vector<const i64> least, Vector<const i64> most, i64 first, i64 last, f64 size) {
  for (int round = 0; round < 20; ++round) {
    f64 total = 0, movable = 0;
    for (i64 cell = first; cell < last; ++cell) total += fitted[cell];
    const f64 gap = size - total;
    if (std::abs(gap) <= 1e-9 * size) return;
    const auto moves = [&](i64 cell) {
      return (gap > 0 && fitted[cell] < static_cast<f64>(most[cell])) ||
             (gap < 0 && fitted[cell] > static_cast<f64>(least[cell]));
    };
    for (i64 cell = first; cell < last; ++cell) {
      if (moves(cell)) movable += fitted[cell];
    }
    if (movable <= 0 || movable + gap <= 0) return;
    for (i64 cell = first; cell < last; ++cell) {
      if (!moves(cell)) continue;
      const f64 scaled = fitted[cell] * (movable + gap) / movable;
      fitted[cell] = std::min(std::max(scaled, static_cast<f64>(least[cell])), static_cast<f64>(most[cell]));
    }
  }
}

// Proportional fitting of the cells whose number is not known, in the classes that have some.
class Fitting {
 public:
  Fitting(const Cells &all, Vector<const i64> counts, Vector<const i64> sizes, Vector<const i64> least,
          Vector<const i64> most, Vector<f64> fitted)
      : all_(all), sizes_(sizes), fitted_(fitted), left_(all.classes()), wanted_(counts.length), sums_(counts.length),
        before_(fitted.length) {
    Scratch<i64> of_known(counts.length, 0);
    for (i64 one = 0; one < all.classes(); ++one) {
      i64 unknown = 0, rest = sizes[one];
      for (i64 cell = all.first(one); cell < all.last(one); ++cell) {
        if (least[cell] == most[cell]) {
          rest -= least[cell];
        } else {
          ++unknown;
        }
      }
      all.each_entry(one, [&](i64 cell, i64 entry) {
        if (least[cell] == most[cell]) of_known[entry] += least[cell];
      });
      left_[one] = static_cast<f64>(rest);
      if (unknown > 0) open_.push_back(one);
      for (i64 cell = all.first(one); cell < all.last(one); ++cell) {
        fitted[cell] = least[cell] < most[cell] ? static_cast<f64>(rest) / static_cast<f64>(unknown) : 0;
      }
    }
    for (i64 entry = 0; entry < counts.length; ++entry) {
      wanted_[entry] = static_cast<f64>(counts[entry] - of_known[entry]);
    }
  }

  // Classes with cells whose number is not known.
  const std::vector<i64> &open() const { return open_; }

  // Scale to each release and then to the classes; return the largest change of a share.
  f64 sweep() {
    std::copy(fitted_.begin(), fitted_.end(), before_.begin());
    for (i64 release = 0; release < all_.shown.groups.columns; ++release) scale_to_release(release);
    f64 largest = 0;
    for (i64 one : open_) {
      f64 total = 0;
      for (i64 cell = all_.first(one); cell < all_.last(one); ++cell) total += fitted_[cell];
      for (i64 cell = all_.first(one); cell < all_.last(one); ++cell) {
        if (total > 0) fitted_[cell] *= left_[one] / total;
        largest = std::max(largest, std::abs(fitted_[cell] - before_[cell]) / static_cast<f64>(sizes_[one]));
      }
    }
    return largest;
  }

 private:
  void scale_to_release(i64 release) {
    each_open(release, [&](i64, i64 entry) { sums_[entry] = 0; });
    each_open(release, [&](i64 cell, i64 entry) { sums_[entry] += fitted_[cell]; });
    each_open(release, [&](i64 cell, i64 entry) {
      if (sums_[entry] > 0) fitted_[cell] *= wanted_[entry] / sums_[entry];
    });
  }
  template <class Visit> void each_open(i64 release, Visit visit) const {
    for (i64 one : open_) all_.each_entry(one, release, visit);
  }

  Cells all_;
  Vector<const i64> sizes_;
  Vector<f64> fitted_;
  std::vector<i64> open_;
  Scratch<f64> left_, wanted_;  // what is left of each class and of each entry when known cells are taken out
  Scratch<f64> sums_, before_;
};

static void likeliest_counts(
    Matrix<const i64> groups, Vector<const i64> starts, Vector<const i32> values, Vector<const i64> counts,
    Vector<const i64> cells, Vector<const i32> cell_values, Vector<const i64> sizes, Vector<const i64> least,
    Vector<const i64> most, i64 sweeps, f64 close, Vector<f64> fitted) {
  const Cells all{{groups, starts, values}, cells, cell_values};
  Fitting fitting(all, counts, sizes, least, most, fitted);
  for (i64 sweep = 0; sweep < sweeps; ++sweep) {
    if (fitting.sweep() <= close) break;
  }
  for (i64 cell = 0; cell < fitted.length; ++cell) {
    fitted[cell] = std::min(std::max(fitted[cell], static_cast<f64>(least[cell])), static_cast<f64>(most[cell]));
  }
  for (i64 one : fitting.open()) {
    settle(fitted, least, most, all.first(one), all.last(one), static_cast<f64>(sizes[one]));
  }
}
EXPORT(likeliest_counts)

}  // namespace releases_together
