"""What is done about calls that a run left open."""

# spec: B3 D7

import pytest

from holdfast.core.events_work import CallClosed, Closing, RerunDecided
from holdfast.core.ids import CallId, SessionId
from holdfast.core.resume import Probe, close_calls, close_cancelled
from holdfast.core.session import Call, CallStatus, EffectClass, OpenCall, Session

NOT_STARTED = (
    "Not started: the run was cut off before this call began. Ask for it again if you need it."
)
PROBED_DONE = (
    "Done: the run was cut off before the result of this call was saved, but the workspace shows "
    "that it was carried out."
)
UNKNOWN = (
    "Outcome unknown: the run was cut off while this call was running. It was not run again. "
    "Check the workspace before you decide to repeat it."
)
C = CallId("c")


def opened(effect, status, *, id=C, attempt=None, decided=0):
    begun = 0 if status is CallStatus.PENDING else 1
    return OpenCall(
        call=Call(id=id, name="tool", effect=effect),
        status=status,
        attempt=begun if attempt is None else attempt,
        decided=decided,
    )


def session(*calls):
    return Session(id=SessionId("s"), calls=calls)


def closed(how, output):
    return CallClosed(call=C, how=how, output=output)


AGAIN = RerunDecided(call=C, by="rule")
AS_ASKED = RerunDecided(call=C, by="user")
UNKNOWN_CALL = closed(Closing.UNKNOWN, UNKNOWN)
E, P = EffectClass, Probe

BEGUN = {
    "pure": (E.PURE, None, False, AGAIN),
    "idempotent": (E.IDEMPOTENT, None, False, AGAIN),
    "probeable, done": (E.PROBEABLE, P.DONE, False, closed(Closing.PROBED_DONE, PROBED_DONE)),
    "probeable, not done": (E.PROBEABLE, P.NOT_DONE, False, AGAIN),
    "probeable, cannot say": (E.PROBEABLE, P.UNKNOWN, False, UNKNOWN_CALL),
    "probeable, never asked": (E.PROBEABLE, None, False, UNKNOWN_CALL),
    "probeable, cannot say, but wanted": (E.PROBEABLE, P.UNKNOWN, True, AS_ASKED),
    "probeable, done, though wanted": (
        E.PROBEABLE,
        P.DONE,
        True,
        closed(Closing.PROBED_DONE, PROBED_DONE),
    ),
    "unsafe": (E.UNSAFE, None, False, UNKNOWN_CALL),
    "unsafe, whatever a probe says": (E.UNSAFE, P.NOT_DONE, False, UNKNOWN_CALL),
    "unsafe, and wanted again": (E.UNSAFE, None, True, AS_ASKED),
}


@pytest.mark.parametrize(("effect", "probe", "wanted", "expected"), BEGUN.values(), ids=BEGUN)
def test_a_call_that_was_begun_is_settled_by_its_class(effect, probe, wanted, expected):
    left = session(opened(effect, CallStatus.INTENDED))

    actual = close_calls(
        left,
        probes={} if probe is None else {C: probe},
        rerun=frozenset({C} if wanted else ()),
    )

    assert [expected] == actual


@pytest.mark.parametrize("effect", EffectClass)
def test_a_call_that_was_never_begun_is_closed_as_not_started(effect):
    expected = [closed(Closing.NOT_STARTED, NOT_STARTED)]

    actual = close_calls(session(opened(effect, CallStatus.PENDING)), probes={})

    assert expected == actual


def test_an_intent_counts_as_begun_even_without_a_number():
    left = session(opened(E.UNSAFE, CallStatus.INTENDED, attempt=0))

    actual = [event.how for event in close_calls(left, probes={}) + close_cancelled(left)]

    expected = [Closing.UNKNOWN, Closing.CANCELLED]
    assert expected == actual


@pytest.mark.parametrize("status", [CallStatus.FINISHED, CallStatus.CLOSED])
@pytest.mark.parametrize("effect", EffectClass)
def test_a_settled_call_is_left_alone(effect, status):
    assert close_calls(session(opened(effect, status)), probes={}, rerun=frozenset({C})) == []


@pytest.mark.parametrize("effect", EffectClass)
def test_a_decision_that_was_not_used_up_needs_no_second_one(effect):
    left = session(opened(effect, CallStatus.PENDING, attempt=1, decided=1))

    assert close_calls(left, probes={}) == []


def test_a_decision_is_good_for_one_more_run_only():
    expected = [UNKNOWN_CALL]
    left = session(opened(E.UNSAFE, CallStatus.INTENDED, attempt=2, decided=1))

    assert expected == close_calls(left, probes={})


def test_a_policys_decision_carries_its_name():
    expected = [RerunDecided(call=C, by="policy")]
    left = session(opened(E.UNSAFE, CallStatus.INTENDED))

    assert expected == close_calls(left, probes={}, rerun=frozenset({C}), by="policy")


@pytest.mark.parametrize("effect", EffectClass)
@pytest.mark.parametrize("status", [CallStatus.INTENDED, CallStatus.PENDING])
def test_a_foreign_agents_call_is_never_run_again_by_us(effect, status):
    expected = [UNKNOWN_CALL]
    left = session(opened(effect, status, attempt=1))

    actual = close_calls(left, probes={C: P.NOT_DONE}, rerun=frozenset({C}), can_rerun=False)

    assert expected == actual


def test_calls_are_settled_in_the_order_they_were_asked_for():
    a, b, c, d = (CallId(name) for name in "abcd")
    left = session(
        opened(E.PURE, CallStatus.FINISHED, id=a),
        opened(E.UNSAFE, CallStatus.INTENDED, id=b),
        opened(E.PURE, CallStatus.INTENDED, id=c),
        opened(E.UNSAFE, CallStatus.PENDING, id=d),
    )
    expected = [
        CallClosed(call=b, how=Closing.UNKNOWN, output=UNKNOWN),
        RerunDecided(call=c, by="rule"),
        CallClosed(call=d, how=Closing.NOT_STARTED, output=NOT_STARTED),
    ]

    assert expected == close_calls(left, probes={})


# spec: B6 (cancel closes what is open)
def test_after_a_cancel_no_call_stays_open():
    a, b, c, d = (CallId(name) for name in "abcd")
    left = session(
        opened(E.PURE, CallStatus.FINISHED, id=a),
        opened(E.PURE, CallStatus.INTENDED, id=b),
        opened(E.UNSAFE, CallStatus.PENDING, id=c),
        opened(E.UNSAFE, CallStatus.PENDING, id=d, attempt=1, decided=1),
    )
    running = (
        "Cancelled: the user stopped the run while this call was running. "
        "A part of its work may have been done."
    )
    unstarted = "Not started: the user stopped the run before this call began."
    expected = [
        CallClosed(call=b, how=Closing.CANCELLED, output=running),
        CallClosed(call=c, how=Closing.NOT_STARTED, output=unstarted),
        CallClosed(call=d, how=Closing.CANCELLED, output=running),
    ]

    assert expected == close_cancelled(left)
