// Move people between groups so that these lose less. See `improving.py` for what things mean.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "arguments.hpp"
#include "threads.hpp"

namespace improving {

constexpr f64 INFINITE = std::numeric_limits<f64>::infinity();
constexpr i64 NONE = -1;
constexpr f64 ROUNDING = 1e-9;  // what sums of losses may be off by
constexpr f64 FEWEST_IN_A_MEAN = 3;
enum Kind : i64 { MATRIX = 0, NODES = 1, LINE = 2, SQUARED_LINE = 3 };

// What a column loses if it shows all codes from low to high, both included.
struct Losses {
  Vector<const i64> kinds, sizes, firsts, node_firsts;
  Vector<const f64> table;
  Vector<const i32> nodes;

  f64 of(i64 column, i32 low, i32 high) const {
    const f64 *own = table.data + firsts[column];
    const i64 size = sizes[column];
    if (kinds[column] == MATRIX) return own[low * size + high];
    if (kinds[column] != NODES) {
      const f64 length = low == 0 ? (high == 0 ? own[0] : own[size]) : own[size + high] - own[low];
      return kinds[column] == LINE ? length : length * length;
    }
    const i32 *node = nodes.data + node_firsts[column];
    i64 level = 0;
    while (node[level * size + low] != node[level * size + high]) ++level;
    return own[level * size + high];
  }
};

// Random numbers that are the same everywhere (xorshift64*); seeds next to each other have nothing in common.
struct Chance {
  u64 state;
  explicit Chance(u64 seed) {
    seed = (seed + 1) * 0x9E3779B97F4A7C15ull;
    seed = (seed ^ (seed >> 30)) * 0xBF58476D1CE4E5B9ull;
    seed = (seed ^ (seed >> 27)) * 0x94D049BB133111EBull;
    state = (seed ^ (seed >> 31)) | 1;
  }
  u64 next() {
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return state * 0x2545F4914F6CDD1Dull;
  }
  f64 share() { return static_cast<f64>(next() >> 11) * 0x1p-53; }
  i64 below(i64 number) { return static_cast<i64>(share() * static_cast<f64>(number)); }
};

// What a column of numbers is off by where a mean is shown in their place.
struct Sums {
  f64 known = 0, sum = 0, squares = 0;

  void add(f64 number, f64 rows) {
    if (std::isnan(number)) return;
    known += rows;
    sum += rows * number;
    squares += rows * number * number;
  }
  // A row without a value is off by all there is, and so is everybody where so few have one that no mean is shown.
  f64 off(f64 size) const {
    if (!(known > 0)) return 0;
    if (known < size && known < FEWEST_IN_A_MEAN) return size;
    return std::max(squares - sum * sum / known, 0.0) + (size - known);
  }
};

struct Group {
  std::vector<i32> members;  // in their order, so that all that follows from them does not depend on who came first
  i64 size = 0;
  f64 loss = 0;    // of what its labels say, for each of its rows
  f64 off = 0;     // of its rows from their means, together
  f64 cost() const { return loss * static_cast<f64>(size) + off; }
};

// The table, its groups, and when a group is fine.
struct Table {
  Matrix<const i32> codes;
  Vector<const i64> counts;
  Matrix<const i32> near;
  Losses losses, climbs;
  f64 max_climb, withheld;
  i64 min_rows;
  Matrix<const f64> numbers;  // of columns that show means; NaN is missing
  Matrix<const i32> values;
  Vector<const i64> min_values;
  Vector<i64> group_of;

  std::vector<Group> groups;
  std::vector<i32> lows, highs;  // of each group, column by column
  std::vector<Sums> sums;        // of each group, number by number
  std::vector<i32> empty;
  std::vector<std::pair<i32, i64>> moved;  // what was moved since the last look, and from where
  f64 change = 0;                          // what that changed

  i64 columns() const { return codes.columns; }
  i32 *low(i64 group) { return lows.data() + group * columns(); }
  i32 *high(i64 group) { return highs.data() + group * columns(); }

