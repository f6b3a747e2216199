"""One part of each kind for incrowd, one file each."""
