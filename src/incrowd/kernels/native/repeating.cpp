// Lines of text, each as often as a number says. See `repeating.py`.
#include "arguments.hpp"

namespace repeating {

static void repeat_lines(Vector<const i8> text, Vector<const i64> ends, Vector<const i64> times, Vector<i8> repeated) {
  i8 *to = repeated.begin();
  for (i64 line = 0, begin = 0; line < ends.length; begin = ends[line++]) {
    const i64 length = ends[line] - begin;
    if (to + length * times[line] > repeated.end()) throw std::runtime_error("there is too little room");
    for (i64 time = 0; time < times[line]; ++time, to += length) std::memcpy(to, text.data + begin, static_cast<std::size_t>(length));
  }
}
EXPORT(repeat_lines)

}  // namespace repeating
