"""The order in which sweeps try level vectors, and which they try where there are too many."""

from __future__ import annotations

import numpy as np

from incrowd.methods.lattice import Lattice, Levels


def by_loss(lattice: Lattice, most: int) -> Levels:
    """Return at most so many vectors in the order of what they lose, from the lowest to the highest levels.

    Where there would be too many, every other level of the highest hierarchies is left out; where that is not enough,
    columns that lose little go up together.
    """
    steps = lattice.mean_steps()
    blocks = [[np.array([level], dtype=np.int8) for level in allowed] for allowed in lattice.levels]
    order = [[place] for place in range(len(blocks))]
    while np.prod([float(len(block)) for block in blocks]) > most:
        longest = max(range(len(blocks)), key=lambda at: len(blocks[at]))
        if len(blocks[longest]) > 2:
            blocks[longest] = [*blocks[longest][:-1:2], blocks[longest][-1]]
            continue
        moving = [at for at in range(len(blocks)) if len(blocks[at]) == 2]
        cheap, other = sorted(moving, key=lambda at: sum(float(steps[place][-1]) for place in order[at]))[:2]
        blocks[cheap] = [np.concatenate(pair) for pair in zip(blocks[cheap], blocks[other], strict=True)]
        order[cheap] += order[other]
        del blocks[other], order[other]
    nodes = np.zeros((1, 0), dtype=np.int8)
    for block in blocks:
        rows = np.stack(block)
        nodes = np.concatenate([np.repeat(nodes, len(rows), axis=0), np.tile(rows, (len(nodes), 1))], axis=1)
    nodes = nodes[:, np.argsort(np.concatenate(order))]
    return nodes[np.lexsort((*nodes.T[::-1], lattice.mean_losses(nodes)))]
