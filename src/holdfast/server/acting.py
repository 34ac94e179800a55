"""What a client may ask for, whichever way it comes in: by a route or by the socket.

Nothing here knows a rule: an input goes to the engine, and what was written down is the answer.
"""

import re
import secrets
from collections.abc import Callable, Mapping, Sequence

import msgspec

from holdfast.core import events as e
from holdfast.core import inputs as i
from holdfast.core.begin import plan_for
from holdfast.core.budget import Limits
from holdfast.core.conversation import build
from holdfast.core.errors import Refused
from holdfast.core.ids import CallId, CommandId, DecisionId, InputId, RunNumber, SessionId
from holdfast.core.offer import ResumeStatus, offer, status
from holdfast.core.session import Session, StopReason
from holdfast.core.task import Task
from holdfast.core.truth import Drift
from holdfast.engine.engine import Outcome
from holdfast.engine.granting import begun
from holdfast.ports import Damaged, Row
from holdfast.server.desk import Desk, Failure
from holdfast.server.settling import PATIENCE, paid
from holdfast.views.document import Around, SessionOut, document, listed
from holdfast.views.moments import rfc3339
from holdfast.wire import (
    PROMPT_BYTES,
    AnswerIn,
    Done,
    LimitsIn,
    PlanOut,
    PromptIn,
    PromptOut,
    ResumeIn,
    RunOut,
    limits,
)

ID = re.compile(r"[0-9a-f]{1,12}")
WHOLE = 12  # digits of a session's id
BYTES_PER_TOKEN = 4  # about: no provider says it before it is asked
MANY = 10_000  # sessions that one command looks at


async def resolve(desk: Desk, given: str) -> SessionId:
    """A session by its id or the beginning of it, where that is only its own."""
    found = await desk.engine.journal.find(given) if ID.fullmatch(given) else []
    if len(found) == 1 or (len(given) == WHOLE and found):
        return found[0]
    if not found and ID.fullmatch(given):
        await _check_gone(desk, given)
    raise not_one("session", given, found, "`hold ls` lists them.")


async def _check_gone(desk: Desk, given: str) -> None:
    """Whoever comes too late is told so."""
    gone = await desk.engine.journal.purged(given)
    if len(gone) == 1:
        id, at = gone[0]
        why = f"Session {id} was removed for good on {rfc3339(at)[:10]}, from the trash."
        raise Failure("not_found", why, "Its branch, if it had one, is still there: git branch")


async def find_task(desk: Desk, given: str) -> Task:
    """By its id or the beginning of it."""
    found = [t for t in await desk.engine.journal.tasks() if given and t.id.startswith(given)]
    if len(found) == 1:
        return found[0]
    raise not_one("task", given, [t.id for t in found], "`hold task ls` lists them.")


def not_one(kind: str, given: str, found: Sequence[str], hint: str) -> Failure:
    if not found:
        return Failure("not_found", f"There is no {kind} {given!r}.", hint)
    return Failure(
        "ambiguous",
        f"{given!r} is the beginning of {len(found)} {kind}s: {', '.join(found)}",
        "Give more digits.",
        candidates=tuple(found),
    )


def unknown(id: str) -> Failure:
    return Failure("not_found", f"There is no session {id!r}.", "`hold ls` lists them.")


async def shown(desk: Desk, id: SessionId) -> SessionOut:
    row = await desk.engine.journal.row(id)
    if row is None:
        raise unknown(id)
    if row.quarantined:
        return from_row(row)
    try:
        session = await desk.engine.session(id)
        return document(session, await _looked(desk, row, session))
    except Damaged as error:
        return listed(id, row.head, row.summary, around(row), str(error))


async def _looked(desk: Desk, row: Row, session: Session) -> Around:
    """What the world says. Git is asked only where the answer decides what is offered."""
    engine, now = desk.engine, desk.engine.clock.now()
    stop, offered = session.stop, None
    if stop is not None and stop.reason is StopReason.INTERRUPTED and session.workspace.git:
        truth = await engine.workspaces.truth(session)
        offered = offer(session, truth, at=now, disposable_max_age_ms=None)
    return Around(
        created_at=row.created_at,
        updated_at=row.updated_at,
        run_started_at=engine.run_started(row.session) if session.run else None,
        offer=offered,
        context_window=await desk.choices.window(session),
        status=status(
            session,
            agent_alive=session.agent_alive,
            leased=row.lease_until > now,
            abilities=engine.agents.abilities(session),
        ),
    )


