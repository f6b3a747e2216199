"""The papers' evaluations, each as one command: `incrowd experiment NAME` (extra: `incrowd[experiments]`)."""
