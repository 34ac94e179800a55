"""The port on git: snapshots told, at most one in two seconds, and the way back by rounds."""

# spec: D8 D4

import asyncio
import os
import shutil
from pathlib import Path

import pytest

from holdfast.core import events as e
from holdfast.core import inputs as i
from holdfast.core.effects import RewindWorkspace, TakeSnapshot
from holdfast.core.ids import RoundNumber
from holdfast.core.session import Session
from holdfast.core.truth import NoTruth, Truth, Workspace
from holdfast.core.value import replace
from holdfast.ports import Errand
from holdfast.testing.clock import FakeClock, settle
from holdfast.workspaces.adapter import GitWorkspaces
from holdfast.workspaces.errors import GitError
from holdfast.workspaces.git import Git
from tests.workspaces.repos import S, at, content, git, make_repo, make_tree


class Rig:
    """A session, its tree, and what was told of it; the session learns as the engine's would."""

    def __init__(self, workspace: Workspace, by: Git | None = None) -> None:
        self.session = Session(id=S, workspace=workspace, opened=True)
        self.clock = FakeClock()
        self.heard: list[object] = []
        self.port = GitWorkspaces(self.submit, self.clock, by=by or Git())

    @property
    def path(self) -> Path:
        return at(self.session.workspace)

    async def submit(self, _id, given: i.Input) -> None:
        assert isinstance(given, i.Heard)
        for event in given.events:
            if isinstance(event, e.WorkspaceSnapshotted):
                if event.number <= self.session.snapshot:
                    continue  # not news
                self.session = replace(self.session, snapshot=event.number)
            self.heard.append(event)

    async def snapshot(self, *, attempts: int = 0) -> None:
        effect = TakeSnapshot(number=self.session.snapshot + 1)
        errand = Errand(id="e", session=S, effect=effect, attempts=attempts)
        await self.port.snapshot(errand, self.session)

    async def rewind(self, round: int) -> None:
        effect = RewindWorkspace(round=RoundNumber(round))
        await self.port.rewind(Errand(id="r", session=S, effect=effect), self.session)

    async def work(self, round: int, text: str) -> None:
        """A round that changes a file, long after the one before."""
        self.session = replace(self.session, round=RoundNumber(round))
        (self.path / "a.txt").write_text(text)
        await self.clock.advance(5000)
        await self.snapshot()

    @property
    def numbers(self) -> list[int]:
        return [s.number for s in self.heard if isinstance(s, e.WorkspaceSnapshotted)]


@pytest.fixture
def repo(tmp_path):
    return make_repo(tmp_path)


async def rig_for(repo: Path, by: Git | None = None) -> Rig:
    return Rig((await make_tree(repo)).workspace, by)


async def until(condition) -> None:
    async with asyncio.timeout(60):
        while not condition():
            await settle()


async def test_the_truth_is_the_sessions(repo):
    rig = await rig_for(repo)
    assert isinstance(await rig.port.truth(rig.session), Truth)
    shutil.rmtree(rig.path)
    truth = await rig.port.truth(rig.session)
    assert isinstance(truth, NoTruth) and truth.missing


async def test_a_snapshot_is_told_and_is_in_the_repository(repo):
    rig = await rig_for(repo)
    await rig.work(1, "work\n")
    (told,) = rig.heard
    assert git(repo, "show", f"{told.commit}:a.txt") == "work"
    assert told.number == 1


async def test_an_unchanged_tree_is_not_told(repo):
    rig = await rig_for(repo)
    await rig.snapshot()
    assert rig.heard == []


async def test_within_two_seconds_they_become_one_of_the_newest(repo):
    rig = await rig_for(repo)
    await rig.work(1, "0\n")
    for n in range(1, 5):
        (rig.path / "a.txt").write_text(f"{n}\n")
        await rig.snapshot()
    assert rig.numbers == [1]
    await rig.clock.advance(2000)
    await until(lambda: rig.numbers == [1, 2])
    assert git(repo, "show", f"{rig.heard[-1].commit}:a.txt") == "4"


async def test_going_down_in_order_takes_what_was_put_off(repo):
    rig = await rig_for(repo)
    await rig.work(1, "0\n")
    (rig.path / "a.txt").write_text("1\n")
    await rig.snapshot()
    await rig.port.close()
    assert rig.numbers == [1, 2]


async def test_one_taken_and_not_told_before_a_crash_is_told_after_it(repo):
    rig = await rig_for(repo)
    await rig.work(1, "work\n")
    again = Rig(rig.session.workspace)
    again.session = replace(rig.session, snapshot=0)
    await again.snapshot()
    assert again.heard == rig.heard


async def test_a_lost_folder_is_told_as_lost(repo):
    rig = await rig_for(repo)
    shutil.rmtree(rig.path)
    await rig.snapshot(attempts=9)
    assert isinstance(rig.heard[0], e.WorkspaceLost)


async def test_a_failure_is_tried_again_and_then_told(repo):
    rig = await rig_for(repo, Git(program="/nonexistent/git"))
    with pytest.raises(GitError):
        await rig.snapshot()
    await rig.snapshot(attempts=3)
    assert isinstance(rig.heard[0], e.Notice)


async def test_a_plain_folder_has_no_snapshots(tmp_path):
    rig = Rig(Workspace(path=str(tmp_path), git=False))
    await rig.snapshot()
    await rig.rewind(0)
    assert rig.heard == []


# --- rewinding ------------------------------------------------------------------------------------