  void build() {
    i64 number = 0;
    for (i64 item = 0; item < counts.length; ++item) number = std::max(number, group_of[item] + 1);
    groups.assign(static_cast<std::size_t>(number), Group{});
    lows.assign(static_cast<std::size_t>(number * columns()), 0);
    highs.assign(static_cast<std::size_t>(number * columns()), 0);
    sums.assign(static_cast<std::size_t>(number * numbers.columns), Sums{});
    for (i64 item = 0; item < counts.length; ++item) {
      if (group_of[item] != NONE) groups[group_of[item]].members.push_back(static_cast<i32>(item));
    }
    for (i64 group = 0; group < number; ++group) {
      describe(group);
      if (groups[group].members.empty()) empty.push_back(static_cast<i32>(group));
    }
  }

  f64 total() const {
    f64 sum = 0;
    for (const Group &group : groups) sum += group.cost();
    for (i64 item = 0; item < counts.length; ++item) {
      if (group_of[item] == NONE) sum += withheld * static_cast<f64>(counts[item]);
    }
    return sum;
  }

  i64 new_group() {
    if (!empty.empty()) {
      const i64 group = empty.back();
      empty.pop_back();
      return group;
    }
    groups.emplace_back();
    lows.resize(lows.size() + static_cast<std::size_t>(columns()));
    highs.resize(highs.size() + static_cast<std::size_t>(columns()));
    sums.resize(sums.size() + static_cast<std::size_t>(numbers.columns));
    return static_cast<i64>(groups.size()) - 1;
  }

  f64 span_loss(const Losses &table, const i32 *from, const i32 *to) const {
    f64 loss = 0;
    for (i64 column = 0; column < columns(); ++column) loss += table.of(column, from[column], to[column]);
    return loss;
  }

  static void widen(const i32 *own, i64 columns, i32 *from, i32 *to) {
    for (i64 column = 0; column < columns; ++column) {
      from[column] = std::min(from[column], own[column]);
      to[column] = std::max(to[column], own[column]);
    }
  }

  void describe(i64 group) {
    Group &one = groups[group];
    one.size = 0;
    one.loss = one.off = 0;
    if (one.members.empty()) return;
    i32 *from = low(group), *to = high(group);
    std::copy_n(codes[one.members[0]], columns(), from);
    std::copy_n(codes[one.members[0]], columns(), to);
    for (const i32 member : one.members) {
      one.size += counts[member];
      widen(codes[member], columns(), from, to);
    }
    one.loss = span_loss(losses, from, to);
    for (i64 place = 0; place < numbers.columns; ++place) {
      Sums &own = sums[group * numbers.columns + place];
      own = Sums{};
      for (const i32 member : one.members) own.add(numbers[member][place], static_cast<f64>(counts[member]));
      one.off += own.off(static_cast<f64>(one.size));
    }
  }

  // How far off a group's rows are from their means if an item joins it (sign 1), or leaves it (sign -1).
  f64 off_with(i64 group, i64 item, f64 sign) const {
    const f64 rows = sign * static_cast<f64>(counts[item]), size = static_cast<f64>(groups[group].size) + rows;
    f64 off = 0;
    for (i64 place = 0; place < numbers.columns; ++place) {
      Sums with = sums[group * numbers.columns + place];
      with.add(numbers[item][place], rows);
      off += with.off(size);
    }
    return off;
  }

  // What an item adds to the cost of a group that it joins.
  f64 added(i64 group, i64 item) {
    const Group &one = groups[group];
    const i32 *own = codes[item], *from = low(group), *to = high(group);
    const bool alone = one.members.empty();
    f64 loss = 0;
    for (i64 column = 0; column < columns(); ++column) {
      const i32 code = own[column];
      loss += alone ? losses.of(column, code, code)
                    : losses.of(column, std::min(from[column], code), std::max(to[column], code));
    }
    const f64 off = numbers.columns == 0 ? 0 : alone ? 0 : off_with(group, item, 1);
    return loss * static_cast<f64>(one.size + counts[item]) + off - one.cost();
  }

