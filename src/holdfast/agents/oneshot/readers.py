"""Which reader understands which format. A profile names the format."""

from collections.abc import Callable, Mapping

from holdfast.agents.oneshot.read_claude import ClaudeReader
from holdfast.agents.oneshot.read_codex import CodexReader
from holdfast.agents.oneshot.read_copilot import CopilotReader
from holdfast.agents.oneshot.read_gemini import GeminiReader
from holdfast.agents.oneshot.read_opencode import OpencodeReader
from holdfast.agents.oneshot.signs import Reader

READERS: Mapping[str, Callable[[], Reader]] = {
    "claude": ClaudeReader,
    "codex": CodexReader,
    "copilot": CopilotReader,
    "gemini": GeminiReader,
    "opencode": OpencodeReader,
}