def from_row(row: Row) -> SessionOut:
    return listed(row.session, row.head, row.summary, around(row), row.quarantined)


def around(row: Row) -> Around:
    return Around(created_at=row.created_at, updated_at=row.updated_at)


# --- commands -------------------------------------------------------------------------------------


async def prompt(desk: Desk, id: SessionId, given: PromptIn, *, unix: bool) -> PromptOut:
    lend(desk, id, given.environ, unix=unix)
    check_prompt(given.text, given.images)
    before = await equipped(desk, id)
    await _check_folder(desk, before)
    await _recap(desk, id, given.limits)
    input = given.input or secrets.token_hex(8)
    asked = None if given.limits is None else limits(given.limits, before.limits)
    sent = i.SendPrompt(input=InputId(input), text=given.text, limits=asked)
    outcome = await desk.engine.submit(id, sent)
    run, session = _begun(outcome), outcome.session
    if session.wish is not None and session.wish.input == input:
        run = await begun(desk.engine, outcome, patience=PATIENCE)
        session = await desk.engine.session(id)
    queued, head = any(q.id == input for q in session.queue), _head_before(outcome)
    if not outcome.events and run is None and not queued:
        run, head = await _run_of(desk, outcome, lambda begun: begun.input == input)
    return PromptOut(input=input, run=run, queued=queued, head=head)


def check_prompt(text: str, images: Sequence[object] = ()) -> None:
    if images:
        raise Failure(
            "invalid",
            "A prompt is text: images are not taken yet.",
            "Say in words what is to be seen, or put the image into the repository and name its path.",
        )
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > PROMPT_BYTES:
        raise Failure(
            "too_large",
            f"The prompt has {size:,} bytes; {PROMPT_BYTES:,} is the most.",
            "Put the text into a file and let the agent read it.",
        )
    if not text.strip():
        raise Failure("invalid", "The prompt is empty.", "Say what is to be done.")


async def resume(desk: Desk, id: SessionId, given: ResumeIn, *, unix: bool) -> RunOut:
    lend(desk, id, given.environ, unix=unix)
    if given.message is not None or given.images:
        check_prompt(given.message or "", given.images)
    before = await _made_ready(desk, id, given)
    await _check_folder(desk, before)
    outcome = await desk.engine.submit(id, _continuing(given, before.limits))
    run, head = await begun(desk.engine, outcome, patience=PATIENCE), _head_before(outcome)
    already = run is not None and not outcome.events
    if not outcome.events and run is None and given.command:
        run, head = await _run_of(desk, outcome, lambda begun: begun.command == given.command)
    return RunOut(run=run, already_running=already, head=head)


async def _made_ready(desk: Desk, id: SessionId, given: ResumeIn) -> Session:
    """What runs is ended for certain, and another agent is put in its place, where that was said."""
    session = await desk.engine.session(id)
    told = await desk.opening.told_otherwise(session, given)
    if given.kill and session.run is not None:
        session = (await desk.engine.submit(id, i.CancelRun(kill=True))).session
        await paid(desk, id)
    if told is not None and not session.taken:
        session = (await desk.engine.submit(id, told)).session
    await _recap(desk, id, given.limits)
    return session


async def _recap(desk: Desk, id: SessionId, given: LimitsIn | None) -> None:
    """What all runs of a session may spend is the session's own, and is said anew where it is not
    enough any more (SPEC B5)."""
    cap = given.cap() if given else None
    if cap is not None:
        await desk.engine.submit(id, i.ConfigureSession(cap=cap))


async def _check_folder(desk: Desk, session: Session) -> None:
    """One run at a time in a folder. In a tree of its own a session is always alone."""
    if session.workspace.path and not session.own_tree and not session.taken:
        await desk.opening.check_free(session.workspace.path, but=session.id)


async def equipped(desk: Desk, id: SessionId) -> Session:
    """A conversation may be taken in where its agent is not installed. How it is run is then chosen
    when it is to go on."""
    session = await desk.engine.session(id)
    if session.via or not session.opened:
        return session
    via = desk.opening.way(session.agent, session.mode)
    return (await desk.engine.submit(id, i.ConfigureSession(via=via))).session


def _continuing(given: ResumeIn, otherwise: Limits) -> i.ContinueRun:
    return i.ContinueRun(
        command=CommandId(given.command) if given.command else None,
        message=given.message,
        limits=None if given.limits is None else limits(given.limits, otherwise),
        rerun=tuple(CallId(call) for call in given.rerun),
        fresh=given.fresh,
    )


