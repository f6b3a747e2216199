"""A process of the studio finds each of its tasks, and imports what it is asked for."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pkgutil import iter_modules

import pytest

from incrowd.studio import tasks
from incrowd.studio.tasks import task_named

TASKS = {
    name: task
    for module in iter_modules(tasks.__path__)
    for name, task in vars(import_module(f"incrowd.studio.tasks.{module.name}"))["TASKS"].items()
}


def test_every_task_is_found_by_its_name_in_a_new_process() -> None:
    assert len(TASKS) > 15
    for name, task in TASKS.items():
        assert task_named(name) is task
    code = f"from incrowd.studio.tasks import task_named\nprint([task_named(name).__name__ for name in {list(TASKS)}])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str([task.__name__ for task in TASKS.values()])


def test_tasks_that_nobody_asks_for_are_not_imported() -> None:
    code = (
        "import sys\nfrom incrowd.studio.tasks import task_named\ntask_named('open')\n"
        "print(sorted(name for name in sys.modules if name.startswith('incrowd.studio.tasks.')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['incrowd.studio.tasks.opening']"


def test_a_name_that_no_task_has() -> None:
    with pytest.raises(LookupError, match="no task of the studio is called 'sing'"):
        task_named("sing")
