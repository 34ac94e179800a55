"""What a person may do with a session now, by the names that clients use.

Read from the table in decide.py, less what would change nothing: there is no run to stop, no stop to
dismiss, no question to answer. A page draws its buttons from this and decides nothing itself.
"""

from holdfast.core import inputs as i
from holdfast.core.decide import ALLOWS
from holdfast.core.life import may_be_told
from holdfast.core.session import State
from holdfast.core.value import Value

NAMES: dict[str, type[i.Command]] = {
    "prompt": i.SendPrompt,
    "resume": i.ContinueRun,
    "cancel": i.CancelRun,
    "dismiss": i.DismissStop,
    "answer": i.AnswerDecision,
    "edit_input": i.EditInput,
    "withdraw_input": i.WithdrawInput,
    "reattach": i.Reattach,
    "configure": i.ConfigureSession,
    "close": i.CloseSession,
    "reopen": i.ReopenSession,
    "rewind": i.Rewind,
    "fork": i.ForkSession,
    "rename": i.RenameSession,
    "pin": i.PinSession,
    "tag": i.TagSession,
    "archive": i.ArchiveSession,
    "trash": i.TrashSession,
    "restore": i.RestoreSession,
    "purge": i.PurgeSession,
}


class Standing(Value):
    """What of a session decides what may be done with it."""

    state: State
    running: bool = False
    cancelling: bool = False
    stopped: bool = False  # there is a stop that nobody dismissed
    asking: bool = False
    queued: bool = False
    archived: bool = False
    trashed: bool = False


def actions(s: Standing) -> tuple[str, ...]:
    idle = {
        "resume": s.running,
        "cancel": not s.running or s.cancelling,
        "dismiss": not s.stopped,
        "answer": not s.asking,
        "edit_input": not s.queued,
        "withdraw_input": not s.queued,
        "reattach": s.running,
        "trash": s.running or s.trashed,
        "restore": not s.trashed,
        "purge": not s.trashed,
    }
    return tuple(
        name
        for name, command in NAMES.items()
        if command in ALLOWS[s.state]
        and not idle.get(name, False)
        and may_be_told(command, archived=s.archived, trashed=s.trashed)
    )
