"""The same lines give the same words: a reader that begins again adds nothing."""

import json

from holdfast.agents.terminal.account import Account
from holdfast.agents.terminal.record import Over, RecordReader
from holdfast.core import events as e
from holdfast.core.adoption import AgentSaid, CallDone, CallMade
from holdfast.core.ids import RoundNumber

# spec: E11 P2

TURNS = [
    AgentSaid(thinking="Hm.", text="First."),
    CallMade(id="a", name="Bash", arguments="{}"),
    CallMade(id="b", name="Read", arguments="{}"),
    CallDone(id="a", output="1"),
    AgentSaid(text="Between."),
    CallDone(id="b", output="2"),
    CallMade(id="c", name="Bash"),
    CallDone(id="c", failed=True),
    AgentSaid(text="Last."),
]


def told(known=0):
    account = Account(RoundNumber(0), known=RoundNumber(known))
    words = [word for turn in TURNS for word in account.hear(turn)]
    return words + account.close()


def test_each_response_is_a_round_with_its_calls_and_results():
    kinds = [type(word).__name__ for word in told()]
    assert kinds == [
        "RoundStarted",
        "ThinkingSaved",
        "TextSaved",
        "ResponseFinished",
        "CallObserved",
        "CallObserved",
        "CallFinished",
        "CallFinished",
        "RoundStarted",
        "TextSaved",
        "ResponseFinished",
        "CallObserved",
        "CallFinished",
        "RoundStarted",
        "TextSaved",
        "ResponseFinished",
    ]


def test_rounds_that_the_journal_has_gone_past_are_not_said_again():
    whole = told()
    third = [place for place, word in enumerate(whole) if isinstance(word, e.RoundStarted)][2]
    assert told(known=3) == whole[third:]
    assert told() == whole


def test_the_record_says_how_a_turn_ended():
    reader = RecordReader("claude")

    def read(**line):
        return reader.read(json.dumps({"uuid": str(line), **line}).encode())

    failed = {"model": "<synthetic>", "content": [{"type": "text", "text": "API Error: 529"}]}
    signs = read(type="assistant", isApiErrorMessage=True, apiErrorStatus=529, message=failed)
    assert signs == [Over(failed=True, message="API Error: 529", status=529)]
    cut = {"role": "user", "content": "[Request interrupted by user]"}
    assert read(type="user", message=cut) == [Over(cancelled=True)]
    codex = RecordReader("codex")
    over = b'{"type":"event_msg","payload":{"type":"task_complete"}}'
    assert codex.read(over) == [Over()]
