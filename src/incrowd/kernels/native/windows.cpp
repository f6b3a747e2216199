// How many different things are in windows of a list. See `windows.py` for what things mean.
#include "arguments.hpp"

namespace windows {

static void firsts_in_windows(
    Vector<const i64> earlier, Vector<const i64> starts, Vector<const i64> ends, Vector<i64> found) {
  for (i64 window = 0; window < starts.length; ++window) {
    const i64 start = starts[window];
    i64 firsts = 0;
    for (i64 entry = start; entry < ends[window]; ++entry) firsts += earlier[entry] < start;
    found[window] = firsts;
  }
}
EXPORT(firsts_in_windows)

}  // namespace windows