  // What it changes, for those who stay and by itself, if an item leaves its group.
  f64 left(i64 item) {
    const i64 group = group_of[item];
    if (group == NONE) return -withheld * static_cast<f64>(counts[item]);
    const Group &one = groups[group];
    if (one.members.size() == 1) return -one.cost();
    const i32 *own = codes[item], *from = low(group), *to = high(group);
    const f64 rows = static_cast<f64>(one.size - counts[item]);
    const f64 off = numbers.columns == 0 ? 0 : off_with(group, item, -1);
    bool at_end = false;
    for (i64 column = 0; column < columns() && !at_end; ++column) {
      at_end = from[column] != to[column] && (own[column] == from[column] || own[column] == to[column]);
    }
    if (!at_end) return one.loss * rows + off - one.cost();
    f64 loss = 0;
    for (i64 column = 0; column < columns(); ++column) {
      i32 first = from[column], last = to[column];
      if (first != last && (own[column] == first || own[column] == last)) {
        first = std::numeric_limits<i32>::max();
        last = -1;
        for (const i32 member : one.members) {
          if (member == item) continue;
          first = std::min(first, codes[member][column]);
          last = std::max(last, codes[member][column]);
        }
      }
      loss += losses.of(column, first, last);
    }
    return loss * rows + off - one.cost();
  }

  // Whether a group, without one of its members, is empty or satisfies what is required.
  bool fine(i64 group, i64 without = NONE) const {
    if (group == NONE) return true;
    const Group &one = groups[group];
    const i64 members = static_cast<i64>(one.members.size()) - (without != NONE);
    if (members == 0) return true;
    if (one.size - (without == NONE ? 0 : counts[without]) < min_rows) return false;
    for (i64 column = 0; column < values.columns; ++column) {
      if (!enough_values(one, without, column)) return false;
    }
    return true;
  }

  // Whether there are enough different values; a negative one protects nobody.
  bool enough_values(const Group &one, i64 without, i64 column) const {
    const i64 wanted = min_values[column];
    i32 found[64];
    i64 known = 0;
    for (const i32 member : one.members) {
      const i32 value = values[member][column];
      if (member == without || value < 0 || std::find(found, found + known, value) != found + known) continue;
      found[known++] = value;
      if (known >= wanted) return true;
    }
    return known >= wanted;
  }

  void move(i64 item, i64 to) {
    const i64 from = group_of[item];
    if (from != NONE) {
      change -= groups[from].cost();
      std::vector<i32> &members = groups[from].members;
      members.erase(std::lower_bound(members.begin(), members.end(), static_cast<i32>(item)));
      describe(from);
      change += groups[from].cost();
    } else {
      change -= withheld * static_cast<f64>(counts[item]);
    }
    if (to != NONE) {
      change -= groups[to].cost();
      std::vector<i32> &members = groups[to].members;
      members.insert(std::lower_bound(members.begin(), members.end(), static_cast<i32>(item)), static_cast<i32>(item));
      describe(to);
      change += groups[to].cost();
    } else {
      change += withheld * static_cast<f64>(counts[item]);
    }
    group_of[item] = to;
    moved.emplace_back(static_cast<i32>(item), from);
  }

  void start() {
    moved.clear();
    change = 0;
  }

  void take_back() {
    for (std::size_t place = moved.size(); place-- > 0;) {
      const auto [item, from] = moved[place];
      move(item, from);
      moved.pop_back();
    }
    start();
  }

  // Whether what was moved may stay: all groups that it touched are fine, and show no more than they may.
  bool may_stay(f64 bar) {
    if (!(change < bar)) return false;
    for (const auto &[item, from] : moved) {
      if (!fine(from) || !fine(group_of[item])) return false;
      if (max_climb < INFINITE) {
        const i64 to = group_of[item];
        if (span_loss(climbs, low(to), high(to)) > max_climb + ROUNDING) return false;
      }
    }
    return true;
  }

  void keep() {  // a group may be left several times, and only once be empty
    for (const auto &[item, from] : moved) {
      if (from != NONE && groups[from].members.empty() &&
          std::find(empty.begin(), empty.end(), static_cast<i32>(from)) == empty.end()) {
        empty.push_back(static_cast<i32>(from));
      }
    }
  }

