"""What is done in processes of their own. A module adds tasks by its `TASKS`: functions by name."""

from __future__ import annotations

from incrowd.common.registry import modules_of
from incrowd.studio.working import Task

TASKS: dict[str, Task] = {
    name: task for module in modules_of("incrowd.studio.tasks") for name, task in vars(module).get("TASKS", {}).items()
}
