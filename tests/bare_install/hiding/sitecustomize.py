"""Python imports this when it starts: the packages that HIDDEN_PACKAGES lists are then not to be found."""

import os
import sys
from importlib.machinery import PathFinder

HIDDEN = frozenset(os.environ.get("HIDDEN_PACKAGES", "").split(","))


class Finder(PathFinder):
    """Find what is not hidden. Who asks whether a package is there is told no, as if it were not installed."""

    @classmethod
    def find_spec(cls, fullname, path=None, target=None):
        if fullname.partition(".")[0] in HIDDEN:
            return None
        return super().find_spec(fullname, path, target)


sys.meta_path[sys.meta_path.index(PathFinder)] = Finder
