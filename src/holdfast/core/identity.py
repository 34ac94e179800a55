"""Natural names of events. The store keeps each name once per session (promise P2).

An input has the id its client minted, a run its number, a call its round, id and attempt: however
often the same thing is said, it can be written down only once.
"""

from holdfast.core import events as e
from holdfast.core.session import Session


def identity(after: Session, event: e.Event) -> str | None:
    """`after` is the session with the event folded in. None: the event may well occur again."""
    match event:
        case e.CallIntended(call=call, attempt=attempt):
            return f"call:{after.round}:{call}:{attempt}"
        case e.CallFinished(call=call, attempt=attempt):
            return f"result:{after.round}:{call}:{attempt}"
        case e.ResponseFinished(round=round):
            return f"response:{round}"
        case e.InputAccepted(input=input):
            return f"input:{input}"
        case e.RunStarted(run=run):
            return f"run:{run}"
        case e.PromptDelivered(run=run):
            return f"prompt:{run}"
        case e.RunStopped(run=run):
            return f"stop:{run}"
        case e.LaunchRequested(launch=launch):
            return f"launch:{launch}"
        case e.DecisionAnswered(decision=decision):
            return f"answer:{decision}"
        case e.SessionOpened():
            return "opened"
        case _:
            return None
