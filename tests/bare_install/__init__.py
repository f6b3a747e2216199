"""What a user has who installs incrowd alone, or with one extra: the tests' own packages hide what is missing there.

The core is tried in an environment of its own, where nothing else is installed (`make bare`, `__main__.py`). For each
extra, everything that does not come with it is hidden from the environment of the tests (`hidden.py`).
"""
