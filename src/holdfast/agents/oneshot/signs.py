"""What a one-shot agent's output says, whichever agent it is: the readers' common language."""

from typing import Protocol

from holdfast.core.budget import Usage
from holdfast.core.value import Value


class Named(Value):
    """Which conversation this is."""

    token: str


class Began(Value):
    """A response of the model begins."""


class Spoke(Value):
    """The next piece of one part of a response."""

    text: str
    part: int = 0
    thinking: bool = False


class Asked(Value):
    """A call, whole. The agent runs it by itself."""

    call: str
    name: str
    arguments: str = "{}"


class Done(Value):
    """The response is complete."""

    usage: Usage = Usage()
    model: str = ""
    message_id: str | None = None


class Dropped(Value):
    """The response that was coming will be asked for again."""

    why: str = ""


class Result(Value):
    call: str
    output: str = ""
    failed: bool = False


class Noted(Value):
    """Advisory trouble: a retry."""

    text: str
    wait_ms: int = 0


class Finished(Value):
    """The agent says that its turn is over."""

    failed: bool = False
    message: str = ""
    status: int | None = None
    retry_after: str = ""  # seconds or a date, as the provider said it
    cost_micros: int = 0


Sign = Named | Began | Spoke | Asked | Done | Dropped | Result | Noted | Finished


class Reader(Protocol):
    """Understands one agent's lines. What it does not know says nothing."""

    def read(self, line: bytes) -> list[Sign]: ...
