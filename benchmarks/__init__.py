"""How fast and how lossless incrowd is, as ratios to a floor measured in the same run: `make bench`."""
