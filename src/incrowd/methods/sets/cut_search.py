"""From the root down: show more and more specific nodes as long as that gains more than it costs.

The state is a cut through the tree: nodes that hold every item once, each shown or suppressed. It starts as the root,
or as nothing where even the root is unsafe. A step takes one node of the cut and shows its children in its place, or
shows a node that was suppressed. Unsafe combinations that this would bring are counted; the cheapest nodes that hit
them all, new or old, are suppressed, where that is allowed. What a step gains is what items lose less, minus what is
suppressed. The best step comes first; gains are looked at again only when a step comes to the top of the queue, since
they mostly shrink (lazy greedy; Minoux 1978). Every state is safe, so that the search can end at any time.

Generalizing from the leaves up by counting combinations of growing size (Apriori anonymization; Terrovitis, Mamoulis &
Kalnis 2008) reaches cuts of the same kind. Going down, a step looks only at sets below its node, nothing is counted for
items that end up in one node, and every combination that is looked at is of nodes that can be published.

Cost: a step at a node counts the combinations that its children are in. All steps of one level of the tree together
count m times the combinations of all sets at most; the number of levels, and of looks at each node, multiply that.
"""

from __future__ import annotations

import heapq
from dataclasses import field

import numpy as np

from incrowd.common.arrays import Bools, Codes, Ints
from incrowd.common.progress import Progress, silent
from incrowd.common.records import dataclass
from incrowd.core.item_sets import ItemSets
from incrowd.core.set_model import SetModel
from incrowd.hierarchies.nodes import NOTHING, Nodes
from incrowd.kernels import hitting_set, set_arrays, set_conflicts

CONFLICTS_AT_ONCE = 4_000_000
"""How many unsafe combinations are held at a time: some 100 MB with what is needed to mend them."""

SWEEPS = 2
"""How often steps that gained nothing are tried again, after others were taken."""


@dataclass(frozen=True)
class Step:
    """A change of the cut: `node` is replaced by `fresh`, and `dropped` nodes, of these or others, are suppressed."""

    node: int
    fresh: Ints
    dropped: Ints
    gain: float


