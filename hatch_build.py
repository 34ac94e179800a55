"""The package's build hook: a wheel carries the page, and whoever installs one needs no Node."""

import importlib.util
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PageHook(BuildHookInterface[Any]):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        script = Path(self.root) / "web" / "build.py"
        built = Path(self.root) / "src" / "holdfast" / "server" / "static" / "index.html"
        if not script.is_file():  # from an sdist, which carries the page built
            if not built.is_file():
                raise RuntimeError("there is neither a built page nor its sources")
            return
        found = importlib.util.spec_from_file_location("page_build", script)
        assert found is not None and found.loader is not None
        page = importlib.util.module_from_spec(found)
        found.loader.exec_module(page)
        if page.build() == "no node" and version != "editable":
            raise RuntimeError(
                "Node 20.19 or later, with npm, is needed to put the page into the package; "
                f"{page.SKIP}=1 leaves it out"
            )
