// Count the distinct tuples of some columns in lines of plain text, block by block. See `line_counts.py`.
//
// Fields are numbered as they are met, column by column, and tuples are rows of such numbers in one hash table. Lines
// are taken 64 at a time, so that the memory which each of them needs is on its way while others are looked at.
#include "bytes.hpp"
#include "threads.hpp"

#include <memory>
#include <vector>

namespace line_counts {

constexpr u64 MULTIPLIER = 0x9E3779B97F4A7C15u;
constexpr i64 WORD = 8, BATCH = 64;

static u64 word_at(const i8 *text) {
  u64 word;
  std::memcpy(&word, text, sizeof word);
  return word;
}

// The first `length` bytes of a word, at most all of them, and zeros after them.
static u64 first_bytes(const i8 *text, i64 length) {
  constexpr u64 masks[] = {0, 0xff, 0xffff, 0xffffff, 0xffffffff, 0xffffffffff, 0xffffffffffff, 0xffffffffffffff, ~u64{0}};
  return word_at(text) & masks[length < WORD ? length : WORD];
}

static u64 mixed(u64 hash, u64 more) { return (((hash << 29) | (hash >> 35)) ^ more) * MULTIPLIER; }

// The different texts of a column, numbered from 0. Eight bytes after a text must be readable.
class Texts {
 public:
  Texts() : bytes_(WORD), slots_(64) {}

  i32 number(const i8 *text, i64 length) {
    const u64 prefix = first_bytes(text, length), suffix = length > WORD ? word_at(text + length - WORD) : 0;
    u64 hash = mixed(mixed(static_cast<u64>(length), prefix), suffix);
    for (i64 at = WORD; at < length - WORD; at += WORD) hash = mixed(hash, word_at(text + at));
    for (u64 place = hash >> shift_;; place = (place + 1) & (slots_.size() - 1)) {
      const Slot &slot = slots_[place];
      if (slot.number < 0) return added(text, length, {prefix, suffix, length, size_}, hash, place);
      if (slot.prefix == prefix && slot.suffix == suffix && slot.length == length && same_middle(slot, text)) return slot.number;
    }
  }
  i32 size() const { return size_; }
  i64 length_of(i32 number) const { return begins_[number + 1] - begins_[number]; }
  const i8 *text(i32 number) const { return bytes_.data() + begins_[number]; }

 private:
  struct Slot {
    u64 prefix = 0, suffix = 0;  // the first eight bytes, and the last ones where there are more
    i64 length = 0;
    i32 number = -1;
  };

  bool same_middle(const Slot &slot, const i8 *other) const {
    return slot.length <= 2 * WORD || std::memcmp(text(slot.number), other, static_cast<std::size_t>(slot.length)) == 0;
  }
  i32 added(const i8 *text, i64 length, Slot slot, u64 hash, u64 place) {
    if (size_ == INT32_MAX) throw std::runtime_error("a column has too many different texts");
    bytes_.insert(bytes_.end() - WORD, text, text + length);
    begins_.push_back(begins_.back() + length);
    hashes_.push_back(hash);
    slots_[place] = slot;
    if (2 * static_cast<std::size_t>(++size_) > slots_.size()) grow();
    return slot.number;
  }
  void grow() {
    std::vector<Slot> before(2 * slots_.size());
    before.swap(slots_);
    --shift_;
    for (const Slot &slot : before) {
      if (slot.number < 0) continue;
      u64 place = hashes_[slot.number] >> shift_;
      while (slots_[place].number >= 0) place = (place + 1) & (slots_.size() - 1);
      slots_[place] = slot;
    }
  }

