"""Groups that show single values in some columns hold just those whom plain Python puts there."""

from __future__ import annotations

import numpy as np
import pytest

from incrowd.forms.boxes_holding import boxes_holding


@pytest.mark.parametrize("exact", [0, 1, 2, 3])
@pytest.mark.parametrize(("boxes", "people"), [(0, 5), (5, 0), (1, 1), (60, 80)])
def test_boxes_are_those_that_hold_a_person(exact: int, boxes: int, people: int) -> None:
    dice = np.random.default_rng(boxes + exact)
    lows = dice.integers(0, 4, (boxes, 3)).astype(np.int32)
    highs = lows + dice.integers(1, 4, (boxes, 3)).astype(np.int32)
    highs[:, :exact] = lows[:, :exact] + 1
    asked = dice.integers(-1, 6, (people, 3)).astype(np.int32)
    offsets, found = boxes_holding(lows, highs, asked)
    assert len(offsets) == people + 1
    for person in range(people):
        held = [
            box
            for box in range(boxes)
            if all(lows[box, place] <= asked[person, place] < highs[box, place] for place in range(3))
        ]
        assert found[offsets[person] : offsets[person + 1]].tolist() == held
