// Everything in one piece: the headers are read once.
#include "arguments.hpp"

INCROWD_VISIBLE const char *incrowd_what_failed() { return what_failed().c_str(); }
INCROWD_VISIBLE void incrowd_free(void *made) { std::free(made); }

#include "anatomy.cpp"
#include "gain.cpp"
#include "histograms.cpp"
#include "keys.cpp"
#include "lattice.cpp"
#include "partition.cpp"
#include "purity.cpp"
#include "slicing.cpp"
#include "slicing_cells.cpp"
#include "slicing_cuts.cpp"
#include "slicing_index.cpp"
#include "slicing_matches.cpp"
#include "slicing_pairs.cpp"
#include "slicing_shuffle.cpp"