  std::vector<i8> bytes_;  // all texts, one after the other, and a word more
  std::vector<i64> begins_{0};
  std::vector<u64> hashes_;
  std::vector<Slot> slots_;
  i32 size_ = 0;
  int shift_ = 64 - 6;
};

// Tuples of numbers, and how many lines have each.
class Counts {
 public:
  explicit Counts(i64 columns)
      : columns_(columns), stride_(columns + 2), rows_(stride_, 1 << 10), slots_(1, 0), codes_(BATCH * columns),
        hashes_(BATCH), times_(BATCH) {
    empty_slots(1 << 12);
  }

  i32 *next() { return codes_.data() + waiting_ * columns_; }  // where the numbers of another tuple go
  void add(i64 times) {
    u64 hash = 0;
    const i32 *codes = next();
    for (i64 column = 0; column < columns_; ++column) hash = mixed(hash, static_cast<u64>(codes[column]));
    hashes_[waiting_] = hash;
    times_[waiting_] = times;
    if (++waiting_ == BATCH) flush();
  }
  void flush() {
    if (waiting_ == 0) return;
    while (2 * (size_ + waiting_) > slots_.length()) grow();
    for (i64 one = 0; one < waiting_; ++one) __builtin_prefetch(&slots_[hashes_[one] >> shift_]);
    for (i64 one = 0; one < waiting_; ++one) {
      const Slot &slot = slots_[hashes_[one] >> shift_];
      if (slot.place >= 0) __builtin_prefetch(row(slot.place));
    }
    for (i64 one = 0; one < waiting_; ++one) count(codes_.data() + one * columns_, hashes_[one], times_[one]);
    waiting_ = 0;
  }
  i64 size() const { return size_; }
  const i32 *codes(i64 place) const { return rows_.row(place); }
  i64 times(i64 place) const {
    i64 found;
    std::memcpy(&found, rows_.row(place) + columns_, sizeof found);
    return found;
  }

 private:
  struct Slot {
    u32 hash = 0;
    i32 place = -1;
  };

  void append(const i32 *codes, i64 times) {
    i32 *row = rows_.add();
    std::copy(codes, codes + columns_, row);
    std::memcpy(row + columns_, &times, sizeof times);
    ++size_;
  }
  i32 *row(i64 place) { return rows_.row(place); }
  void count(const i32 *codes, u64 hash, i64 times) {
    for (u64 slot = hash >> shift_;; slot = next(slot)) {
      Slot &here = slots_[slot];
      if (here.place < 0) {
        if (size_ == INT32_MAX) throw std::runtime_error("there are too many different tuples");
        here = {static_cast<u32>(hash), static_cast<i32>(size_)};
        append(codes, times);
        return;
      }
      i32 *there = row(here.place);
      if (here.hash == static_cast<u32>(hash) && std::memcmp(there, codes, static_cast<std::size_t>(columns_) * sizeof(i32)) == 0) {
        const i64 more = this->times(here.place) + times;
        std::memcpy(there + columns_, &more, sizeof more);
        return;
      }
    }
  }
  void grow() {
    empty_slots(2 * slots_.length());
    --shift_;
    for (i64 place = 0; place < size_; ++place) {
      u64 hash = 0;
      for (i64 column = 0; column < columns_; ++column) hash = mixed(hash, static_cast<u64>(codes(place)[column]));
      u64 slot = hash >> shift_;
      while (slots_[slot].place >= 0) slot = next(slot);
      slots_[slot] = {static_cast<u32>(hash), static_cast<i32>(place)};
    }
  }

  void empty_slots(i64 number) {
    slots_ = Growing<Slot>(1, number);
    slots_.set_length(number);
    std::fill_n(slots_.row(0), number, Slot{});
  }
  u64 next(u64 slot) const { return (slot + 1) & static_cast<u64>(slots_.length() - 1); }

