// Everything in one piece: the headers are read once.
#include "arguments.hpp"

INCROWD_VISIBLE const char *incrowd_what_failed() { return what_failed().c_str(); }
INCROWD_VISIBLE void incrowd_free(void *made) { std::free(made); }

#include "answering.cpp"
#include "beliefs.cpp"
#include "box_members.cpp"
#include "boxes_and_points.cpp"
#include "boxes_and_points_pairs.cpp"
#include "clustering.cpp"
#include "histograms.cpp"
#include "hitting_set.cpp"
#include "keys.cpp"
#include "lattice.cpp"
#include "partition.cpp"
#include "rank_swapping.cpp"
#include "regions.cpp"
#include "releases_together.cpp"
#include "reweighing.cpp"
#include "set_arrays.cpp"
#include "set_conflicts.cpp"
#include "set_labels.cpp"
#include "set_supports.cpp"
#include "weight_runs.cpp"
#include "windows.cpp"
