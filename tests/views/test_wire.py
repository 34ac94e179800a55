"""Events on the wire and back, and the lines that people read."""

import pytest

from holdfast.core import events as e
from holdfast.core.budget import Usage
from holdfast.core.ids import CallId, Millis, RoundNumber, RunNumber, TimerId
from holdfast.core.session import (
    Call,
    CoderState,
    ErrorClass,
    Evidence,
    Phase,
    Stop,
    StopReason,
    Timer,
)
from holdfast.views.plain import DOING, DURING, REASONS, TABLES, TROUBLE
from holdfast.views.stops import stop_out
from holdfast.views.table import unique_digits
from holdfast.views.timeline import Timeline, clean, title
from holdfast.views.words import EXIT_CODES, STOPPED, banner, beyond, explained, strip
from holdfast.wire import KINDS, LimitsIn, event_in, event_out

AT = Millis(1_800_000_000_123)
STOP = Stop(
    reason=StopReason.RATE_LIMITED,
    at=AT,
    resumes_at=Millis(AT + 60_000),
    phase=Phase.STREAMING_LLM,
    round=RoundNumber(3),
    evidence=Evidence(status=429),
)


@pytest.mark.parametrize(
    "event",
    [
        e.RunStopped(run=RunNumber(1), stop=STOP),
        e.Notice(kind="retry", text="again", until=AT),
        e.TimerSet(timer=Timer(id=TimerId("t"), due=AT, what="continue")),
        e.TextSaved(round=RoundNumber(1), text="hello", offset=3),
        e.SessionOpened(agent="builtin"),
    ],
)
def test_an_event_comes_back_as_it_went(event):  # spec: J2
    assert event_in(event_out(1, AT, event)) == event


def test_a_stop_is_written_whole_with_moments_as_text():  # spec: A4 I5
    data = event_out(1, AT, e.RunStopped(run=RunNumber(1), stop=STOP)).data["stop"]
    assert data["at"] == "2027-01-15T08:00:00.123Z"
    assert data["resumes_at"] == "2027-01-15T08:01:00.123Z"
    assert (data["class"], data["evidence"]) == (None, {"status": 429})


def test_every_word_is_snake_case():  # spec: J2
    assert "run_stopped" in KINDS and "context_lost" in KINDS
    assert all(name == name.lower() for name in KINDS)


def test_every_reason_has_its_words_and_its_exit_code():  # spec: K2 I2
    every = set(StopReason)
    assert set(STOPPED) == set(REASONS) == set(EXIT_CODES) == every
    assert banner(stop_out(STOP)) == "Rate limited until 08:01 UTC"


def test_the_time_of_day_is_the_readers_own():  # spec: K2
    told = banner(stop_out(STOP), lambda at: f"[{at}]")
    assert told == f"Rate limited until [{AT + 60_000}]"
    shown = strip(stop_out(STOP))
    assert (shown.title, shown.resumes_at) == ("Rate limited", "2027-01-15T08:01:00.123Z")


def test_people_read_words_and_nothing_twice():  # spec: K2
    for table in TABLES.values():
        assert not [text for text in table.values() if "_" in text or "llm" in text]
    trouble = Stop(reason=StopReason.ERROR, error=ErrorClass.AUTH, message="It said 401.")
    assert beyond(stop_out(trouble)) == "The key or login was refused. It said 401."
    over = Stop(reason=StopReason.TIME_LIMIT, message="Time limit reached: 0.5 s of 0.3 s (172%).")
    assert explained(stop_out(over)) == "Time limit reached: 0.5 s of 0.3 s (172%)."
    assert set(map(Phase, DURING)) == set(DOING) == set(Phase)
    assert set(TROUBLE) == set(ErrorClass)


def test_text_is_shown_once_however_often_it_comes():
    timeline = Timeline()
    shown = [
        *timeline.text(1, 0, 0, "hello "),
        *timeline.text(1, 0, 6, "world"),
        *timeline.add(e.TextSaved(round=RoundNumber(1), text="hello ")),
        *timeline.add(e.TextSaved(round=RoundNumber(1), text="world, again", offset=6)),
    ]
    assert "".join(s.text for s in shown) == "hello world, again"


def test_a_call_is_one_line_when_it_ends():
    call = Call(id=CallId("c"), name="shell", arguments='{"command": "make\\ntest"}')
    timeline = Timeline()
    timeline.add(e.ResponseFinished(round=RoundNumber(1), calls=(call,)))
    assert timeline.add(e.CallIntended(call=call.id)) == []
    assert timeline.doing == "shell make..."
    lines = timeline.add(e.CallFinished(call=call.id, output="boom", failed=True, millis=2500))
    assert [line.text for line in lines] == ["x shell make... (2s): boom"]


def test_a_call_about_several_files_names_them():
    call = Call(
        id=CallId("c"), name="apply_patchset", arguments='{"files": []}', files=("a.py", "b.py")
    )
    assert "apply_patchset a.py, b.py" == title(call)


def test_a_call_of_before_has_its_name_and_one_that_is_refused_its_reason():
    call = Call(id=CallId("c"), name="write", arguments='{"path": "a.py"}')
    timeline = Timeline()
    timeline.remember(e.ResponseFinished(round=RoundNumber(1), calls=(call,)))
    cut_off = e.CallClosed(call=call.id, how=e.Closing.NOT_STARTED, output="Not started: ...")
    refused = e.CallClosed(call=call.id, how=e.Closing.DENIED, output="There is no tool 'fly'.")
    lines = [*timeline.add(cut_off), *timeline.add(refused)]
    expected = ["- write a.py: not started", "x write a.py: There is no tool 'fly'."]
    assert expected == [line.text for line in lines]


def test_what_is_waited_for_is_counted_down_until_something_happens():
    timeline = Timeline()
    timeline.add(e.Notice(kind="retry", text="429", until=AT))
    assert ["trying again in 5s", "trying again in 1s", "starting"] == [
        timeline.now_doing(AT - left) for left in (4200, 10, 0)
    ]
    timeline.add(e.RoundStarted(round=RoundNumber(1), attempt=2))
    assert "waiting for the model" == timeline.now_doing(AT - 4200)


def test_what_a_coder_and_a_summary_use_is_in_the_progress_line():
    usage = Usage(input_tokens=900, output_tokens=100)
    timeline = Timeline()
    timeline.add(e.CoderNoted(call=CallId("c"), state=CoderState(), usage=usage))
    timeline.add(e.ConversationCompacted(summary="s", kept_from=3, usage=usage))
    assert "2,000 tokens" == timeline.used


def test_nothing_that_speaks_to_a_terminal_is_shown():
    evil = "a\x1b]0;title\x07b\x1b[31mc\x9b1md\x1bPq\x1b\\e\u202ef\tg\n"
    assert clean(evil) == "abc1mdef\tg\n"


def test_ids_are_cut_to_what_tells_them_apart():
    assert unique_digits(["abcdef", "abcxyz", "123456"]) == 4
    assert unique_digits(["aaaaa1", "aaaaa2"]) == 6
    assert unique_digits(["aaaaaa"]) == 4


def test_limits_that_were_not_said_are_as_configured():  # spec: B4
    usual = {"budget_usd": 2.5, "max_tool_calls": 50, "max_rounds": 7}
    found = LimitsIn(max_rounds=3, max_time=1.5).over(usual.get)
    assert (found.cost_micros, found.tool_calls) == (2_500_000, 50)
    assert (found.rounds, found.wall_ms) == (3, 1500)