  i64 columns_, stride_, size_ = 0, waiting_ = 0;
  Growing<i32> rows_;  // the numbers of a tuple, and then its count
  Growing<Slot> slots_;
  std::vector<i32> codes_;
  std::vector<u64> hashes_;
  std::vector<i64> times_;
  int shift_ = 64 - 12;
};

struct Lines {
  Lines(i64 width, i8 separator, Vector<const i64> wanted, bool by_itself)
      : separator(separator), by_itself(by_itself), place_of(static_cast<std::size_t>(width), -1),
        texts(static_cast<std::size_t>(wanted.length)), counts(wanted.length), begins(texts.size()), ends(texts.size()) {
    for (i64 place = 0; place < wanted.length; ++place) place_of.at(static_cast<std::size_t>(wanted[place])) = place;
  }

  // Take in all lines that end in the block, and return how many bytes these are.
  i64 add(const i8 *data, i64 length) {
    const i64 width = static_cast<i64>(place_of.size());
    i64 begin = 0, line = 0, field = 0;
    for (i64 at = 0; at < length; at += BLOCK) {
      u64 marks = bytes_that_are(data + at, separator) | bytes_that_are(data + at, '\n');
      if (length - at < BLOCK) marks &= ~(~u64{0} << (length - at));
      for (; marks != 0; marks &= marks - 1) {
        const i64 end = at + __builtin_ctzll(marks);
        const i64 place = field < width ? place_of[static_cast<std::size_t>(field)] : -1;
        ++field;
        if (data[end] != '\n') {
          if (place >= 0) note(place, begin, end);
          begin = end + 1;
          continue;
        }
        const i64 stop = without_returns(data, begin, end);
        if (place >= 0) note(place, begin, stop);
        finish(data, line, stop, field);
        begin = line = end + 1;
        field = 0;
      }
    }
    return line;
  }
  void join(Lines &other) {
    counts.flush();
    other.counts.flush();
    const std::vector<std::vector<i32>> number = take_texts_of(other);
    for (i64 place = 0; place < other.counts.size(); ++place) {
      i32 *codes = counts.next();
      for (std::size_t column = 0; column < texts.size(); ++column) codes[column] = number[column][static_cast<std::size_t>(other.counts.codes(place)[column])];
      counts.add(other.counts.times(place));
    }
    odd += other.odd;
  }
  // Take in the texts of another one, and return the number that each of them has here.
  std::vector<std::vector<i32>> take_texts_of(const Lines &other) {
    std::vector<std::vector<i32>> number(texts.size());
    for (std::size_t column = 0; column < texts.size(); ++column) {
      const Texts &theirs = other.texts[column];
      for (i32 one = 0; one < theirs.size(); ++one) {
        number[column].push_back(texts[column].number(theirs.text(one), theirs.length_of(one)));
      }
    }
    return number;
  }

  i8 separator;
  bool by_itself;  // no line is an error: one with another number of fields has nothing that is known
  std::vector<i64> place_of;
  std::vector<Texts> texts;
  Counts counts;
  i64 odd = 0;  // lines with another number of fields

 private:
  void note(i64 place, i64 begin, i64 end) {
    begins[static_cast<std::size_t>(place)] = begin;
    ends[static_cast<std::size_t>(place)] = end;
  }
  i64 without_returns(const i8 *data, i64 begin, i64 end) const {
    if (end > begin && data[end - 1] == '\r') --end;
    if (by_itself && end > begin && data[end - 1] == '\r') --end;
    return end;
  }
  // Texts are numbered here and not before: those of a line that does not count must leave no trace.
  void finish(const i8 *data, i64 line, i64 stop, i64 fields) {
    const bool whole = fields == static_cast<i64>(place_of.size());
    if (!whole) ++odd;
    if (!whole && !by_itself) return;
    if (by_itself && fields == 1 && is_blank(data, line, stop)) return;
    i32 *codes = counts.next();
    for (std::size_t place = 0; place < texts.size(); ++place) {
      i64 begin = whole ? begins[place] : 0, end = whole ? ends[place] : 0;
      if (by_itself) {
        while (begin < end && data[begin] == ' ') ++begin;
        while (begin < end && data[end - 1] == ' ') --end;
      }
      codes[place] = texts[place].number(data + begin, end - begin);
    }
    counts.add(1);
  }
  static bool is_blank(const i8 *data, i64 begin, i64 end) {
    while (begin < end && data[begin] == ' ') ++begin;
    return begin == end;
  }

