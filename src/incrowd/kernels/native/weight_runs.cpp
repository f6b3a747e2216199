// Runs of neighbouring weights, group by group, each of which enough people have. See `weight_runs.py`.
#include "arguments.hpp"

namespace weight_runs {

static void runs_of_enough(Vector<const i64> groups, Vector<const i64> people, i64 enough, Vector<i64> runs) {
  i64 run = -1, first = 0, inside = 0;
  for (i64 place = 0; place < groups.length; ++place) {
    const bool starts_group = place == 0 || groups[place] != groups[place - 1];
    if (starts_group) first = run + 1;
    if (starts_group || inside >= enough) {
      ++run;
      inside = 0;
    }
    runs[place] = run;
    inside += people[place];
    const bool ends_group = place == groups.length - 1 || groups[place + 1] != groups[place];
    if (ends_group && inside < enough && run > first) {
      for (i64 back = place; back >= 0 && runs[back] == run; --back) runs[back] = run - 1;
      --run;
    }
  }
}
EXPORT(runs_of_enough)

}  // namespace weight_runs
