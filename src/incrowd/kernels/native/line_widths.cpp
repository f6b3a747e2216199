// Whether every line of a piece of text has the same number of fields. See `line_widths.py`.
#include "bytes.hpp"

namespace line_widths {

// Return how many lines end in the text, -1 if one of them is odd; then the separators after the last newline, and
// where that is. `open` are the separators of the first line that came before the text. A block more is readable.
static std::tuple<i64, i64, i64> even_lines(Vector<const i8> text, i64 length, i64 separator, i64 width, i64 open) {
  i64 lines = 0, last = -1;
  for (i64 at = 0; at < length; at += BLOCK) {
    u64 separators = bytes_that_are(text.data + at, static_cast<i8>(separator));
    u64 newlines = bytes_that_are(text.data + at, '\n');
    if (length - at < BLOCK) {
      const u64 within = ~(~u64{0} << (length - at));
      separators &= within;
      newlines &= within;
    }
    for (; newlines != 0; newlines &= newlines - 1) {
      const u64 before = (newlines & (~newlines + 1)) - 1;
      if (open + __builtin_popcountll(separators & before) != width - 1) return {-1, 0, 0};
      separators &= ~before;
      open = 0;
      ++lines;
      last = at + __builtin_ctzll(newlines);
    }
    open += __builtin_popcountll(separators);
  }
  return {lines, open, last};
}
EXPORT(even_lines)

}  // namespace line_widths
