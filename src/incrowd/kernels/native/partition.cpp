// Find where to cut boxes of tuples, and deal the tuples out to the pieces. See `partition.py` for what things mean.
#include "partition.hpp"
#include "sorting.hpp"

namespace partition {

constexpr f64 NARROWEST = 1e-300;

static void rank_columns(
    Matrix<const i32> codes, Vector<const i64> part_tuples, Vector<const i64> order, Vector<const i64> starts,
    Vector<const i64> boxes, Vector<const f64> positions, Vector<const f64> spans, Vector<const i64> offsets,
    Vector<const i64> sizes, Vector<const i8> numeric, Cube<i32> tight, Matrix<i64> ranked, Matrix<f64> widths,
    i64 threads) {
  const i64 columns = codes.columns;
  const auto length = [&](i64 index) { return starts[boxes[index] + 1] - starts[boxes[index]]; };
  in_parts(even_parts(boxes.length, threads, length), [&](i64, i64 from, i64 to) {
    Scratch<i64> varying(columns);
    for (i64 index = from; index < to; ++index) {
      const i64 box = boxes[index];
      const i32 *first = codes[part_tuples[order[starts[box]]]];
      i64 many = 0;
      for (i64 column = 0; column < columns; ++column) {
        i32 *range = tight.at(box, column);
        if (range[0] != range[1]) {
          varying[many++] = column;
          range[0] = range[1] = first[column];
        }
      }
      for (i64 place = starts[box] + 1; place < starts[box + 1]; ++place) {
        const i32 *row = codes[part_tuples[order[place]]];
        for (i64 which = 0; which < many; ++which) {
          i32 *range = tight.at(box, varying[which]);
          const i32 code = row[varying[which]];
          if (code < range[0]) {
            range[0] = code;
          } else if (code > range[1]) {
            range[1] = code;
          }
        }
      }
      f64 *width = widths[box];
      i64 *rank = ranked[box];
      for (i64 column = 0; column < columns; ++column) {
        const i32 low = tight.at(box, column)[0], high = tight.at(box, column)[1];
        if (low == high) {
          width[column] = 0;
        } else if (low == 0) {
          width[column] = 1;  // missing beside values can only be shown as anything
        } else if (numeric[column]) {
          // Divided once, so that columns of the same relative width tie exactly; and never 0 for two values that are
          // too close to tell apart on the line, or the column would pass for a constant one.
          const f64 *line = &positions[offsets[column]];
          width[column] = std::max((line[high] - line[low]) / spans[column], NARROWEST);
        } else {
          width[column] = static_cast<f64>(high - low) / static_cast<f64>(std::max<i64>(sizes[column] - 2, 1));
        }
        // insertion sort; columns come in the order of their names, so ties do not depend on the caller's order
        i64 place = column;
        for (; place > 0 && width[rank[place - 1]] < width[column]; --place) rank[place] = rank[place - 1];
        rank[place] = column;
      }
    }
  });
}
EXPORT(rank_columns)

static void propose_cuts(
    Matrix<const i32> codes, Vector<const i64> part_tuples, Vector<const i64> part_counts, Vector<const i64> order,
    Vector<const i64> starts, Vector<const i64> sizes, i64 min_group, bool relaxed, Vector<const i64> node_offsets,
    Vector<const i64> tree_sizes, Vector<const i64> heights, Vector<const i32> nodes, Vector<const i32> node_starts,
    Cube<const i32> tight, Matrix<const i64> ranked, Vector<i64> attempts, Vector<i64> cut_columns, Vector<i32> cuts,
    Vector<i64> quotas, i64 threads) {
  const i64 columns = codes.columns;
  i64 widest = 0;
  for (i64 size : tree_sizes) widest = std::max(widest, size);
  const auto length = [&](i64 box) { return starts[box + 1] - starts[box]; };
  in_parts(even_parts(starts.length - 1, threads, length), [&](i64, i64 from, i64 to) {
    i64 longest = 0;
    for (i64 box = from; box < to; ++box) longest = std::max(longest, length(box));
    CodeCounter counter(codes, part_tuples, part_counts, order, widest, longest);
    for (i64 box = from; box < to; ++box) {
      cut_columns[box] = -1;
      quotas[box] = 0;
      const i64 total = sizes[box];
      while (attempts[box] < 2 * columns && total >= 2 * min_group) {
        const i64 column = ranked[box][attempts[box] / 2];
        const i32 low = tight.at(box, column)[0], high = tight.at(box, column)[1];
        if (low == high) {
          attempts[box] = 2 * columns;  // columns are ranked: nothing behind this one is wider
          break;
        }
        const bool free = attempts[box] % 2 == 1;
        const i64 height = heights[column];
        const Tree tree{&nodes[node_offsets[column]], tree_sizes[column], height};
        const i64 kinds = counter.count(starts[box], starts[box + 1], column, low, high);
        const i64 *found = counter.codes(), *counts = counter.counts();
        i64 top = -1, bottom = height + 2;
        for (i64 kind = 1; kind < kinds; ++kind) {
          const i64 level = tree.boundary_level(found[kind - 1], found[kind]);
          top = std::max(top, level);
          bottom = std::min(bottom, level);
        }
        bool accepted = false;
        if (relaxed && (free || top <= height)) {
          // half of the rows to each side; those on the median's own code are shared out
          const i64 half = total / 2;
          i64 left = 0, kind = 0;
          for (; left + counts[kind] <= half && kind < kinds - 1; ++kind) left += counts[kind];
          if (half >= min_group) {
            cuts[box] = static_cast<i32>(found[kind]);
            quotas[box] = half - left;
            accepted = true;
          }
        } else if (!free || bottom < top) {  // where all borders are of one level, freely is no different
          i64 best = -1, best_kind = -1, best_level = 0, left = 0;
          for (i64 kind = 1; kind < kinds; ++kind) {
            left += counts[kind - 1];
            const i64 level = tree.boundary_level(found[kind - 1], found[kind]);
            if (free || level == top) {
              const i64 distance = std::abs(2 * left - total);
              if (best < 0 || distance < best) best = distance, best_kind = kind, best_level = level;
            }
          }
          if ((total - best) / 2 >= min_group) {
            const i64 at = node_offsets[column] + (best_level - 1) * tree.size + found[best_kind];
            cuts[box] = best_level > height ? 1 : node_starts[at];
            accepted = true;
          }
        }
        if (accepted) {
          cut_columns[box] = column;
          break;
        }
        attempts[box] += !free && bottom == top && !relaxed ? 2 : 1;
      }
    }
  });
}
EXPORT(propose_cuts)

static std::tuple<i64, i64> deal_out(
    Matrix<const i32> codes, Vector<i64> part_tuples, Vector<i64> part_counts, i64 parts, Vector<const i64> order,
    Vector<const i64> starts, Vector<const i64> cut_columns, Vector<const i32> cuts, Vector<const i64> quotas,
    Vector<const i64> first_piece, Vector<i64> new_order, Vector<i64> piece_of, i64 threads) {
  if (std::all_of(quotas.begin(), quotas.end(), [](i64 quota) { return quota == 0; })) {  // no part is split
    const auto length = [&](i64 box) { return starts[box + 1] - starts[box]; };
    in_parts(even_parts(starts.length - 1, threads, length), [&](i64, i64 from, i64 to) {
      for (i64 box = from; box < to; ++box) {
        const i64 column = cut_columns[box], left = first_piece[box];
        for (i64 place = starts[box]; place < starts[box + 1]; ++place) {
          const i64 part = order[place];
          new_order[place] = part;
          piece_of[place] = left + (column >= 0 && codes[part_tuples[part]][column] >= cuts[box]);
        }
      }
    });
    return {order.length, parts};
  }
  i64 written = 0;
  const auto write = [&](i64 part, i64 piece) {
    new_order[written] = part;
    piece_of[written++] = piece;
  };
  for (i64 box = 0; box < starts.length - 1; ++box) {
    const i64 column = cut_columns[box], left = first_piece[box];
    const i32 cut = cuts[box];
    i64 quota = quotas[box];
    for (i64 place = starts[box]; place < starts[box + 1]; ++place) {
      i64 part = order[place], piece = left;
      if (column >= 0) {
        const i32 code = codes[part_tuples[part]][column];
        if (code >= cut) piece = left + 1;
        if (quota > 0 && code == cut) {
          if (part_counts[part] <= quota) {
            quota -= part_counts[part];
            piece = left;
          } else {
            part_tuples[parts] = part_tuples[part];
            part_counts[parts] = part_counts[part] - quota;
            part_counts[part] = quota;
            write(part, left);
            part = parts++;
            quota = 0;
          }
        }
      }
      write(part, piece);
    }
  }
  return {written, parts};
}
EXPORT(deal_out)

static void sort_by_piece(
    Vector<const i64> order, Vector<const i64> piece_of, Vector<i64> result, Vector<i64> starts, i64 threads) {
  const auto piece_at = [&](i64 place) { return piece_of[place]; };
  sort_by(order, starts.length - 1, threads, piece_at, [&](i64 piece, i64 end) { starts[piece + 1] = end; }, result);
}
EXPORT(sort_by_piece)

static i64 count_values(
    Vector<const i64> order, Vector<const i64> starts, Vector<const i64> boxes, Vector<const i64> part_tuples,
    Vector<const i64> part_counts, Vector<const i32> codes, i64 values, Vector<i64> offsets, Vector<i32> found,
    Vector<i64> counts, i64 threads) {
  const auto length = [&](i64 index) { return starts[boxes[index] + 1] - starts[boxes[index]]; };
  const std::vector<i64> bounds = even_parts(boxes.length, threads, length);
  const i64 parts = static_cast<i64>(bounds.size()) - 1;
  std::vector<i64> room(static_cast<std::size_t>(parts) + 1, 0), ends(room);
  for (i64 part = 0; part < parts; ++part) {
    room[part + 1] = room[part];
    for (i64 index = bounds[part]; index < bounds[part + 1]; ++index) room[part + 1] += std::min(length(index), values);
  }
  in_parts(bounds, [&](i64 part, i64 from, i64 to) {
    Scratch<i64> place_of(values, -1);
    i64 used = room[part];
    for (i64 index = from; index < to; ++index) {
      const i64 box = boxes[index], first = used;
      for (i64 place = starts[box]; place < starts[box + 1]; ++place) {
        const i64 part = order[place];
        const i32 code = codes[part_tuples[part]];
        if (place_of[code] < 0) {
          place_of[code] = used;
          found[used] = code;
          counts[used++] = 0;
        }
        counts[place_of[code]] += part_counts[part];
      }
      for (i64 entry = first; entry < used; ++entry) place_of[found[entry]] = -1;
      offsets[index + 1] = used;
    }
    ends[part] = used;
  });
  i64 used = ends[0];
  for (i64 part = 1; part < parts; ++part) {  // close the gaps between what the threads have found
    const i64 gap = room[part] - used;
    std::copy(found.begin() + room[part], found.begin() + ends[part], found.begin() + used);
    std::copy(counts.begin() + room[part], counts.begin() + ends[part], counts.begin() + used);
    for (i64 index = bounds[part]; index < bounds[part + 1]; ++index) offsets[index + 1] -= gap;
    used += ends[part] - room[part];
  }
  return used;
}
EXPORT(count_values)

// Add up the rows of each box.
static void box_sizes(
    Vector<const i64> order, Vector<const i64> starts, Vector<const i64> part_counts, Vector<i64> sizes, i64 threads) {
  const auto length = [&](i64 box) { return starts[box + 1] - starts[box]; };
  in_parts(even_parts(sizes.length, threads, length), [&](i64, i64 from, i64 to) {
    for (i64 box = from; box < to; ++box) {
      i64 sum = 0;
      for (i64 place = starts[box]; place < starts[box + 1]; ++place) sum += part_counts[order[place]];
      sizes[box] = sum;
    }
  });
}
EXPORT(box_sizes)

}  // namespace partition