  // An item that is near another one, the nearer the likelier.
  i64 near_to(i64 item, Chance &chance) const {
    const f64 share = chance.share();
    return near[item][static_cast<i64>(share * share * static_cast<f64>(near.columns))];
  }
};

constexpr i64 STEPS_OF_MOVES = 256, STEPS_OF_A_SEARCH = 512;  // about
constexpr i64 LONGEST_CHAIN = 3, TRIED = 4, TRIED_FOR_NEW = 6, MOST_NEW = 256;

// Find an item near a group's members that it costs least to bring there; one that leaves a failing group costs more.
static i64 cheapest_near(Table &table, i64 group, i64 beside, i64 tried, f64 extra, f64 &best, Chance &chance) {
  i64 found = NONE;
  best = INFINITE;
  for (i64 turn = 0; turn < tried; ++turn) {
    const std::vector<i32> &members = table.groups[group].members;
    const i64 item =
        table.near_to(beside == NONE ? members[chance.below(static_cast<i64>(members.size()))] : beside, chance);
    const i64 from = table.group_of[item];
    if (from == group) continue;
    f64 cost = table.added(group, item) + table.left(item);
    if (!table.fine(from, item) && table.fine(from)) cost += extra;
    if (cost < best) {
      best = cost;
      found = item;
    }
  }
  return found;
}

// Move all members of a group to groups near them; false where one of them finds none.
static bool dissolve(Table &table, i64 group, Chance &chance) {
  while (!table.groups[group].members.empty()) {
    const i64 item = table.groups[group].members.back();
    i64 to = NONE;
    f64 best = INFINITE;
    for (i64 turn = 0; turn < TRIED; ++turn) {
      const i64 other = table.group_of[table.near_to(item, chance)];
      if (other == group || other == NONE) continue;
      const f64 cost = table.added(other, item);
      if (cost < best) {
        best = cost;
        to = other;
      }
    }
    if (to == NONE) return false;
    table.move(item, to);
  }
  return true;
}

// Move an item to a group near it. Where that leaves too few behind, others follow in its place, or leave, too.
static void try_move(Table &table, i64 item, f64 bar, f64 scale, Chance &chance) {
  const i64 from = table.group_of[item], to = table.group_of[table.near_to(item, chance)];
  if (to == NONE || from == to) return;
  const f64 cost = table.added(to, item) + table.left(item);
  const bool enough = table.fine(from, item);
  if (!(cost < (enough ? bar : bar + table.groups[from].cost()))) return;
  table.move(item, to);
  i64 lacking = from;
  for (i64 length = 0; !table.fine(lacking) && length < LONGEST_CHAIN; ++length) {
    f64 best;
    const i64 other = cheapest_near(table, lacking, NONE, TRIED, 0.12 * scale, best, chance);
    if (other == NONE || other == item || table.change + best >= bar + 0.2 * scale) break;
    const i64 left = table.group_of[other];
    table.move(other, lacking);
    if (table.fine(lacking)) {
      lacking = left;
    } else if (!table.fine(left)) {
      break;
    }
  }
  if (table.may_stay(bar)) return table.keep();
  table.take_back();
  if (enough || chance.below(4) != 0) return;
  if (dissolve(table, from, chance) && table.may_stay(bar)) return table.keep();
  table.take_back();
}

// Make a new group of an item and others near it; groups that then have too few are given up.
static void try_new(Table &table, i64 item, f64 bar, f64 scale, Chance &chance) {
  const i64 group = table.new_group();
  table.move(item, group);
  bool possible = true;
  while (possible && !table.fine(group)) {
    f64 best;
    const i64 other = cheapest_near(table, group, item, TRIED_FOR_NEW, 0.08 * scale, best, chance);
    possible = other != NONE && static_cast<i64>(table.groups[group].members.size()) < MOST_NEW;
    if (possible) table.move(other, group);
  }
  const std::size_t taken = table.moved.size();
  for (std::size_t place = 0; possible && place < taken; ++place) {
    const i64 from = table.moved[place].second;
    if (table.fine(from)) continue;
    possible = table.change - table.groups[from].cost() < bar && dissolve(table, from, chance);
  }
  if (possible && table.may_stay(bar)) return table.keep();
  table.take_back();
  table.empty.push_back(static_cast<i32>(group));
}

// Some of the items, laid out for themselves: they know of no other.
struct Region {
  std::vector<i32> codes, near, values;
  std::vector<i64> counts;
  std::vector<f64> numbers;

