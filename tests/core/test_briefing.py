"""What a resumed agent is told, character by character."""

# spec: B5 C1 D5 D6 D10

import pytest

from holdfast.core.events_work import CallClosed, Closing, RerunDecided
from holdfast.core.ids import CallId, RoundNumber, RunNumber
from holdfast.core.session import (
    CallStatus,
    Cause,
    CoderState,
    Limits,
    OpenCall,
    Phase,
    Response,
    Run,
)
from holdfast.core.truth import Workspace
from holdfast.core.value import replace
from tests.core.briefed import DIRTY, END, NOTHING_BEGUN, TOP, call, cut_off, told

# --- each phase ---------------------------------------------------------------------------------


def test_a_response_that_was_cut_off_is_shown_between_lines():
    session = cut_off(Phase.STREAMING_LLM, response=Response(text="I will now\nedit {a.py}"))
    expected = """\
[SESSION_RESUMED]
Workspace state at recovery:
- HEAD: 0123456 (main)
- Dirty files: a.py, b.py
- Diff summary: 1 file changed, 2 insertions(+), 1 deletion(-)
  a.py | 3 ++-
- Changed files: a.py

Interruption: the run was cut off while you were generating a response (round 7). Your partial \
response before the interruption (may be incomplete):
---
I will now
edit {a.py}
---
Resume your response. The workspace state above reflects the current truth.

Do not repeat work that is already reflected in the workspace."""

    actual = told(session, truth=DIRTY)

    assert expected == actual


@pytest.mark.parametrize("text", ["", " \n"])
def test_a_response_of_which_nothing_was_saved_is_asked_for_again(text):
    expected = (
        TOP
        + """
Interruption: the run was cut off while you were generating a response (round 7). Nothing of it \
was saved. Respond again."""
        + END
    )

    actual = told(cut_off(Phase.STREAMING_LLM, response=Response(text=text)))

    assert expected == actual


READ = OpenCall(
    call=call("c1", "read", '{"path": "a.py"}'),
    status=CallStatus.FINISHED,
    result="one\n\ttwo",
)
SHELL = OpenCall(call=call("c2", "shell", '{"command": "make"}'), status=CallStatus.INTENDED)
EDIT = OpenCall(call=call("c3", "edit", '{"path": "b.py"}'), status=CallStatus.PENDING)
LIST = OpenCall(call=call("c4", "list"), status=CallStatus.INTENDED)
WRITE = OpenCall(call=call("c5", "write", '{"path": "c.py"}'), status=CallStatus.INTENDED)

TRUNCATED = "... [truncated]"
CHECK = """\
Check the workspace state above against what the unknown calls were supposed to do. If the \
expected changes are present, proceed to the next step. If not, re-attempt the tool calls."""


def test_tool_calls_are_listed_by_what_became_of_them():
    session = cut_off(Phase.EXECUTING_TOOLS, calls=(READ, SHELL, EDIT, LIST, WRITE))
    closed = [
        CallClosed(call=CallId("c2"), how=Closing.UNKNOWN, output="unknown"),
        CallClosed(call=CallId("c3"), how=Closing.NOT_STARTED, output="not started"),
        RerunDecided(call=CallId("c4"), by="rule"),
        CallClosed(call=CallId("c5"), how=Closing.PROBED_DONE, output="it was carried out"),
    ]
    expected = (
        TOP
        + """
Interruption: the run was cut off while executing tool calls (round 7).
Finished:
- read {"path": "a.py"}
  | one
  | \ttwo
- write {"path": "c.py"}
  | it was carried out
Not started:
- edit {"path": "b.py"}
Unknown:
- shell {"command": "make"}
Run again:
- list {}
"""
        + CHECK
        + END
    )

    actual = told(session, closed=closed)

    assert expected == actual


def test_empty_lists_say_so_and_there_is_no_fourth_without_need():
    session = cut_off(Phase.EXECUTING_TOOLS, calls=())
    expected = (
        TOP
        + """
Interruption: the run was cut off while executing tool calls (round 7).
Finished: none
Not started: none
Unknown: none
"""
        + CHECK
        + END
    )

    actual = told(session)

    assert expected == actual


@pytest.mark.parametrize(
    ("opened", "expected"),
    [
        (OpenCall(call=call("c"), status=CallStatus.FINISHED), "Finished:\n- shell {}"),
        (OpenCall(call=call("c"), status=CallStatus.PENDING), "Not started:\n- shell {}"),
        (OpenCall(call=call("c"), status=CallStatus.INTENDED, attempt=1), "Unknown:\n- shell {}"),
        (OpenCall(call=call("c"), status=CallStatus.CLOSED, attempt=1), "Unknown:\n- shell {}"),
        (OpenCall(call=call("c"), attempt=1, decided=1), "Run again:\n- shell {}"),
    ],
)
def test_a_call_about_which_nothing_was_decided_now_stands_where_it_was(opened, expected):
    assert expected in told(cut_off(Phase.EXECUTING_TOOLS, calls=(opened,)))


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        ("é" * 500, "  | " + "é" * 500),
        ("é" * 501, "  | " + "é" * 500 + "... [truncated]"),
        ("", "  | (no output)"),
        (None, "  | (no output)"),
        ("\x1b[2Ja\r\nb\x00", "  | \\x1b[2Ja\n  | b\\x00"),
    ],
)
def test_a_result_is_cut_and_cannot_hide_anything(result, expected):
    opened = OpenCall(call=call("c"), status=CallStatus.FINISHED, result=result)

    actual = told(cut_off(Phase.EXECUTING_TOOLS, calls=(opened,)))

    assert f"- shell {{}}\n{expected}\nNot started: none" in actual


