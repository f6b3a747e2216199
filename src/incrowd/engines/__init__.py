"""Where the rows live: everything that reads, tallies, changes and writes them."""
