"""No credential is written down, whatever it stands in. spec: C6, D7."""

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core import events as e
from holdfast.core import inputs as i
from holdfast.core.events_work import CallClosed, RerunDecided
from holdfast.core.redact import REDACTED
from holdfast.core.resume import Probe, close_calls
from holdfast.core.session import (
    Call,
    CallStatus,
    Closing,
    EffectClass,
    ErrorClass,
    Evidence,
    OpenCall,
    Session,
    Stop,
    StopReason,
)
from holdfast.core.withhold import known_secret, withheld, withhold

KEY = "sk-live-0123456789"
KNOWN = frozenset({KEY})
TEXT = st.text(max_size=20)
NAMES = st.sampled_from(["path", "password", "apiKey", "x", "access token", "max_tokens"])
TREES = st.recursive(
    TEXT | st.integers() | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=12,
)


def asked(arguments):
    return e.ResponseFinished(round=1, calls=(Call(id="c", name="t", arguments=arguments),))


@given(tree=TREES, where=st.sampled_from(["arguments", "result", "evidence"]))
def test_what_stands_under_a_secret_name_is_gone_at_any_depth(tree, where):
    secret = "hunter2-hunter2"  # noqa: S105
    body = json.dumps({"a": [tree, {"nested": {"password": secret, "deep": tree}}]})
    event = {
        "arguments": asked(body),
        "result": e.CallFinished(call="c", output=body),
        "evidence": e.RunStopped(
            run=1, stop=Stop(reason=StopReason.ERROR, evidence=Evidence(detail=body))
        ),
    }[where]

    written = msgspec.json.encode(withhold(event)).decode()

    assert secret not in written
    assert REDACTED in written


@given(before=TEXT, after=TEXT)
def test_a_known_value_is_gone_wherever_it_stands(before, after):
    text = f"{before}{KEY}{after}"
    for event in (
        e.InputAccepted(input="i", text=text),
        e.RunStarted(run=1, cause="prompt", limits={}, briefing=text),
        e.Notice(kind="retry", text=text),
        e.CallFinished(call="c", output=text, files=(text,)),
        e.CoderNoted(call="c", state={"errors": (text,)}),
        asked(json.dumps({"command": text})),
    ):
        shaped = msgspec.convert(msgspec.to_builtins(event), type(event))
        assert KEY.encode() not in msgspec.json.encode(withhold(shaped, KNOWN))


@given(before=TEXT, after=TEXT)
def test_streamed_text_keeps_its_length(before, after):
    piece = e.TextSaved(round=1, text=f"{before}{KEY}{after}")

    written = withhold(piece, KNOWN)

    assert KEY not in written.text
    assert len(piece.text) == len(written.text)


def test_names_and_ids_of_our_own_are_left_alone():
    opened = e.SessionOpened(agent="builtin", model="ollama:sk-live-0123456789", title=f"use {KEY}")

    written = withhold(opened, KNOWN)

    assert opened.model == written.model
    assert f"use {REDACTED}" == written.title


def test_an_event_without_a_secret_comes_back_as_it_is():
    event = e.CallFinished(call="c", output='{"max_tokens": 5, "text": "the password is long"}')

    assert event is withhold(event, KNOWN)


def test_what_comes_in_has_lost_it_before_anything_is_made_of_it():
    finished = i.RunFinished(
        launch=1, run=1, reason=StopReason.ERROR, error=ErrorClass.AUTH, message=f"bad key {KEY}"
    )

    assert f"bad key {REDACTED}" == withheld(finished, KNOWN).message


@pytest.mark.parametrize(
    ("value", "secret"),
    [(KEY, True), ("ollama", False), ("postgres", False), ("short1", False), ("a" * 32, True)],
)
def test_a_word_is_no_key(value, secret):
    assert secret is known_secret(value)


CUT = json.dumps({"token": REDACTED})


def left(effect, status, *, attempt=1, arguments=CUT, **session):
    call = Call(id="c", name="t", arguments=arguments, effect=effect)
    return Session(id="s", calls=(OpenCall(call=call, status=status, attempt=attempt),), **session)


@pytest.mark.parametrize("effect", EffectClass)
@pytest.mark.parametrize("wanted", [True, False])
def test_a_call_whose_secret_was_not_stored_is_never_run_again(effect, wanted):
    rerun = frozenset({"c"} if wanted else ())
    probes = {"c": Probe.NOT_DONE}

    for status, attempt in ((CallStatus.INTENDED, 1), (CallStatus.PENDING, 1)):
        [closed] = close_calls(left(effect, status, attempt=attempt), probes=probes, rerun=rerun)
        assert isinstance(closed, CallClosed)
        assert Closing.UNKNOWN is closed.how
        assert "secrets are not stored" in closed.output


def test_nor_is_one_that_the_user_said_yes_to_and_that_never_began():
    session = left(EffectClass.UNSAFE, CallStatus.PENDING, attempt=0, granted=("c",))

    [closed] = close_calls(session, probes={})

    assert Closing.NOT_STARTED is closed.how


def test_one_that_was_carried_out_is_done():
    [closed] = close_calls(
        left(EffectClass.PROBEABLE, CallStatus.INTENDED), probes={"c": Probe.DONE}
    )

    assert Closing.PROBED_DONE is closed.how


def test_one_without_a_secret_is_run_again_as_ever():
    [decided] = close_calls(left(EffectClass.PURE, CallStatus.INTENDED, arguments="{}"), probes={})

    assert isinstance(decided, RerunDecided)
