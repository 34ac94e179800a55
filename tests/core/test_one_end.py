"""A run has one end, and trouble on the way is not it."""

import pytest

from holdfast.core import events as e
from holdfast.core import inputs as i
from holdfast.core.session import StopReason
from tests.core.stories import ONE, RUN1, running

DONE = i.RunFinished(launch=ONE, run=RUN1, reason=StopReason.COMPLETED)
GONE = i.AgentExited(launch=ONE, exit_code=1)
LOST = i.OwnerLost()


@pytest.mark.parametrize("first", [DONE, GONE, LOST], ids=["finished", "exited", "owner lost"])
@pytest.mark.parametrize("second", [DONE, GONE, LOST], ids=["finished", "exited", "owner lost"])
def test_whatever_is_heard_a_run_stops_once(first, second):  # spec: A5
    story = running().tell(first, second, second)
    assert 1 == sum(isinstance(event, e.RunStopped) for event in story.past)


def test_a_notice_ends_nothing_shows_no_banner_and_allows_no_second_run():  # spec: A5
    story = running().hear(e.Notice(kind="retry", text="The provider is busy.", until=9))
    assert story.session.run is not None
    assert story.session.stop is None
    assert [] == story.when(i.ContinueRun()), "it is running already"
