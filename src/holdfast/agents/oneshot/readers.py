"""Which reader understands which format. A profile names the format."""

from collections.abc import Callable, Mapping

from holdfast.agents.oneshot.read_claude import ClaudeReader
from holdfast.agents.oneshot.signs import Reader

READERS: Mapping[str, Callable[[], Reader]] = {
    "claude": ClaudeReader,
}
