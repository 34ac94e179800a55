"""Natural names of events. The store keeps each name once per session (promise P2).

An input has the id its client minted, a run its number, a call its round, id and attempt: however
often the same thing is said, it can be written down only once.
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
    e.ResponseFinished: lambda _s, ev: f"response:{ev.round}",
    e.CallIntended: lambda s, ev: f"call:{s.round}:{ev.call}:{ev.attempt}",
    e.CallFinished: lambda s, ev: f"result:{s.round}:{ev.call}:{ev.attempt}",
    e.DecisionAsked: lambda _s, ev: f"question:{ev.decision.id}",
    e.DecisionAnswered: lambda _s, ev: f"answer:{ev.decision}",
}


def identity(after: Session, event: e.Event) -> str | None:
    """`after` is the session with the event folded in. None: the event may well occur again."""
    name = NAMES.get(type(event))
    return name(after, event) if name else None