  Region(const Table &all, Vector<const i64> members, Vector<const i32> region_of, Vector<const i32> place_of) {
    for (const i64 item : members) {
      append(codes, all.codes, item);
      append(values, all.values, item);
      append(numbers, all.numbers, item);
      counts.push_back(all.counts[item]);
      // Where some of those near it are elsewhere, others are repeated; where all are, it is near itself alone.
      const std::size_t first = near.size(), wanted = static_cast<std::size_t>(all.near.columns);
      for (i64 place = 0; place < all.near.columns; ++place) {
        const i32 other = all.near[item][place];
        if (region_of[other] == region_of[item]) near.push_back(place_of[other]);
      }
      const std::size_t known = near.size() - first;
      for (std::size_t place = known; place < wanted; ++place) {
        near.push_back(known == 0 ? place_of[item] : near[first + place % known]);
      }
    }
  }

  template <class T> static void append(std::vector<T> &to, Matrix<const T> from, i64 row) {
    to.insert(to.end(), from[row], from[row] + from.columns);
  }
};

static f64 anneal(
    Matrix<const i32> codes, Vector<const i64> counts, Matrix<const i32> near, Vector<const i64> kinds,
    Vector<const i64> sizes, Vector<const i64> firsts, Vector<const i64> node_firsts, Vector<const f64> losses,
    Vector<const f64> climbs, Vector<const i32> nodes, f64 max_climb, f64 withheld, i64 min_rows,
    Matrix<const f64> numbers, Matrix<const i32> values, Vector<const i64> min_values, Vector<const i64> members,
    Vector<const i32> region_of, Vector<const i32> place_of, i64 tries, f64 warmth, f64 scale, i64 seed,
    Vector<i64> group_of) {
  const Losses lost{kinds, sizes, firsts, node_firsts, losses, nodes};
  const Losses climbed{kinds, sizes, firsts, node_firsts, climbs, nodes};
  Table table{codes, counts, near, lost, climbed, max_climb, withheld, min_rows, numbers, values, min_values, group_of};
  const Region own(table, members, region_of, place_of);
  const i64 number = members.length;
  table.codes = {own.codes.data(), number, codes.columns};
  table.counts = {own.counts.data(), number};
  table.near = {own.near.data(), number, near.columns};
  table.numbers = {own.numbers.data(), number, numbers.columns};
  table.values = {own.values.data(), number, values.columns};
  table.build();
  Chance chance(static_cast<u64>(seed));
  for (i64 turn = 0; turn < tries && near.columns > 0 && number > 1; ++turn) {
    const i64 item = chance.below(number);
    const f64 bar = warmth > 0 ? -warmth * std::log(chance.share() + 1e-300) : ROUNDING;
    table.start();
    if (chance.below(5) != 0) {
      try_move(table, item, bar, scale, chance);
    } else {
      try_new(table, item, bar, scale, chance);
    }
  }
  return table.total();
}
EXPORT(anneal)

// The moves of one item that lower the loss most, the best first.
struct Best {
  i64 *targets, *partners;
  f64 *changes;
  i64 wanted, known = 0;

