"""A conversation that an agent had without us, as events of ours (SPEC E15).

Rule 1: what was said and done comes in whole, in one write: there is no half-adopted session.
Rule 2: each prompt was a run, each answer a round. A call that has no result is unknown, as one of ours
would be.
Rule 3: a record that ends before the agent had answered was cut off: the session can be resumed.
"""

from collections.abc import Iterator, Sequence

from holdfast.core import events as e
from holdfast.core.budget import Limits
from holdfast.core.ids import (
    CallId,
    InputId,
    LaunchNumber,
    Millis,
    RoundNumber,
    RunNumber,
    Token,
)
from holdfast.core.session import (
    Call,
    Cause,
    Closing,
    EffectClass,
    Evidence,
    Phase,
    Stop,
    StopReason,
)
from holdfast.core.value import Value

STILL_WARM = 120_000  # ms since it was last written to
ADOPTED = "adopted-"  # how the inputs of such a conversation are called
UNKNOWN = "The record ends before this call's result: whether it took effect is unknown."


class UserSaid(Value):
    text: str


class AgentSaid(Value):
    text: str = ""
    thinking: str = ""
    model: str = ""


class CallMade(Value):
    id: str
    name: str
    arguments: str = "{}"


class CallDone(Value):
    id: str
    output: str = ""
    failed: bool = False


Turn = UserSaid | AgentSaid | CallMade | CallDone


class Answer:
    """One response and what became of its calls, as far as it was read."""

    def __init__(self) -> None:
        self.text: list[str] = []
        self.thinking: list[str] = []
        self.model = ""
        self.calls: list[CallMade] = []
        self.done: dict[str, CallDone] = {}

    @property
    def over(self) -> bool:
        """What comes next is another response."""
        return bool(self.done)


def adopted(turns: Sequence[Turn], *, token: Token | None, now: Millis) -> list[e.Event]:
    events: list[e.Event] = []
    if token is not None:
        events.append(e.TokenLearned(launch=LaunchNumber(0), token=token))
    rounds = 0
    runs = [run for run in _runs(turns) if run]
    for number, run in enumerate(runs, 1):
        first = run[0]
        text = first.text if isinstance(first, UserSaid) else "(the record has no prompt here)"
        input = InputId(f"{ADOPTED}{number}")
        events += [
            e.InputAccepted(input=input, text=text),
            e.RunStarted(
                run=RunNumber(number), cause=Cause.PROMPT, limits=Limits(), input=input, text=text
            ),
        ]
        answers = list(_answers(run))
        for answer in answers:
            rounds += 1
            events += _round(RoundNumber(rounds), answer)
        whole = bool(answers) and all(c.id in answers[-1].done for c in answers[-1].calls)
        cut = number == len(runs) and not (whole and (answers[-1].text or answers[-1].done))
        events.append(e.RunStopped(run=RunNumber(number), stop=_stop(rounds, now, cut=cut)))
    return events


def may_be_in_use(written: Millis, now: Millis) -> bool:
    """No agent says that it has a conversation open, but one that is at work writes it down."""
    return now - written < STILL_WARM


def _runs(turns: Sequence[Turn]) -> list[list[Turn]]:
    """A record may begin in the middle: its first turn need not be the user's."""
    runs: list[list[Turn]] = [[]]
    for turn in turns:
        if isinstance(turn, UserSaid):
            runs.append([])
        runs[-1].append(turn)
    return runs


def _answers(run: Sequence[Turn]) -> Iterator[Answer]:
    answer: Answer | None = None
    for turn in run:
        if isinstance(turn, UserSaid):
            continue
        if answer is None or (answer.over and not isinstance(turn, CallDone)):
            if answer is not None:
                yield answer
            answer = Answer()
        match turn:
            case AgentSaid(text=text, thinking=thinking, model=model):
                answer.text += [text] if text else []
                answer.thinking += [thinking] if thinking else []
                answer.model = model or answer.model
            case CallMade():
                answer.calls.append(turn)
            case CallDone(id=id):
                answer.done[id] = turn
    if answer is not None:
        yield answer


def _round(number: RoundNumber, answer: Answer) -> list[e.Event]:
    events: list[e.Event] = [e.RoundStarted(round=number)]
    if answer.thinking:
        text = "\n\n".join(answer.thinking)
        events.append(e.ThinkingSaved(round=number, text=text))
    if answer.text:
        events.append(e.TextSaved(round=number, text="\n\n".join(answer.text), part=1))
    calls = tuple(
        Call(
            id=_name(number, made.id),
            name=made.name,
            arguments=made.arguments,
            effect=EffectClass.UNSAFE,
            part=2 + place,
        )
        for place, made in enumerate(answer.calls)
    )
    events.append(e.ResponseFinished(round=number, calls=calls, model=answer.model))
    for made in answer.calls:
        done = answer.done.get(made.id)
        id = _name(number, made.id)
        if done is None:
            events.append(e.CallClosed(call=id, how=Closing.UNKNOWN, output=UNKNOWN))
        else:
            events.append(e.CallFinished(call=id, output=done.output, failed=done.failed))
    return events


def _name(round: RoundNumber, id: str) -> CallId:
    """An agent may give one name twice; in our journal it is a call's own."""
    return CallId(f"{round}/{id}")


def _stop(round: int, now: Millis, *, cut: bool) -> Stop:
    if not cut:
        return Stop(reason=StopReason.COMPLETED, round=RoundNumber(round), at=now)
    return Stop(
        reason=StopReason.INTERRUPTED,
        message="The agent's record ends before its answer.",
        phase=Phase.STREAMING_LLM,
        round=RoundNumber(round),
        at=now,
        evidence=Evidence(detail="adopted"),
    )