async def tell(desk: Desk, id: SessionId, command: i.Command) -> Done:
    if isinstance(command, i.Reattach):
        await equipped(desk, id)
    outcome = await desk.engine.submit(id, command)
    return Done(session=await shown(desk, id), changed=bool(outcome.events))


async def answer(desk: Desk, id: SessionId, given: AnswerIn) -> Done:
    command = i.AnswerDecision(
        decision=DecisionId(given.decision), answer=given.answer, always=given.always
    )
    return await tell(desk, id, command)


def lend(desk: Desk, id: SessionId, environ: Mapping[str, str], *, unix: bool) -> None:
    if not environ:
        return
    if not unix:
        raise Failure(
            "forbidden", "Keys are taken over the Unix socket alone.", "Use the command line."
        )
    desk.lend(id, environ)


def _begun(outcome: Outcome) -> int | None:
    started = (event.run for event in outcome.events if isinstance(event, e.RunStarted))
    return next(started, None)


async def _run_of(
    desk: Desk, outcome: Outcome, is_it: Callable[[e.RunStarted], bool]
) -> tuple[RunNumber | None, int]:
    """Said before: the run that began then, though it may be over by now, and the place before it."""
    for before, event in enumerate(await desk.engine.journal.events(outcome.session.id)):
        if isinstance(event, e.RunStarted) and is_it(event):
            return event.run, before
    return None, _head_before(outcome)


def _head_before(outcome: Outcome) -> int:
    return outcome.session.seq - len(outcome.events)


# --- questions ------------------------------------------------------------------------------------


async def standing(desk: Desk, id: SessionId) -> ResumeStatus:
    engine = desk.engine
    session = await engine.session(id)
    row = await engine.journal.row(id)
    if row is None:
        raise unknown(id)
    alive = session.agent_alive and await engine.agents.alive(session) is True
    return status(
        session,
        agent_alive=alive,
        leased=row.lease_until > engine.clock.now(),
        abilities=engine.agents.abilities(session),
    )


async def plan(desk: Desk, id: SessionId, given: ResumeIn) -> PlanOut:
    """What `resume` would write down, read before it is written (SPEC E7, F12)."""
    session = await desk.engine.session(id)
    told = await desk.opening.told_otherwise(session, given)
    try:
        continuing = _continuing(given, session.limits)
        events, facts = await desk.engine.consider(id, continuing, after=told)
    except Refused as refused:
        return _no_plan(refused.why, refused.hint)
    started = next((event for event in events if isinstance(event, e.RunStarted)), None)
    lost = next((event for event in events if isinstance(event, e.WorkspaceLost)), None)
    if started is None and lost is None:
        return _no_plan("It is running.", "")
    seen = next((event for event in events if isinstance(event, e.WorkspaceSeen)), None)
    drift = Drift.WORKSPACE_MISSING if lost else seen.drift if seen else None
    chosen = started.plan if started else None
    chosen = chosen or plan_for(session, facts, drift or Drift.SAME, fresh=given.fresh)
    briefing = started.briefing if started else None  # what it says is known when the tree is back
    calls: dict[str, str] = {c.call: c.how for c in events if isinstance(c, e.CallClosed)}
    calls |= {c.call: "run again" for c in events if isinstance(c, e.RerunDecided)}
    tokens = await _to_be_read(desk, id, briefing or "")
    return PlanOut(
        would_run=True,
        reason="",
        hint="",
        strategy=chosen.strategy,
        why=chosen.why,
        drift=drift,
        rebuild=lost.source if lost else None,
        risks=chosen.risks,
        estimate_usd=_dollars(await desk.choices.price(session, tokens)),
        estimate_tokens=tokens,
        message=briefing,
        calls=calls,
    )


async def _to_be_read(desk: Desk, id: SessionId, briefing: str) -> int:
    said = build(await desk.engine.journal.events(id)).to_send()
    return (len(msgspec.json.encode(said)) + len(briefing)) // BYTES_PER_TOKEN


def _dollars(micros: int | None) -> float | None:
    return None if micros is None else micros / 1_000_000


def _no_plan(why: str, hint: str) -> PlanOut:
    return PlanOut(
        would_run=False,
        reason=why,
        hint=hint,
        strategy=None,
        why="",
        drift=None,
        rebuild=None,
        risks=(),
        estimate_usd=None,
        estimate_tokens=0,
        message=None,
        calls={},
    )