@dataclass(eq=False)
class CutSearch:
    """A cut through the tree of items that is safe at all times, and the steps that improve it."""

    sets: ItemSets
    nodes: Nodes
    model: SetModel
    suppress: bool = True
    generalize: bool = True
    """Whether nodes above items may be shown."""
    shown: Codes = field(init=False)
    """The node of the cut that holds each item, whether it is shown or not."""
    hidden: Bools = field(init=False)
    """Whether each node, if in the cut, is suppressed."""

    def __post_init__(self) -> None:
        nodes = self.nodes
        self.shown = np.full(nodes.size, nodes.root, dtype=np.int32)
        self.shown[NOTHING] = NOTHING
        self.hidden = np.zeros(len(nodes), dtype=bool)
        self._starts, self._holders, _ = set_arrays.holders(self.sets.offsets, self.sets.items, nodes.size)
        self._seen = np.full(len(self.sets), -1, dtype=np.int32)
        self._stamp = 0
        occurrences = np.concatenate(([0], np.cumsum(self.sets.item_counts(nodes.size))))
        self._occurrences = (occurrences[nodes.highs] - occurrences[nodes.lows]).astype(np.float64)
        # Penalties are fractions: a gain that is nothing but rounding would be taken again and again.
        self._least = 1e-9 * (1.0 + self._occurrences[nodes.root])
        values = self.sets.sensitive
        self._watch = self.model.max_share < 1 and values is not None
        self._sensitive = np.full(len(self.sets), -1, dtype=np.int32) if values is None else values
        self._values = int(self._sensitive.max(initial=-1)) + 1 if self._watch else 0
        self.hidden[nodes.root] = not self.generalize or not self._safe_root()

    @property
    def node_of_item(self) -> Codes:
        """What each item is shown as."""
        return np.where(self.hidden[self.shown], NOTHING, self.shown).astype(np.int32)

    @property
    def loss(self) -> float:
        """The penalty of all items that people have, added up."""
        penalty = np.where(self.hidden, 1.0, self.nodes.penalties)
        counts = self._occurrences[: self.nodes.size]
        return float((penalty[self.shown] * counts)[1:].sum())

    def improve(self, progress: Progress = silent) -> None:
        """Take steps until none gains anything."""
        queue: list[tuple[float, int, int]] = []
        tried = [self.nodes.root]
        version, first = 0, self.loss or 1.0
        for _ in range(1 + SWEEPS):
            before = version
            for node in tried:
                self._offer(queue, node)
            tried = []
            while queue:
                _, node, looked = heapq.heappop(queue)
                if looked == version:
                    step = self._pending.pop(node)
                else:
                    found = self._best(node)
                    if found is None:
                        tried.append(node)
                        continue
                    step = found
                    if queue and step.gain < -queue[0][0]:
                        self._pending[node] = step
                        heapq.heappush(queue, (-step.gain, node, version))
                        continue
                self._take(step)
                version += 1
                for new in step.fresh.tolist():
                    if self.hidden[new] and not len(self.nodes.children_of(new)):
                        tried.append(new)
                    else:
                        self._offer(queue, new)
                tried.extend(int(old) for old in step.dropped if old not in step.fresh)
                progress("specializing", 1.0 - self.loss / first)
            if version == before:
                break

    _pending: dict[int, Step] = field(init=False, default_factory=dict)
    """Steps that were looked at and are not taken yet."""

    def _safe_root(self) -> bool:
        """Whether it may be told who has any item at all."""
        having = self.sets.lengths > 0
        people = int(self.sets.counts[having].sum())
        held = np.zeros(max(self._values, 1), dtype=np.int64)
        watched = having & (self._sensitive >= 0) & self._watch
        np.add.at(held, self._sensitive[watched], self.sets.counts[watched])
        most, of_all = set_arrays.most_frequent(people, held, self._values, self.model.first_value)
        sure = self._watch and most > self.model.max_share * of_all + 1e-9
        return people >= self.model.min_people and not sure

    def _in_cut(self, node: int) -> bool:
        return bool(self.shown[self.nodes.lows[node]] == node)

    def _offer(self, queue: list[tuple[float, int, int]], node: int) -> None:
        """Put a node into the queue with the most that a step there could gain; not where too few people have it."""
        if self._in_cut(node) and self._occurrences[node] >= max(self.model.min_people, 1):
            now = 1.0 if self.hidden[node] else self.nodes.penalties[node]
            if now > 0:
                heapq.heappush(queue, (-float(now * self._occurrences[node]), node, -1))

    def _best(self, node: int) -> Step | None:
        """Return the best step at a node, if any gains something."""
        if not self._in_cut(node):
            return None
        children = self.nodes.children_of(node)
        ways: list[Ints] = []
        if len(children):
            ways.append(children)
        if self.hidden[node] and (self.generalize or not len(children)):
            ways.append(np.array([node]))
        steps = [step for step in (self._look(node, fresh) for fresh in ways) if step is not None]
        return max(steps, key=lambda step: step.gain, default=None)

    def _look(self, node: int, fresh: Ints) -> Step | None:
        """Return the step that shows `fresh` in a node's place with what must be suppressed; None if it never pays."""
        nodes, low, high = self.nodes, int(self.nodes.lows[node]), int(self.nodes.highs[node])
        many = len(fresh)
        slots = nodes.lows[self.shown].astype(np.int32) + np.int32(many)
        slots[self.hidden[self.shown]] = -1
        slots[low:high] = np.repeat(np.arange(many, dtype=np.int32), (nodes.highs - nodes.lows)[fresh])
        node_of_slot = np.zeros(many + nodes.size, dtype=np.int64)
        node_of_slot[many + nodes.lows[self.shown]] = self.shown
        node_of_slot[:many] = fresh
        costs = self._occurrences[node_of_slot] * (1.0 - nodes.penalties[node_of_slot])
        now = 1.0 if self.hidden[node] else nodes.penalties[node]
        gain = float(now * self._occurrences[node] - (self._occurrences[fresh] * nodes.penalties[fresh]).sum())
        dropped = np.zeros(len(node_of_slot), dtype=bool)
        written = self._written(slots, low, high)
        for size in range(1, self.model.known_items + 1):
            while gain > self._least:
                conflicts, more = self._conflicts(written, many, len(node_of_slot), size)
                if not len(conflicts):
                    break
                if not self.suppress:
                    return None
                new = hitting_set.hit_all(conflicts, costs)
                gain -= float(costs[new].sum())
                dropped |= new
                written = set_conflicts.without(*written, new, many)
                if not more:
                    break
        if gain <= self._least:
            return None
        return Step(node, fresh, node_of_slot[dropped], gain)

    def _written(self, slots: Codes, low: int, high: int) -> tuple[Ints, Codes, Ints]:
        """Write down the sets that have an item in a run, with what they would show."""
        self._stamp += 1
        members = set_conflicts.sets_with(self._starts, self._holders, low, high, self._seen, self._stamp)
        return set_conflicts.project(self.sets.offsets, self.sets.items, slots, members, low, high)

    def _conflicts(self, written: tuple[Ints, Codes, Ints], fresh: int, numbers: int, size: int) -> tuple[Codes, bool]:
        offsets, items, kept = written
        capacity = CONFLICTS_AT_ONCE if self.suppress else 1
        return set_conflicts.find_conflicts(
            offsets,
            items,
            self.sets.counts[kept],
            self._sensitive[kept],
            self._values,
            fresh,
            numbers,
            size,
            self.model.min_people,
            self.model.max_share,
            self.model.first_value,
            capacity,
        )

    def _take(self, step: Step) -> None:
        nodes = self.nodes
        low, high = nodes.lows[step.node], nodes.highs[step.node]
        self.shown[low:high] = np.repeat(step.fresh, (nodes.highs - nodes.lows)[step.fresh])
        self.hidden[step.fresh] = False
        self.hidden[step.dropped] = True
