"""A workspace that is gone, and what becomes of the work that was wanted in it (SPEC D8, D9, G5).

Rule 1: what is wanted in a workspace that is gone does not begin. It is written down as a wish, with
        the loss; the workspace is owed. When it is back the wish is carried out, by what the world
        says then. So a crash anywhere in between loses nothing.
Rule 2: one wish at a time. While there is one the session is starting: a second resume starts nothing,
        a prompt waits its turn, a cancel takes the wish back.
Rule 3: what cannot be made again is refused in one sentence, and nothing is changed.
Rule 4: an agent that lives in a folder that is gone is ended first. So is a run that loses its folder:
        whatever it did there could not be kept.
"""

from holdfast.core import events as e
from holdfast.core import inputs as i
from holdfast.core.begin import begin, call_off, launch, stop_run
from holdfast.core.errors import Refused
from holdfast.core.evolve import fold
from holdfast.core.session import ErrorClass, Session, StopReason, Wish
from holdfast.core.truth import Lost
from holdfast.core.value import replace


def begin_or_wish(s: Session, facts: i.Facts, wish: Wish) -> list[e.Event]:
    """What is wanted now begins, or is put off until its workspace is back."""
    if facts.lost is not None:
        return _put_off(s, facts.lost, wish)
    if wish.cause is None:
        return [launch(s, facts, reattach=True)]
    return begin(s, facts, wish, cause=wish.cause)


def _put_off(s: Session, lost: Lost, wish: Wish) -> list[e.Event]:
    if lost.cannot:
        raise Refused(
            f"The workspace {lost.path} is gone and cannot be made again: {lost.cannot}",
            "The conversation is as it was. Put that right and resume again.",
        )
    gone = call_off(s)
    resting = fold(s, gone).state
    kept = replace(wish, text=None, before=resting)  # the words are in the queue
    why = f"The folder {lost.path} is not there."
    return [*gone, e.WorkspaceLost(why=why, source=lost.source, wish=kept)]


def follow_up(s: Session, heard: list[e.Event], facts: i.Facts) -> list[e.Event]:
    """What news about the workspace means for what is going on or was wished for."""
    events: list[e.Event] = []
    for event in heard:
        if isinstance(event, e.WorkspaceRebuilt) and s.wish is not None:
            events += _grant(fold(s, heard), s.wish, facts)
        if isinstance(event, e.WorkspaceLost) and s.run is not None:
            events += _lost_under(s, event, facts)
    return events


def _grant(s: Session, wish: Wish, facts: i.Facts) -> list[e.Event]:
    if wish.input is not None and all(q.id != wish.input for q in s.queue):
        return []  # the user took the words back meanwhile
    if wish.cause is None:
        return [launch(s, facts, reattach=True)]
    try:
        return begin(s, facts, wish, cause=wish.cause, rebuilt=True)
    except Refused as refused:
        return [e.Notice(kind="not_continued", text=str(refused))]


def _lost_under(s: Session, event: e.WorkspaceLost, facts: i.Facts) -> list[e.Event]:
    assert s.run is not None
    cancelled = s.run.cancelling
    stopped = stop_run(
        s,
        facts,
        reason=StopReason.CANCELLED if cancelled else StopReason.ERROR,
        error=None if cancelled else ErrorClass.UNKNOWN,
        message=f"The workspace was lost under the run: {event.why}",
    )
    return [*call_off(s), *stopped]
