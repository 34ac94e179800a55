"""What must now be done in the world. Data; adapters perform it (engine/perform.py)."""

from holdfast.core.ids import (
    DecisionId,
    LaunchNumber,
    Millis,
    RoundNumber,
    RunNumber,
    Seq,
    SessionId,
    TimerId,
)
from holdfast.core.plan import Plan
from holdfast.core.value import Value


class StartAgent(Value):
    launch: LaunchNumber
    plan: Plan


class DeliverPrompt(Value):
    """The words are in the session's run: they are not copied into the debt."""

    launch: LaunchNumber
    run: RunNumber
    inject: bool = False  # put the history in front of them (injection.py)


class InterruptAgent(Value):
    launch: LaunchNumber
    run: RunNumber


class KillAgent(Value):
    """Returns only when that launch's whole process tree is gone."""

    launch: LaunchNumber


class RelayAnswer(Value):
    launch: LaunchNumber
    decision: DecisionId
    answer: str


class TakeSnapshot(Value):
    """Of the files as that round left them: it is not owed once a later one changes any."""

    number: int
    round: RoundNumber = RoundNumber(0)


class RewindWorkspace(Value):
    round: RoundNumber


class RemoveWorkspace(Value):
    """Keeps its branch, and a snapshot of everything. `force`: also what is not committed."""

    force: bool = False


class ReturnWorkspace(Value):
    """Made again where it was, from its branch and its newest snapshot."""


class EraseSession(Value):
    """Its snapshots and its whole record. Branches stay."""


class MakeFork(Value):
    child: SessionId
    at: Seq
    round: RoundNumber | None = None


class WakeSession(Value):
    timer: TimerId
    due: Millis


class NotifyPerson(Value):
    kind: str
    text: str


Effect = (
    StartAgent
    | DeliverPrompt
    | InterruptAgent
    | KillAgent
    | RelayAnswer
    | TakeSnapshot
    | RewindWorkspace
    | RemoveWorkspace
    | ReturnWorkspace
    | EraseSession
    | MakeFork
    | WakeSession
    | NotifyPerson
)
