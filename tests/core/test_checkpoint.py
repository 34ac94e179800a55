"""Where we were. spec: C1, C2, C4, C5."""

import msgspec
import pytest

from holdfast.core import events as e
from holdfast.core.briefing import briefing
from holdfast.core.budget import Limits
from holdfast.core.checkpoint import DELTA_BYTES, Checkpoint, Place, checkpoint
from holdfast.core.conversation import build
from holdfast.core.evolve import rebuild
from holdfast.core.messages import ResultsMessage, TextPart
from holdfast.core.session import (
    Cause,
    CoderState,
    Phase,
    Response,
    Run,
    Session,
    State,
    Stop,
    StopReason,
)
from holdfast.core.truth import Drift, Truth, Workspace
from tests.core.talk import call, done, messages, response, results, run, said, stop, user

WORKSPACE = Workspace(id="w1", path="/x", repo="r1", branch="hold/x")
SESSION = Session(
    id="0123456789ab",
    state=State.RUNNING,
    model="anthropic:claude",
    workspace=WORKSPACE,
    run=Run(number=2, cause=Cause.PROMPT, limits=Limits()),
    runs=2,
    round=3,
    base_messages=99,
    phase=Phase.EXECUTING_TOOLS,
)
EVENTS = [
    run(1, text="first"),
    *response(1, "one"),
    stop(1, StopReason.COMPLETED),
    run(2, text="second"),
    *response(2, "two", call("c2")),
    *done("c2"),
    *response(3, "three", call("c3")),
]
MESSAGES = messages(*EVENTS)


def with_(**changes):
    return msgspec.structs.replace(SESSION, **changes)


def stopped(reason, **changes):
    stop = Stop(reason=reason, phase=Phase.EXECUTING_TOOLS, round=3)
    settled = {"run": None, "state": State.WAITING_FOR_INPUT, "phase": Phase.IDLE}
    return with_(**{**settled, "stop": stop, "last_stop": stop, **changes})


def test_a_checkpoint_of_an_active_run_has_every_field():  # spec: C2
    expected = Checkpoint(
        session="0123456789ab",
        run=2,
        round=3,
        phase=Phase.EXECUTING_TOOLS,
        base_message_count=2,
        delta_messages=(
            user("second", 2),
            said("two", 2, call("c2")),
            results(("c2", "ok")),
            said("three", 3, call("c3")),
        ),
        accumulated="",
        thinking_accumulated="",
        coder_delegation_active=False,
        last_coder_state=None,
        saved_at=1000,
        provider="anthropic",
        model="anthropic:claude",
        workspace=Place(id="w1", branch="hold/x", repo="r1"),
        user_aborted=False,
        saved_diff="diff --git a b",
        reason=None,
        trimmed=0,
    )

    assert expected == checkpoint(SESSION, MESSAGES, saved_at=1000, saved_diff="diff --git a b")


def test_what_is_served_names_every_field_even_an_empty_one():  # spec: C2
    served = msgspec.to_builtins(checkpoint(SESSION, MESSAGES, saved_at=1))

    assert set(Checkpoint.__struct_fields__) == set(served)
    assert served["workspace"] == {"id": "w1", "branch": "hold/x", "repo": "r1"}


def test_settled_messages_and_delta_are_the_whole_conversation():  # spec: C2
    actual = checkpoint(SESSION, MESSAGES, saved_at=1)

    assert [*MESSAGES[: actual.base_message_count], *actual.delta_messages] == MESSAGES


def test_while_streaming_the_half_response_is_in_accumulated_alone():  # spec: C2, C3
    half = [e.RoundStarted(round=4), e.TextSaved(round=4, text="half a")]
    session = with_(
        phase=Phase.STREAMING_LLM, round=4, response=Response(text="half a", thinking="hm")
    )

    actual = checkpoint(session, messages(*EVENTS, *done("c3"), *half), saved_at=1)

    assert (actual.accumulated, actual.thinking_accumulated, actual.round) == ("half a", "hm", 4)
    assert results(("c3", "ok")) == actual.delta_messages[-1]


def test_a_finished_response_is_not_accumulated_once_more():
    session = with_(response=Response(text="three"))

    assert checkpoint(session, MESSAGES, saved_at=1).accumulated == ""


def test_while_delegating_the_coders_memory_is_in_it():  # spec: B8, C2
    coder = CoderState(plan="p", open_tasks=("t",))
    session = with_(phase=Phase.DELEGATING_CODER, coder=coder)

    actual = checkpoint(session, MESSAGES, saved_at=1)

    assert (True, coder) == (actual.coder_delegation_active, actual.last_coder_state)


KEPT = [reason for reason in StopReason if reason is not StopReason.COMPLETED]


@pytest.mark.parametrize("reason", KEPT)
def test_it_is_kept_after_every_stop_that_may_be_resumed(reason):  # spec: C5
    actual = checkpoint(stopped(reason), MESSAGES, saved_at=1)

    assert (reason, Phase.EXECUTING_TOOLS, 3, 2, 2) == (
        actual.reason,
        actual.phase,
        actual.round,
        actual.run,
        actual.base_message_count,
    )


CLEARED = {
    "never run": with_(run=None, runs=0, stop=None, state=State.CREATED),
    "completed": stopped(StopReason.COMPLETED),
    "dismissed": stopped(StopReason.ERROR, stop=None),
    "closed": stopped(StopReason.ERROR, state=State.COMPLETED),
}


