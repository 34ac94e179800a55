"""Natural names of events. The store keeps each name once per session (promise P2).

An input has the id its client minted, a run its number: however often the same thing is said, by
whomever, it can be written down only once. What happens inside a round needs no name of its own: the
fold knows the calls of the round, and a write that does not follow from the whole past is refused by
its head. (A name costs a page of the log with every commit.)
"""

from collections.abc import Callable
from typing import Any

from holdfast.core import events as e
from holdfast.core.session import Session

NAMES: dict[type, Callable[[Session, Any], str]] = {
    e.SessionOpened: lambda _s, _e: "opened",
    e.InputAccepted: lambda _s, ev: f"input:{ev.input}",
    e.RunStarted: lambda _s, ev: f"run:{ev.run}",
    e.PromptDelivered: lambda _s, ev: f"prompt:{ev.run}",
    e.RunStopped: lambda _s, ev: f"stop:{ev.run}",
    e.LaunchRequested: lambda _s, ev: f"launch:{ev.launch}",
    e.DecisionAsked: lambda _s, ev: f"question:{ev.decision.id}",
    e.DecisionAnswered: lambda _s, ev: f"answer:{ev.decision}",
}


def identity(after: Session, event: e.Event) -> str | None:
    """`after` is the session with the event folded in. None: the event may well occur again."""
    name = NAMES.get(type(event))
    return name(after, event) if name else None