@pytest.mark.parametrize(("length", "shown"), [(200, "x" * 200), (201, "x" * 200 + TRUNCATED)])
def test_long_arguments_are_cut(length, shown):
    opened = OpenCall(call=call("c", "shell", "x" * length))

    assert f"- shell {shown}\n" in told(cut_off(Phase.EXECUTING_TOOLS, calls=(opened,)))


@pytest.mark.parametrize(
    ("files", "differ", "do_not"),
    [
        (("a.py", "c.py", "b.py", "d.py"), "a.py, b.py", "c.py, d.py"),
        (("a.py", "b.py"), "a.py, b.py", "none"),
        (("c.py", "d.py"), "none", "c.py, d.py"),
    ],
)
def test_a_patchset_that_may_be_half_done_lists_its_files(files, differ, do_not):
    patchset = call("c", "apply_patchset", "{}", files=files)
    session = cut_off(
        Phase.EXECUTING_TOOLS, calls=(OpenCall(call=patchset, status=CallStatus.INTENDED),)
    )
    expected = f"""\
Unknown:
- apply_patchset {{}}
  its files that differ from HEAD: {differ}
  its files that do not: {do_not}
Check"""

    actual = told(session, truth=DIRTY)

    assert expected in actual


@pytest.mark.parametrize(
    ("files", "status"),
    [(("a.py",), CallStatus.INTENDED), (("a.py", "b.py"), CallStatus.FINISHED)],
)
def test_one_file_or_a_finished_patchset_needs_no_such_list(files, status):
    opened = OpenCall(call=call("c", files=files), status=status)

    actual = told(cut_off(Phase.EXECUTING_TOOLS, calls=(opened,)), truth=DIRTY)

    assert "differ from HEAD" not in actual


def test_without_git_nothing_is_said_about_the_files_of_a_patchset():
    patchset = OpenCall(call=call("c", files=("a", "b")), status=CallStatus.INTENDED)
    session = cut_off(Phase.EXECUTING_TOOLS, calls=(patchset,), workspace=Workspace(git=False))

    assert "Unknown:\n- shell {}\nCheck" in told(session)


def test_a_delegation_that_was_cut_off_shows_the_coders_memory():
    coder = CoderState(
        plan="first a\nthen b",
        open_tasks=("b", "c"),
        files_touched=("a.py", "b.py"),
        errors=("it\nfailed",),
    )
    expected = (
        TOP
        + """
Interruption: the run was cut off during Coder delegation (round 7).
Last known Coder state:
- plan:
  | first a
  | then b
- open_tasks:
  - b
  - c
- files_touched: a.py, b.py
- assumptions: none
- errors:
  - it\\nfailed
The Coder's work may be partially complete. Check the workspace state above. Decide whether to \
re-delegate the remaining work or proceed based on what's done."""
        + END
    )

    actual = told(cut_off(Phase.DELEGATING_CODER, coder=coder))

    assert expected == actual


def test_what_the_coder_did_not_note_is_none():
    expected = """
Last known Coder state:
- plan:
  | none
- open_tasks: none
- files_touched: none
- assumptions:
  - it is a library
- errors: none
"""

    actual = told(
        cut_off(Phase.DELEGATING_CODER, coder=CoderState(assumptions=("it is a library",)))
    )

    assert expected in actual


@pytest.mark.parametrize("coder", [None, CoderState()])
def test_a_delegation_without_a_memory_says_so(coder):
    expected = """
Interruption: the run was cut off during Coder delegation (round 7).
The last Coder state was not saved.
The Coder's work"""

    assert expected in told(cut_off(Phase.DELEGATING_CODER, coder=coder))


@pytest.mark.parametrize(("phase", "paragraph"), NOTHING_BEGUN.items())
def test_a_run_that_had_begun_nothing_says_so(phase, paragraph):
    expected = f"{TOP}\n{paragraph}{END}"

    actual = told(cut_off(phase))

    assert expected == actual


def test_while_a_run_is_active_its_own_phase_and_round_count():
    run = Run(number=RunNumber(2), cause=Cause.PROMPT, limits=Limits())
    streaming = {"phase": Phase.STREAMING_LLM, "round": RoundNumber(9)}
    session = replace(cut_off(Phase.IDLE), run=run, **streaming)

    assert "while you were generating a response (round 9)." in told(session)
