"""What happens before incrowd is packed, or installed in place: its compiled loops and its typed names are made.

A machine without a C++ compiler gets one for the build, from the package `ziglang`.
"""

from __future__ import annotations

import importlib.util
import os
import sysconfig
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Made(BuildHookInterface[Any]):
    """Runs before every build of the package."""

    def dependencies(self) -> list[str]:
        """Return what the build needs that is not here."""
        command = self._building().compiler()
        return ["ziglang"] if not command or "ziglang" in command else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Make the files that are not in the repository; a wheel is then of this platform, and of any Python."""
        package = Path(self.root) / "src" / "incrowd"
        names = self._module("docs/typed_names.py")
        (package / "__init__.pyi").write_text(names.stub(package), encoding="utf-8", newline="\n")
        if self.target_name != "wheel":
            return
        building = self._building()
        if building.library() is None:
            building.build()
        platform = os.environ.get("INCROWD_WHEEL_PLATFORM") or sysconfig.get_platform()
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform.replace('-', '_').replace('.', '_')}"

    def _building(self) -> ModuleType:
        return self._module("src/incrowd/kernels/native/building.py")

    def _module(self, path: str) -> ModuleType:
        """Load one file of the repository; incrowd itself cannot be imported yet."""
        spec = importlib.util.spec_from_file_location(Path(path).stem, Path(self.root) / path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