  std::vector<i64> begins, ends;
};

static Lines &lines_of(i64 handle) { return *reinterpret_cast<Lines *>(static_cast<std::intptr_t>(handle)); }

static i64 open_line_counts(i64 width, i64 separator, Vector<const i64> wanted, bool by_itself) {
  auto lines = std::make_unique<Lines>(width, static_cast<i8>(separator), wanted, by_itself);
  return static_cast<i64>(reinterpret_cast<std::intptr_t>(lines.release()));
}
EXPORT(open_line_counts)

static void close_line_counts(i64 handle) { delete &lines_of(handle); }
EXPORT(close_line_counts)

// A block of 64 bytes after those that are filled must be readable.
static i64 add_lines(i64 handle, Vector<const i8> block, i64 filled) {
  if (filled + BLOCK > block.length) throw std::runtime_error("the block is too short");
  return lines_of(handle).add(block.data, filled);
}
EXPORT(add_lines)

static void join_line_counts(i64 handle, i64 other) { lines_of(handle).join(lines_of(other)); }
EXPORT(join_line_counts)

// The numbers and the count of each tuple, one part's after the other's, and how many lines had another number of fields.
// Texts have the numbers of the first part, which takes in those of the others.
static std::tuple<Growing<i32>, Growing<i64>, i64> counted_lines(Vector<const i64> handles, i64 threads) {
  Lines &first_part = lines_of(handles[0]);
  std::vector<std::vector<std::vector<i32>>> number;
  std::vector<i64> starts{0};
  i64 odd = 0;
  for (const i64 handle : handles) {
    Lines &part = lines_of(handle);
    part.counts.flush();
    number.push_back(&part == &first_part ? std::vector<std::vector<i32>>{} : first_part.take_texts_of(part));
    starts.push_back(starts.back() + part.counts.size());
    odd += part.odd;
  }
  const i64 columns = static_cast<i64>(first_part.texts.size()), size = starts.back();
  if (size > INT32_MAX) throw std::runtime_error("there are too many different tuples");
  Growing<i32> codes(columns, size + 1);
  Growing<i64> counts(1, size + 1);
  codes.set_length(size);
  counts.set_length(size);
  in_parts(even_parts(size, threads), [&](i64, i64 first, i64 last) {
    std::size_t part = static_cast<std::size_t>(std::upper_bound(starts.begin(), starts.end(), first) - starts.begin()) - 1;
    for (i64 row = first; row < last; ++row) {
      while (row == starts[part + 1]) ++part;
      const Counts &own = lines_of(handles[static_cast<i64>(part)]).counts;
      const i64 place = row - starts[part];
      const i32 *given = own.codes(place);
      for (i64 column = 0; column < columns; ++column) {
        codes.row(row)[column] = part == 0 ? given[column] : number[part][static_cast<std::size_t>(column)][static_cast<std::size_t>(given[column])];
      }
      counts[row] = own.times(place);
    }
  });
  return {std::move(codes), std::move(counts), odd};
}
EXPORT(counted_lines)

// The texts of a column in the order of their numbers, each with a newline after it.
static std::tuple<Growing<i8>, i64> texts_of_lines(i64 handle, i64 column) {
  const Texts &texts = lines_of(handle).texts.at(static_cast<std::size_t>(column));
  Growing<i8> all(1, 1 << 12);
  for (i32 number = 0; number < texts.size(); ++number) {
    const i8 *text = texts.text(number);
    for (i64 at = 0; at < texts.length_of(number); ++at) all.push(text[at]);
    all.push('\n');
  }
  return {std::move(all), static_cast<i64>(texts.size())};
}
EXPORT(texts_of_lines)

}  // namespace line_counts
