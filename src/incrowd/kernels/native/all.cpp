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
#include "keys.cpp"
#include "lattice.cpp"
#include "partition.cpp"
#include "regions.cpp"
#include "reweighing.cpp"