  void note(i64 to, i64 other, f64 change) {
    if (!(change < -ROUNDING) || (known == wanted && change >= changes[known - 1])) return;
    if (known < wanted) ++known;
    i64 at = known - 1;
    for (; at > 0 && changes[at - 1] > change; --at) {
      changes[at] = changes[at - 1];
      targets[at] = targets[at - 1];
      partners[at] = partners[at - 1];
    }
    changes[at] = change;
    targets[at] = to;
    partners[at] = other;
  }
  void end() {
    std::fill(targets + known, targets + wanted, NONE);
    std::fill(partners + known, partners + wanted, NONE);
    std::fill(changes + known, changes + wanted, 0.0);
  }
};

// Find moves of an item to groups near it, and swaps with their members.
static void find_moves(Table &table, i64 item, i64 swaps, Chance chance, Best &best) {
  const i64 from = table.group_of[item];
  const f64 leaving = table.left(item);
  const bool enough = table.fine(from, item);
  std::vector<i64> seen{from, NONE};
  for (i64 neighbour = 0; neighbour < table.near.columns; ++neighbour) {
    const i64 to = table.group_of[table.near[item][neighbour]];
    if (std::find(seen.begin(), seen.end(), to) != seen.end()) continue;
    seen.push_back(to);
    const f64 change = table.added(to, item) + leaving;
    if (enough && change < -ROUNDING) {
      table.start();
      table.move(item, to);
      if (table.may_stay(-ROUNDING)) best.note(to, NONE, table.change);
      table.take_back();
    }
    if (from == NONE) continue;
    const i64 members = static_cast<i64>(table.groups[to].members.size());
    for (i64 turn = 0; turn < std::min(swaps, members); ++turn) {
      const i64 other = table.groups[to].members[swaps < members ? chance.below(members) : turn];
      table.start();
      table.move(item, to);
      table.move(other, from);
      if (table.may_stay(-ROUNDING)) best.note(to, other, table.change);
      table.take_back();
    }
  }
  best.end();
}

// Find, for each of some items, the moves that lower the loss most. What is found of one does not depend on others.
static void propose(
    Matrix<const i32> codes, Vector<const i64> counts, Matrix<const i32> near, Vector<const i64> kinds,
    Vector<const i64> sizes, Vector<const i64> firsts, Vector<const i64> node_firsts, Vector<const f64> losses,
    Vector<const f64> climbs, Vector<const i32> nodes, f64 max_climb, f64 withheld, i64 min_rows,
    Matrix<const f64> numbers, i64 swaps, Vector<const i64> items, i64 seed, Vector<const i64> group_of, i64 threads,
    Matrix<i64> targets, Matrix<i64> partners, Matrix<f64> changes) {
  const Losses lost{kinds, sizes, firsts, node_firsts, losses, nodes};
  const Losses climbed{kinds, sizes, firsts, node_firsts, climbs, nodes};
  const Matrix<const i32> no_values{nullptr, counts.length, 0};
  const Vector<const i64> no_wishes{nullptr, 0};
  in_parts(even_parts(items.length, threads, [](i64) { return STEPS_OF_MOVES; }), [&](i64, i64 first, i64 last) {
    std::vector<i64> groups(group_of.begin(), group_of.end());
    Table table{codes, counts, near, lost, climbed, max_climb, withheld, min_rows, numbers, no_values, no_wishes,
                {groups.data(), group_of.length}};
    table.build();
    for (i64 place = first; place < last; ++place) {
      const u64 mixed = static_cast<u64>(seed) * 0x9E3779B97F4A7C15ull + static_cast<u64>(items[place]);
      Best best{targets[place], partners[place], changes[place], targets.columns};
      find_moves(table, items[place], swaps, Chance(mixed), best);
    }
  });
}
EXPORT(propose)

// The items in the order of their codes, as a tree with a level for each column: items that begin alike share a branch.
struct Branches {
  std::vector<i64> order;                        // of the columns
  std::vector<i32> items;                        // in the order of the leaves
  std::vector<std::vector<i64>> first_below;     // of each level's branches, the last entry one past them
  std::vector<std::vector<i32>> code;            // of each level's branches
};

static Branches branch(Matrix<const i32> codes, const Losses &losses) {
  Branches found;
  const i64 columns = codes.columns, number = codes.rows;
  found.order.resize(static_cast<std::size_t>(columns));
  std::iota(found.order.begin(), found.order.end(), i64{0});
  // Columns of few values first: what differs there costs most, so that most branches end early; before them those of
  // which no two values may be together.
  std::vector<i64> rank(losses.sizes.begin(), losses.sizes.end());
  for (i64 column = 0; column < columns; ++column) {
    const i32 last = static_cast<i32>(losses.sizes[column]) - 1;
    if (last > 0 && !(losses.of(column, last - 1, last) < INFINITE)) rank[column] = 0;
  }
  std::stable_sort(found.order.begin(), found.order.end(), [&](i64 a, i64 b) { return rank[a] < rank[b]; });
  found.items.resize(static_cast<std::size_t>(number));
  std::iota(found.items.begin(), found.items.end(), i32{0});
  std::sort(found.items.begin(), found.items.end(), [&](i32 a, i32 b) {
    for (const i64 column : found.order) {
      if (codes[a][column] != codes[b][column]) return codes[a][column] < codes[b][column];
    }
    return a < b;
  });
  std::vector<i64> starts{0, number}, below;
  found.first_below.resize(static_cast<std::size_t>(columns));
  found.code.resize(static_cast<std::size_t>(columns));
  for (i64 depth = 0; depth < columns; ++depth) {
    const i64 column = found.order[depth];
    std::vector<i64> parents;
    below.clear();
    for (std::size_t branch = 0; branch + 1 < starts.size(); ++branch) {
      parents.push_back(static_cast<i64>(below.size()));
      for (i64 at = starts[branch]; at < starts[branch + 1]; ++at) {
        if (at > starts[branch] && codes[found.items[at]][column] == codes[found.items[at - 1]][column]) continue;
        below.push_back(at);
        found.code[depth].push_back(codes[found.items[at]][column]);
      }
    }
    parents.push_back(static_cast<i64>(below.size()));
    found.first_below[depth] = parents;
    below.push_back(number);
    starts = below;
  }
  found.first_below.push_back(starts);  // of the leaves: their items
  return found;
}

struct Nearest {
  const Matrix<const i32> codes;
  const Losses losses;
  const Branches &branches;
  i64 wanted, may_visit;
  i32 item = 0;
  i64 visited = 0;
  std::vector<std::pair<f64, i32>> found;  // the furthest first

