"""What many sessions have in common is said once."""

from holdfast.cli.output import say_bulk
from holdfast.wire import BulkOut, Skipped


def test_the_same_reason_is_one_line(capsys):  # spec: I1
    done = [Skipped(id=f"{n}" * 12, reason="it is completed") for n in range(5)]
    stopped = Skipped(id="a" * 12, reason="the user stopped it")
    say_bulk(BulkOut(resumed=("b" * 12,), skipped=(*done, stopped)), as_json=False)
    assert [
        "Resumed bbbbbbbbbbbb",
        "Skipped 000000000000, 111111111111, 222222222222 and 2 more: it is completed",
        "Skipped aaaaaaaaaaaa: the user stopped it",
    ] == capsys.readouterr().out.splitlines()
