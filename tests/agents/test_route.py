"""Who runs a session's agent is chosen by its `via`, and by nothing else."""

import asyncio
from pathlib import Path

from holdfast.agents.route import RoutedAgents
from holdfast.core import inputs as i
from holdfast.core.effects import KillAgent, StartAgent
from holdfast.core.ids import LaunchNumber, SessionId
from holdfast.core.plan import Plan, Strategy
from holdfast.core.session import Session
from holdfast.ports import Errand
from holdfast.testing.agent import ScriptedAgents
from holdfast.testing.world import FileWorld

ID = SessionId("0123456789ab")


class Told(ScriptedAgents):
    """Remembers what it was asked, and reports nothing."""

    def __init__(self, folder: Path) -> None:
        super().__init__((), FileWorld(folder), process=folder.name == "foreign")
        self.asked: list[str] = []

    async def start(self, errand: Errand, session: Session) -> None:
        self.asked.append(errand.id)

    async def kill(self, errand: Errand, session: Session) -> None:
        self.asked.append(errand.id)

    async def stop(self) -> None:
        self.asked.append("stop")


def _session(via: str) -> Session:
    return Session(id=ID, opened=True, via=via)


def _routed(folder: Path) -> tuple[RoutedAgents, Told, Told]:
    own, foreign = Told(folder / "own"), Told(folder / "foreign")
    return RoutedAgents({"own": own, "foreign": foreign}), own, foreign


START = Errand(
    id="start",
    session=ID,
    effect=StartAgent(launch=LaunchNumber(1), plan=Plan(strategy=Strategy.FRESH)),
)
KILL = Errand(id="kill", session=ID, effect=KillAgent(launch=LaunchNumber(1)))


def test_a_session_is_started_by_its_own_way_and_no_other(tmp_path: Path) -> None:
    routed, own, foreign = _routed(tmp_path)
    asyncio.run(routed.start(START, _session("foreign")))
    assert ([], ["start"]) == (own.asked, foreign.asked)
    assert foreign.abilities(_session("")) == routed.abilities(_session("foreign"))


def test_an_end_is_asked_of_every_way_since_the_session_may_have_changed_hands(
    tmp_path: Path,
) -> None:
    routed, own, foreign = _routed(tmp_path)
    asyncio.run(routed.kill(KILL, _session("own")))
    asyncio.run(routed.stop())
    assert (["kill", "stop"], ["kill", "stop"]) == (own.asked, foreign.asked)


def test_a_way_that_is_not_known_says_which_are(tmp_path: Path) -> None:
    routed, _, _ = _routed(tmp_path)
    said: list[i.Input] = []

    async def submit(_id: SessionId, given: i.Input) -> None:
        said.append(given)

    routed.submit = submit
    asyncio.run(routed.start(START, _session("pigeon")))
    why = "An agent cannot be run via 'pigeon' here. Known ways: foreign, own."
    assert [i.StartFailed(message=why)] == said
    assert asyncio.run(routed.alive(_session("pigeon"))) is None
