"""DiffGen and its consistent sibling: boxes chosen under differential privacy, and noisy counts of who is in them."""
