"""The frames of the page's socket (SPEC J2): what a client says, and what it hears.

Every frame of a client carries an id that it minted. A command that is said again with the same id
is not done again: it gets the result of the first time, also on another connection.
"""

from typing import Any, Literal

from holdfast.core.value import Value
from holdfast.views.document import SessionOut
from holdfast.views.items import Item
from holdfast.wire import ErrorBody, EventOut, LimitsIn

ALL = "*"  # in place of a session: every one

# --- from a client ----------------------------------------------------------------------------------


class Frame(Value, tag_field="type"):
    """What all frames of a client have."""

    id: str
    session: str


class Subscribe(Frame, tag="subscribe"):
    after: int = 0
    epoch: str = ""
    view: str = "events"  # or "items"


class Unsubscribe(Frame, tag="unsubscribe"):
    pass


class Prompt(Frame, tag="prompt"):
    text: str
    input: str | None = None
    limits: LimitsIn | None = None
    images: tuple[Any, ...] = ()  # refused: a prompt is text (SPEC B14)


class Resume(Frame, tag="resume"):
    message: str | None = None
    limits: LimitsIn | None = None
    rerun: tuple[str, ...] = ()
    fresh: bool = False
    images: tuple[Any, ...] = ()  # refused: a prompt is text (SPEC B14)


class Cancel(Frame, tag="cancel"):
    pass


class Dismiss(Frame, tag="dismiss"):
    pass


class Answer(Frame, tag="answer"):
    decision: str
    answer: str
    always: str | None = None


class Seen(Frame, tag="seen"):
    by: str = "page"


class Status(Frame, tag="session.status"):
    pass


class Reattach(Frame, tag="session.resume"):
    pass


Given = (
    Subscribe | Unsubscribe | Prompt | Resume | Cancel | Dismiss | Answer | Seen | Status | Reattach
)

# --- to a client ------------------------------------------------------------------------------------


class Told(Value, omit_defaults=False, tag_field="type"):
    pass


class Hello(Told, tag="hello"):
    """Answers a subscription. `reset`: forget what you have of it. The items that then come are the
    newest page; earlier ones are asked for by HTTP. For "*" nothing is missed by asking for the list
    after this."""

    session: str
    epoch: str
    head: int
    reset: bool


class Events(Told, tag="events"):
    session: str
    first: int
    seq: int
    events: tuple[EventOut, ...]


class Items(Told, tag="items"):
    """Each item in place of the one with its id, or put in by its `place`. `seq` is the cursor to
    come back with. `document` is there when it changed; for "*" there are no items."""

    session: str
    seq: int
    items: tuple[Item, ...]
    document: SessionOut | None


Field = Literal["text", "thinking"]


class Delta(Told, tag="delta"):
    """A piece of an assistant item's text that may be not yet for good. `offset` counts UTF-16 code
    units for items, characters for events. A piece beyond the end of what you have: a piece is
    missing, and the whole item comes when it is finished."""

    session: str
    item: str
    field: Field
    offset: int
    text: str


class Gap(Told, tag="gap"):
    """The journal could not be read: this subscription is over, subscribe again from your cursor."""

    session: str
    error: ErrorBody


class Beat(Told, tag="beat"):
    """Every quarter of a minute. A line on which nothing comes for longer than two is dead."""


class Result(Told, tag="result", omit_defaults=True):
    """With an `error` it was not done; else `ok` is what came of it."""

    id: str
    ok: Any = None
    error: ErrorBody | None = None


Said = Hello | Events | Items | Delta | Gap | Beat | Result
