"""Natural names of events. The store keeps each name once per session (promise P2).

An input has the id its client minted, a run its number: however often the same thing is said, by
whomever, it can be written down only once. What happens inside a round needs no name of its own: the
fold knows the calls of the round, and a write that does not follow from the whole past is refused by
its head. (A name costs a page of the log with every commit.)
"""

from collections.abc import Callable
from typing import Any

from holdfast.core import events as e

NAMES: dict[type, Callable[[Any], str]] = {
    e.SessionOpened: lambda _e: "opened",
    e.InputAccepted: lambda ev: f"input:{ev.input}",
    e.RunStarted: lambda ev: f"run:{ev.run}",
    e.PromptDelivered: lambda ev: f"prompt:{ev.run}",
    e.RunStopped: lambda ev: f"stop:{ev.run}",
    e.LaunchRequested: lambda ev: f"launch:{ev.launch}",
    e.DecisionAsked: lambda ev: f"question:{ev.decision.id}",
    e.DecisionAnswered: lambda ev: f"answer:{ev.decision}",
}


def identity(event: e.Event) -> str | None:
    """None: the event may well occur again."""
    name = NAMES.get(type(event))
    return name(event) if name else None
