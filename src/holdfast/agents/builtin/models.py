"""Which models there are, by `provider:model`.

So far `scripted:FILE`. The providers of the model library come with the next stage; a name of theirs
is refused in one sentence before anything is started.
"""

from collections.abc import Mapping
from pathlib import Path

from holdfast.agents.builtin.model import Model, ModelFailed
from holdfast.agents.builtin.scripted import ScriptedModel
from holdfast.core.session import ErrorClass


class Models:
    def __init__(self) -> None:
        self._scripted: dict[str, ScriptedModel] = {}

    def problem(self, name: str) -> str | None:
        """Why there is no such model; None: there is."""
        provider, _, rest = name.partition(":")
        if not name:
            return "No model was named, and none is configured."
        if provider == "scripted" and rest:
            return None
        return f"There is no model {name!r} here: only scripted:FILE so far."

    def model(self, name: str, environ: Mapping[str, str]) -> Model:
        problem = self.problem(name)
        if problem is not None:
            raise ModelFailed(ErrorClass.BAD_REQUEST, problem)
        path = name.partition(":")[2]
        # One for all runs of this process: it counts how often a reply has failed.
        return self._scripted.setdefault(path, ScriptedModel(Path(path)))