  void find(i64 of, i32 *near) {
    item = static_cast<i32>(of);
    visited = 0;
    found.clear();
    look(0, 0, branches.first_below[0][1], 0.0);
    std::sort_heap(found.begin(), found.end());
    // Where there are too few, some are repeated; where none may be joined, an item is near itself alone.
    const i64 known = static_cast<i64>(found.size());
    for (i64 place = 0; place < wanted; ++place) near[place] = known == 0 ? item : found[place % known].second;
  }

  void look(i64 depth, i64 first, i64 last, f64 so_far) {
    const std::vector<i32> &code = branches.code[depth];
    const i32 own = codes[item][branches.order[depth]];
    i64 up = std::lower_bound(code.begin() + first, code.begin() + last, own) - code.begin(), down = up - 1;
    // Outwards from its own value, so that good ones are found early and end other branches.
    while (up < last || down >= first) {
      if (up < last) visit(depth, up++, own, so_far);
      if (down >= first) visit(depth, down--, own, so_far);
    }
  }

  void visit(i64 depth, i64 at, i32 own, f64 so_far) {
    if (++visited > may_visit) return;
    const i64 column = branches.order[depth];
    const i32 other = branches.code[depth][at];
    const f64 lost = so_far + losses.of(column, std::min(own, other), std::max(own, other));
    const bool full = static_cast<i64>(found.size()) == wanted;
    if (!(lost < INFINITE) || (full && lost >= found.front().first)) return;
    const i64 first = branches.first_below[depth + 1][at], last = branches.first_below[depth + 1][at + 1];
    if (depth + 1 < codes.columns) return look(depth + 1, first, last, lost);
    for (i64 place = first; place < last; ++place) {
      const i32 neighbour = branches.items[place];
      if (neighbour == item) continue;
      if (static_cast<i64>(found.size()) == wanted) {
        if (std::make_pair(lost, neighbour) >= found.front()) continue;
        std::pop_heap(found.begin(), found.end());
        found.pop_back();
      }
      found.emplace_back(lost, neighbour);
      std::push_heap(found.begin(), found.end());
    }
  }
};

// Find the items near each; threads take some at a time, since it takes much longer for some than for others.
static void near_items(
    Matrix<const i32> codes, Vector<const i64> kinds, Vector<const i64> sizes, Vector<const i64> firsts,
    Vector<const i64> node_firsts, Vector<const f64> losses, Vector<const i32> nodes, i64 may_visit, i64 threads,
    Matrix<i32> near) {
  if (codes.rows < 2 || near.columns == 0) return;
  const Losses distances{kinds, sizes, firsts, node_firsts, losses, nodes};
  const Branches branches = branch(codes, distances);
  constexpr i64 AT_ONCE = 128;
  std::atomic<i64> next{0};
  in_parts(even_parts(codes.rows, threads, [](i64) { return STEPS_OF_A_SEARCH; }), [&](i64, i64, i64) {
    Nearest search{codes, distances, branches, near.columns, may_visit, 0, 0, {}};
    for (i64 first; (first = next.fetch_add(AT_ONCE)) < codes.rows;) {
      for (i64 item = first; item < std::min(first + AT_ONCE, codes.rows); ++item) search.find(item, near[item]);
    }
  });
}
EXPORT(near_items)

}  // namespace improving