async def test_a_rewind_goes_to_the_end_of_that_round(repo):
    rig = await rig_for(repo)
    for round in (1, 2, 4):
        await rig.work(round, f"round {round}\n")
    for round, expected in ((3, "round 2\n"), (1, "round 1\n"), (0, "one\ntwo\nthree\n")):
        await rig.rewind(round)
        assert (rig.path / "a.txt").read_text() == expected


async def test_a_rewind_keeps_what_was_there(repo):
    rig = await rig_for(repo)
    await rig.work(1, "round 1\n")
    (rig.path / "a.txt").write_text("not saved yet\n")
    await rig.rewind(1)
    kept = rig.heard[1]
    assert git(repo, "show", f"{kept.commit}:a.txt") == "not saved yet"


async def test_delivered_twice_it_changes_nothing_more(repo):
    rig = await rig_for(repo)
    await rig.work(1, "round 1\n")
    await rig.work(2, "round 2\n")
    before = rig.session
    await rig.rewind(1)
    told, there = list(rig.heard), content(rig.path)
    rig.session = replace(before, snapshot=told[-2].number - 1)  # the last was not told
    await rig.rewind(1)
    assert content(rig.path) == there
    assert rig.heard == [*told, *told[-2:]]  # the snapshot, and what git says


async def test_work_that_was_abandoned_is_not_found_again(repo):
    rig = await rig_for(repo)
    for round in (1, 2, 3):
        await rig.work(round, f"round {round}\n")
    await rig.rewind(1)
    rig.session = replace(rig.session, round=RoundNumber(2))  # another second round: no change
    await rig.clock.advance(5000)
    await rig.snapshot()
    await rig.rewind(2)
    assert (rig.path / "a.txt").read_text() == "round 1\n"


async def test_no_snapshot_to_go_back_to_is_told_and_nothing_changes(repo):
    rig = await rig_for(repo)
    git(repo, "update-ref", "-d", f"refs/holdfast/{S}/0")
    (rig.path / "a.txt").write_text("work\n")
    await rig.rewind(0)
    assert isinstance(rig.heard[0], e.Notice)
    assert (rig.path / "a.txt").read_text() == "work\n"


# --- which round a snapshot is of -----------------------------------------------------------------


class Rounds(Rig):
    """Rounds one right after another: the clock moves a millisecond with each."""

    async def change(self, round: int, text: str) -> None:
        """As the built-in loop does: what was is kept, then the file is written."""
        now = replace(self.session, round=RoundNumber(round))
        await self.port.keep(now, since=self.clock.now())
        self.session = replace(now, changed=RoundNumber(round))
        (self.path / "a.txt").write_text(text)
        await self.clock.advance(1)

    def owed(self) -> Errand:
        s = self.session
        return Errand(id="e", session=S, effect=TakeSnapshot(number=s.snapshot + 1, round=s.round))

    async def back(self, round: int) -> str:
        await self.rewind(round)
        return (self.path / "a.txt").read_text()


async def rounds_for(repo: Path) -> Rounds:
    return Rounds((await make_tree(repo)).workspace)


async def test_a_round_that_begins_within_the_two_seconds_is_in_no_earlier_snapshot(repo):
    rig = await rounds_for(repo)
    for round in range(1, 6):
        await rig.change(round, f"{round}\n")
        await rig.port.snapshot(rig.owed(), rig.session)
    await rig.clock.advance(5000)
    await until(lambda: not rig.port._tasks)
    assert [await rig.back(n) for n in (4, 3, 2, 1)] == ["4\n", "3\n", "2\n", "1\n"]


async def test_what_comes_too_late_for_its_round_is_not_taken(repo):
    rig = await rounds_for(repo)
    await rig.change(1, "1\n")
    late, then = rig.owed(), rig.session
    await rig.change(2, "2\n")  # begun while the first one's snapshot was still owed
    await rig.port.snapshot(late, then)
    assert await rig.back(1) == "1\n"


async def test_nothing_is_taken_twice_for_a_round_that_was_kept_in_time(repo):
    rig = await rounds_for(repo)
    await rig.change(1, "1\n")
    await rig.clock.advance(5000)
    since = rig.clock.now()
    await rig.clock.advance(1)
    await rig.port.snapshot(rig.owed(), rig.session)
    told = list(rig.heard)
    calls = []
    rig.port._taken = calls.append
    await rig.port.keep(rig.session, since=since)
    await rig.port.keep(rig.session, since=None)
    assert (told, calls) == (rig.heard, [])


async def test_what_a_dead_process_put_off_is_taken_before_the_next_change(repo):
    rig = await rounds_for(repo)
    await rig.change(1, "1\n")
    again = Rounds(rig.session.workspace)
    again.session = rig.session
    await again.change(2, "2\n")
    assert await again.back(1) == "1\n"


async def test_a_snapshot_that_fails_does_not_end_the_run(repo):
    rig = await rig_for(repo, Git(program="/nonexistent/git"))
    await rig.port.keep(rig.session, since=None)
    assert isinstance(rig.heard[0], e.Notice)


async def test_a_lock_that_a_killed_git_left_is_gone_before_a_round_changes_files(repo):
    rig = await rig_for(repo)
    lock = repo / ".git/worktrees" / S / "index.lock"
    lock.write_bytes(b"")
    an_hour_ago = rig.clock.now() / 1000 - 3600
    os.utime(lock, (an_hour_ago, an_hour_ago))
    await rig.port.keep(rig.session, since=None)
    assert not lock.exists()
    git(rig.path, "add", "-A")
