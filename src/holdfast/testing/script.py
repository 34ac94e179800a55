"""What a scripted agent says and does: reply n is used when n responses are in the journal."""

from holdfast.core.session import EffectClass, StopReason
from holdfast.core.value import Value


class ScriptedCall(Value):
    name: str = "write"
    effect: EffectClass = EffectClass.UNSAFE
    arguments: str = "{}"
    files: tuple[str, ...] = ()
    output: str = "ok"
    asks: str | None = None  # a question that must be answered before the call begins


class Reply(Value):
    text: str = ""
    pieces: int = 1  # how the text is cut for saving
    calls: tuple[ScriptedCall, ...] = ()
    stop: StopReason | None = None  # end the run here, for this reason, after the calls


Script = tuple[Reply, ...]
