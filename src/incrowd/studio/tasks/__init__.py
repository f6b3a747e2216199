"""What is done in processes of their own. A module adds tasks by its `TASKS`: functions by name, written out in it."""

from __future__ import annotations

from functools import cache

from incrowd.common.registry import modules_of
from incrowd.studio.working import Task


@cache
def task_named(name: str) -> Task:
    """Return a task. Only modules that write its name are imported: most processes are asked for one."""
    for module in modules_of("incrowd.studio.tasks", f'"{name}": '):
        tasks: dict[str, Task] = vars(module).get("TASKS", {})
        if name in tasks:
            return tasks[name]
    raise LookupError(f"no task of the studio is called {name!r}.")
