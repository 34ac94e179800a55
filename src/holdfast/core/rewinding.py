"""Going back to the end of a round: the files, the conversation, or both (SPEC D8).

Rule 1: nothing is thrown away. The journal keeps what was said, a snapshot what was in the files; a
        fork of a round that was cut away brings both back (forking.py).
Rule 2: back means back to what is there: a round that was summarised or cut away is forked instead.
Rule 3: an agent that remembers by itself knows too much afterwards: its memory is used again only up to
        the message with which that round ended, where it can do that and the id was kept (SPEC E18).
"""

from collections.abc import Sequence

from holdfast.core import events as e
from holdfast.core import inputs as i
from holdfast.core.begin import call_off
from holdfast.core.conversation import build
from holdfast.core.errors import Refused
from holdfast.core.evolve import evolve
from holdfast.core.forking import rounds_in_files
from holdfast.core.ids import RoundNumber, Seq, SessionId, Token
from holdfast.core.session import Session


def check_round(s: Session, round: int) -> None:
    if not 0 <= round <= s.round:
        raise Refused(f"Session {s.id} has only {s.round} rounds.", "0 is its beginning.")


def to_round(
    s: Session,
    events: Sequence[e.Event],
    round: RoundNumber,
    *,
    code: bool = True,
    conversation: bool = True,
) -> i.Rewind:
    """The command, from the session and all of its events."""
    check_round(s, round)
    count = build(events).end_of(round) if conversation else 0
    if count is None or (code and s.workspace.git and round not in rounds_in_files(events)):
        raise Refused(
            f"Round {round} is no part of session {s.id} any more: summarised, or cut away.",
            f"Go on from there with: hold fork {s.id} --at {round}",
        )
    token, message = place(events, round) if conversation else (None, None)
    return i.Rewind(
        round=round,
        message_count=count,
        head=s.seq,
        since=_after(events, round),
        code=code,
        conversation=conversation,
        token=token,
        message_id=message,
    )


def place(events: Sequence[e.Event], round: RoundNumber) -> tuple[Token, str] | tuple[None, None]:
    """Where that round ended in a conversation with the agent, by the agent's own names for both. Nowhere
    if it ended with calls: their results come after the message, and would be lost."""
    s = Session(id=SessionId(""))
    ends: dict[RoundNumber, tuple[Token, str]] = {}
    for event in events:
        before, s = s, evolve(s, event)
        if (s.agent, s.via) != (before.agent, before.via):
            ends = {}  # those were another's names
        match event:
            case e.Rewound(conversation=True, round=back):
                ends = {number: end for number, end in ends.items() if number <= back}
            case e.ResponseFinished(round=number, message_id=str() as id, calls=()) if s.token:
                ends[number] = (s.token, id)
            case e.ResponseFinished(round=number) | e.CallObserved(round=number):
                ends.pop(number, None)
            case _:
                pass
    return ends.get(round, (None, None))


def _after(events: Sequence[e.Event], round: RoundNumber) -> Seq:
    """The first event that is no part of what is kept: the next round's, or of what led to it."""
    led = 0
    for seq, event in enumerate(events, 1):
        match event:
            case e.RoundStarted(round=number) if number > round:
                return Seq(led or seq)
            case e.RoundStarted():
                led = 0
            case e.InputAccepted(queued=False) | e.RunStarted():
                led = led or seq
            case _:
                pass
    return Seq(led or len(events) + 1)


def rewind(s: Session, command: i.Rewind) -> list[e.Event]:
    check_round(s, command.round)
    if command.head != s.seq:
        raise Refused(f"Session {s.id} went on meanwhile.", "Look again, and then say it again.")
    if command.code and not s.workspace.git:
        raise Refused(
            f"{s.workspace.path} is without git: its files cannot be taken back.",
            "Take back what was said alone: --conversation-only",
        )
    withdrawn = [e.DecisionDismissed(decision=d.id, why="rewound") for d in s.decisions]
    return [
        *(call_off(s) if command.conversation else []),
        *(withdrawn if command.conversation else []),
        e.Rewound(
            round=command.round,
            code=command.code,
            conversation=command.conversation,
            message_count=command.message_count,
            since=command.since,
            token=command.token,
            message_id=command.message_id,
        ),
    ]
