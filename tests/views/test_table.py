"""The list as columns: as wide as the terminal, and a title has room in it."""

# spec: I2

import pytest

from holdfast.core.ids import SessionId
from holdfast.core.session import Session, State
from holdfast.views.document import Around, document
from holdfast.views.table import table

TITLE = "make all the tests of the parser pass again"


def lines(width, state=State.WAITING_FOR_INPUT):
    s = Session(id=SessionId("0123456789ab"), state=state, title=TITLE, agent="builtin")
    shown = document(s, Around(created_at=0, updated_at=0))
    return table([shown], now=60_000, width=width).splitlines()


@pytest.mark.parametrize("width", [40, 60, 80, 100, 140])
def test_no_line_is_wider_than_the_terminal_and_a_title_can_be_read(width):
    head, row = lines(width)
    assert max(len(head), len(row)) <= width
    assert TITLE[:20] in row


def test_what_has_no_room_is_left_out_and_a_pipe_gets_all_of_it():
    assert ["ID", "WHY", "CHANGED", "COST", "TITLE"] == lines(60)[0].split()
    head, row = lines(0)
    assert ["ID", "STATE", "WHY", "CHANGED", "COST", "AGENT", "TITLE"] == head.split()
    assert row.endswith(TITLE)


def test_a_session_that_is_closed_says_so_also_without_its_state():
    assert "closed" in lines(60, State.COMPLETED)[1]
