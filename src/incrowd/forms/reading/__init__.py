"""Published files read back: labels and written rows, of our own and of other tools."""