@pytest.mark.parametrize("session", CLEARED.values(), ids=CLEARED)
def test_it_is_cleared_when_there_is_nothing_to_come_back_to(session):  # spec: C5
    assert None is checkpoint(session, MESSAGES, saved_at=1)


def test_a_resume_clears_it_for_the_next_runs_own():  # spec: C5
    session = with_(run=Run(number=3, cause=Cause.CONTINUE, limits=Limits()), runs=3)
    resumed = messages(*EVENTS, *done("c3"), stop(2), run(3, briefing="[SESSION_RESUMED]"))

    actual = checkpoint(session, resumed, saved_at=1)

    assert (actual.run, actual.base_message_count, actual.reason) == (3, 7, None)
    assert (user(None, 3, briefing="[SESSION_RESUMED]"),) == actual.delta_messages


def test_an_abort_is_known_while_it_is_asked_for_and_afterwards():  # spec: C2, D2
    cancelling = with_(run=msgspec.structs.replace(SESSION.run, cancelling=True))

    assert checkpoint(cancelling, MESSAGES, saved_at=1).user_aborted
    assert checkpoint(stopped(StopReason.CANCELLED), MESSAGES, saved_at=1).user_aborted
    assert not checkpoint(stopped(StopReason.ERROR), MESSAGES, saved_at=1).user_aborted


def test_where_the_runs_first_turn_was_summarised_the_sessions_count_stands_in():  # spec: B9
    compacted = e.ConversationCompacted(summary="s", kept_from=5)

    actual = checkpoint(with_(base_messages=1), messages(*EVENTS, compacted), saved_at=1)

    assert (1, (said("three", 3, call("c3")),)) == (
        actual.base_message_count,
        actual.delta_messages,
    )


def test_the_provider_that_is_named_goes_before_the_models():
    assert checkpoint(SESSION, MESSAGES, saved_at=1, provider="bedrock").provider == "bedrock"


def interrupted(number, phase):
    stop = Stop(reason=StopReason.INTERRUPTED, phase=phase, round=number)
    return e.RunStopped(run=2, stop=stop)


def test_the_session_counts_messages_as_the_conversation_does():  # spec: C2
    half = [*done("c3"), e.RoundStarted(round=4), e.TextSaved(round=4, text="half a")]
    events = [*EVENTS, *half, interrupted(4, Phase.STREAMING_LLM)]

    session = rebuild("0123456789ab", events)

    actual = checkpoint(session, messages(*events), saved_at=1)
    assert (len(messages(*events)), 2) == (session.messages, session.base_messages)
    assert (actual.base_message_count, actual.accumulated) == (2, "half a")


def test_the_briefing_of_a_cut_off_response_takes_its_place_for_the_model():  # spec: D6
    said_so_far = "I will now\n\n- do this  \n"
    events = [
        run(1, text="go"),
        e.RoundStarted(round=1),
        e.TextSaved(round=1, text=said_so_far),
        interrupted(1, Phase.STREAMING_LLM),
    ]
    told = briefing(
        rebuild("0123456789ab", events),
        truth=Truth(head="abc", branch="b"),
        drift=Drift.SAME,
        closed=(),
    )

    conversation = build([*events, run(2, briefing=told)])

    assert said_so_far in told
    assert [user("go"), user(None, 2, briefing=told)] == conversation.to_send()


# --- trimming --------------------------------------------------------------------------------


def long_run(outputs):
    rounds = [
        event
        for n, size in enumerate(outputs, 1)
        for event in (*response(n, "", call(f"c{n}")), *done(f"c{n}", "x" * size))
    ]
    return build([run(2, text="go"), *rounds]).messages()


def encoded(delta):
    return sum(len(msgspec.json.encode(message)) for message in delta)


def test_over_fifty_kilobytes_the_oldest_messages_are_left_out():  # spec: C4
    spoken = long_run([1024] * 100)

    actual = checkpoint(SESSION, spoken, saved_at=1)

    kept = actual.delta_messages
    assert spoken[actual.trimmed :] == list(kept)
    assert encoded(kept) <= DELTA_BYTES < encoded(kept) + 2 * 1400
    assert not isinstance(kept[0], ResultsMessage)


def test_up_to_fifty_kilobytes_nothing_is_left_out():  # spec: C4
    spoken = long_run([1024] * 40)

    assert (0, spoken) == (
        checkpoint(SESSION, spoken, saved_at=1).trimmed,
        list(checkpoint(SESSION, spoken, saved_at=1).delta_messages),
    )


def test_a_result_is_not_kept_without_its_call():  # spec: C4
    spoken = long_run([15_000, 15_000, 15_000])
    called = msgspec.structs.replace(spoken[1], parts=(TextPart(text="y" * 20_000),) * 2)

    actual = checkpoint(SESSION, [spoken[0], called, *spoken[2:]], saved_at=1)

    assert (3, spoken[3:]) == (actual.trimmed, list(actual.delta_messages))


def test_two_messages_stay_however_large():  # spec: C4
    spoken = long_run([10, 200_000])

    actual = checkpoint(SESSION, spoken, saved_at=1)

    assert (3, spoken[-2:]) == (actual.trimmed, list(actual.delta_messages))
