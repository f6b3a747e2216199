"""Levels of labels, found by reading the label and every node's name."""

from __future__ import annotations

from incrowd.hierarchies import labels
from incrowd.testing.reading import covers
from tests.metrics.recoded import Recoded


def level_of(recoded: Recoded, name: str, label: str | None) -> int:
    """Return the level of the node that a label names; where it names none, of the lowest that covers it."""
    tree, hierarchy = recoded.tree(name), recoded.case.hierarchy(name)
    if label is None:
        return 0
    if label == "*":
        return tree.height
    values = tree.values.to_list()
    covered = {code for code in range(1, tree.size) if covers(label, values[code], hierarchy, ordered=tree.ordered)}
    fits = []  # for each level, whether a node holds just these values, and whether it is called so
    for level in range(tree.height + 1):
        for node in set(tree.nodes[level].tolist()):
            members = {code for code in range(tree.size) if tree.nodes[level][code] == node}
            if covered <= members:
                called = tree.names[level][node]
                written = called if tree.ordered or called is None else labels.write_name(called)
                fits.append((level, members == covered, written == label))
    named = [level for level, same, called in fits if same and called]
    return named[0] if named else fits[0][0]
