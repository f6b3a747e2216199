// Sums along a junction tree and back: how likely cells are, from potentials of counted groups. See `potentials.py`.
#include <algorithm>
#include <cmath>
#include <limits>

#include "arguments.hpp"

namespace potentials {

// e to the power of x, for x up to 0, right to the last digits; smaller than e^-700 is 0. Plain arithmetic, so that a
// compiler makes steps of several at once of it, which it cannot of a call.
static inline f64 power(f64 x) {
  const f64 kept = x < -700.0 ? -700.0 : x;
  const f64 shifted = kept * 1.4426950408889634 + 6755399441055744.0;  // rounds to a whole number of twos
  const f64 twos = shifted - 6755399441055744.0;
  const f64 rest = (kept - twos * 0.6931471803691238) - twos * 1.9082149292705877e-10;
  f64 sum = 1.0 / 479001600;
  sum = sum * rest + 1.0 / 39916800;
  sum = sum * rest + 1.0 / 3628800;
  sum = sum * rest + 1.0 / 362880;
  sum = sum * rest + 1.0 / 40320;
  sum = sum * rest + 1.0 / 5040;
  sum = sum * rest + 1.0 / 720;
  sum = sum * rest + 1.0 / 120;
  sum = sum * rest + 1.0 / 24;
  sum = sum * rest + 1.0 / 6;
  sum = sum * rest + 0.5;
  sum = sum * rest + 1.0;
  sum = sum * rest + 1.0;
  i64 bits;
  std::memcpy(&bits, &shifted, sizeof bits);
  bits = static_cast<i64>(static_cast<u64>(bits) << 52) + (i64{1023} << 52);
  f64 scale;
  std::memcpy(&scale, &bits, sizeof scale);
  return x < -700.0 ? 0.0 : sum * scale;
}

// The lines of an array, along its last axis, beside a smaller table: `strides` are 0 along axes that the table lacks.
// Calls work(first cell, first place in the table).
template <class Work> void each_line(const i64 *shape, const i64 *strides, i64 axes, Work work) {
  const i64 length = shape[axes - 1];
  i64 lines = 1;
  for (i64 axis = 0; axis + 1 < axes; ++axis) lines *= shape[axis];
  Scratch<i64> at(axes, 0);
  i64 place = 0;
  for (i64 line = 0; line < lines; ++line) {
    work(line * length, place);
    for (i64 axis = axes - 2; axis >= 0; --axis) {
      place += strides[axis];
      if (++at[axis] < shape[axis]) break;
      place -= strides[axis] * shape[axis];
      at[axis] = 0;
    }
  }
}

static void add_to_cells(const i64 *shape, const i64 *strides, i64 axes, const f64 *table, f64 *cells) {
  const i64 length = shape[axes - 1], step = strides[axes - 1];
  each_line(shape, strides, axes, [&](i64 first, i64 place) {
    f64 *mine = cells + first;
    const f64 *from = table + place;
    if (step == 0) {
      const f64 all = from[0];
      for (i64 cell = 0; cell < length; ++cell) mine[cell] += all;
    } else {
      for (i64 cell = 0; cell < length; ++cell) mine[cell] += from[cell * step];
    }
  });
}

static void multiply_cells(const i64 *shape, const i64 *strides, i64 axes, const f64 *table, f64 *cells) {
  const i64 length = shape[axes - 1], step = strides[axes - 1];
  each_line(shape, strides, axes, [&](i64 first, i64 place) {
    f64 *mine = cells + first;
    const f64 *with = table + place;
    if (step == 0) {
      const f64 all = with[0];
      for (i64 cell = 0; cell < length; ++cell) mine[cell] *= all;
    } else {
      for (i64 cell = 0; cell < length; ++cell) mine[cell] *= with[cell * step];
    }
  });
}

static void add_to_table(const i64 *shape, const i64 *strides, i64 axes, const f64 *cells, f64 *table) {
  const i64 length = shape[axes - 1], step = strides[axes - 1];
  each_line(shape, strides, axes, [&](i64 first, i64 place) {
    const f64 *mine = cells + first;
    f64 *to = table + place;
    if (step == 0) {
      f64 sum = 0;
      for (i64 cell = 0; cell < length; ++cell) sum += mine[cell];
      to[0] += sum;
    } else {
      for (i64 cell = 0; cell < length; ++cell) to[cell * step] += mine[cell];
    }
  });
}

// Cliques in order, parents first: `shapes` has their axes, filled up with ones at the front. `own` and `above` are the
// strides of what a clique shares with the one above it, in its own cells and in those of the one above. Group g of all
// measurements has the potential theta[g]: measurement m's cells are groups `group_of[group_starts[m]…]`, and its
// strides are in the cells of its host. Return the logarithm of what the potentials add up to; `probabilities` are those
// of all cells, `expected` of all groups.
static f64 likely_cells(
    Vector<const f64> theta, Matrix<const i64> shapes, Vector<const i64> starts, Vector<const i64> parents,
    Matrix<const i64> own, Matrix<const i64> above, Vector<const i64> shared, Vector<const i64> hosts,
    Matrix<const i64> strides, Vector<const i32> group_of, Vector<const i64> group_starts, Vector<f64> probabilities,
    Vector<f64> expected) {
  const i64 cliques = shapes.rows, axes = shapes.columns, measurements = hosts.length;
  i64 most = 1;
  for (i64 clique = 0; clique < cliques; ++clique) most = std::max(most, shared[clique]);
  for (i64 one = 0; one < measurements; ++one) most = std::max(most, group_starts[one + 1] - group_starts[one]);
  Scratch<f64> table(most), top(most);
  f64 *cells = probabilities.data;
  for (f64 &cell : probabilities) cell = 0;
  for (i64 one = 0; one < measurements; ++one) {
    const i32 *groups = group_of.data + group_starts[one];
    for (i64 place = 0; place < group_starts[one + 1] - group_starts[one]; ++place) table[place] = theta[groups[place]];
    add_to_cells(shapes[hosts[one]], strides[one], axes, table.begin(), cells + starts[hosts[one]]);
  }
  // To the root: a clique's cells are weighed given what it shares, so that nothing is lost to small numbers.
  for (i64 clique = cliques - 1; clique > 0; --clique) {
    const i64 *shape = shapes[clique], length = shape[axes - 1], step = own[clique][axes - 1];
    f64 *mine = cells + starts[clique];
    for (i64 place = 0; place < shared[clique]; ++place) {
      top[place] = -std::numeric_limits<f64>::infinity();
      table[place] = 0;
    }
    each_line(shape, own[clique], axes, [&](i64 first, i64 place) {
      const f64 *line = mine + first;
      f64 *highest = top.begin() + place;
      if (step == 0) {
        f64 most_here = highest[0];
        for (i64 cell = 0; cell < length; ++cell) most_here = line[cell] > most_here ? line[cell] : most_here;
        highest[0] = most_here;
      } else {
        for (i64 cell = 0; cell < length; ++cell) highest[cell * step] = std::max(highest[cell * step], line[cell]);
      }
    });
    each_line(shape, own[clique], axes, [&](i64 first, i64 place) {
      f64 *line = mine + first;
      const f64 *highest = top.begin() + place;
      if (step == 0) {
        const f64 all = highest[0];
        for (i64 cell = 0; cell < length; ++cell) line[cell] = power(line[cell] - all);
      } else {
        for (i64 cell = 0; cell < length; ++cell) line[cell] = power(line[cell] - highest[cell * step]);
      }
    });
    add_to_table(shape, own[clique], axes, mine, table.begin());
    for (i64 place = 0; place < shared[clique]; ++place) {
      top[place] += std::log(table[place]);
      table[place] = 1 / table[place];
    }
    multiply_cells(shape, own[clique], axes, table.begin(), mine);
    add_to_cells(shapes[parents[clique]], above[clique], axes, top.begin(), cells + starts[parents[clique]]);
  }
  const i64 last = starts[1];
  const f64 highest = *std::max_element(cells, cells + last);
  f64 sum = 0;
  for (i64 cell = 0; cell < last; ++cell) cells[cell] = power(cells[cell] - highest);
  for (i64 cell = 0; cell < last; ++cell) sum += cells[cell];
  for (i64 cell = 0; cell < last; ++cell) cells[cell] /= sum;
  // And back.
  for (i64 clique = 1; clique < cliques; ++clique) {
    for (i64 place = 0; place < shared[clique]; ++place) table[place] = 0;
    add_to_table(shapes[parents[clique]], above[clique], axes, cells + starts[parents[clique]], table.begin());
    multiply_cells(shapes[clique], own[clique], axes, table.begin(), cells + starts[clique]);
  }
  for (f64 &one : expected) one = 0;
  for (i64 one = 0; one < measurements; ++one) {
    const i32 *groups = group_of.data + group_starts[one];
    const i64 many = group_starts[one + 1] - group_starts[one];
    for (i64 place = 0; place < many; ++place) table[place] = 0;
    add_to_table(shapes[hosts[one]], strides[one], axes, cells + starts[hosts[one]], table.begin());
    for (i64 place = 0; place < many; ++place) expected[groups[place]] += table[place];
  }
  return highest + std::log(sum);
}
EXPORT(likely_cells)

}  // namespace potentials
