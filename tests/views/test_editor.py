"""Events as an editor is told them."""

from holdfast.core import events as e
from holdfast.core.session import Call, Stop, StopReason
from holdfast.views.editor import Editor

PLAN = '{"items":[{"text":"a","state":"done"},{"text":"b","state":"in_progress"},{"text":"c","state":"pending"}]}'


def kinds(updates):
    return [update["sessionUpdate"] for update in updates]


def test_text_that_was_streamed_is_not_told_again():  # spec: E16 J2
    editor = Editor(prompts=False)
    first = editor.text(1, 0, 0, "hel", thinking=False)
    then = editor.add(e.TextSaved(round=1, text="hello"))
    assert [u["content"]["text"] for u in first + then] == ["hel", "lo"]


def test_a_plan_is_told_as_a_plan():  # spec: E16
    editor = Editor(prompts=False)
    call = Call(id="c", name="update_plan", arguments=PLAN)
    asked = editor.add(e.ResponseFinished(round=1, calls=(call,)))
    told = editor.add(e.CallIntended(call="c"))
    assert kinds(asked + told) == ["tool_call", "plan", "tool_call_update"]
    states = [entry["status"] for entry in told[0]["entries"]]
    assert states == ["completed", "in_progress", "pending"]


def test_a_stop_that_is_a_failure_is_said_in_words():  # spec: E16 A4
    editor = Editor(prompts=True)
    stop = e.RunStopped(run=1, stop=Stop(reason=StopReason.INTERRUPTED))
    done = e.RunStopped(run=1, stop=Stop(reason=StopReason.COMPLETED))
    assert kinds(editor.add(stop)) == ["agent_thought_chunk"]
    assert editor.add(done) == []
