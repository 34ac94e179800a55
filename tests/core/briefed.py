"""A session that was cut off, and what its briefing says around what a test is about."""

from holdfast.core.briefing import briefing
from holdfast.core.ids import CallId, RoundNumber, SessionId
from holdfast.core.session import Call, Phase, Session, Stop, StopReason
from holdfast.core.truth import Drift, Truth

CLEAN = Truth(head="0123456789abcdef", branch="main")
DIRTY = Truth(
    head="0123456789abcdef",
    branch="main",
    dirty=(" M a.py", "?? b.py"),
    changed=("a.py",),
    untracked=("b.py",),
    stat=" a.py | 3 ++-\n 1 file changed, 2 insertions(+), 1 deletion(-)\n",
)
TOP = """\
[SESSION_RESUMED]
Workspace state at recovery:
- HEAD: 0123456 (main)
- Dirty files: clean
- Diff summary: none
- Changed files: none
"""
END = "\n\nDo not repeat work that is already reflected in the workspace."


def cut_off(phase, **changes):
    stop = Stop(reason=StopReason.INTERRUPTED, phase=phase, round=RoundNumber(7))
    return Session(id=SessionId("s"), last_stop=stop, **changes)


def told(session, *, truth=CLEAN, drift=Drift.SAME, closed=(), message=None):
    return briefing(session, truth=truth, drift=drift, closed=closed, message=message)


def call(id, name="shell", arguments="{}", files=()):
    return Call(id=CallId(id), name=name, arguments=arguments, files=files)


NOTHING_BEGUN = {
    Phase.STARTING: (
        "Interruption: the run was cut off before your next response began. No response and no "
        "tool call was in progress. If the last request is not answered yet, answer it."
    ),
    Phase.IDLE: (
        "Interruption: the session was cut off while nothing was in progress. No response and no "
        "tool call had been begun. Continue from where you left off."
    ),
}
