"""A session among others: its name, its tags, the archive and the trash."""

# spec: A1, A10, H2, P10

import pytest

from holdfast.core import events as e
from holdfast.core import inputs as i
from holdfast.core.decide import decide
from holdfast.core.effects import EraseSession, RemoveWorkspace, ReturnWorkspace
from holdfast.core.errors import Refused, WouldLose
from holdfast.core.evolve import fold
from holdfast.core.react import react, still_owed
from holdfast.core.session import Run, Session, State
from holdfast.core.truth import Workspace

TREE = Workspace(id="s", path="/t", repo="/r/.git", branch="hold/x-s")
IDLE = Session(id="s", opened=True, state=State.WAITING_FOR_INPUT, runs=1, workspace=TREE)
RUNNING = Session(
    id="s",
    opened=True,
    state=State.RUNNING,
    workspace=TREE,
    run=Run(number=1, cause="prompt", limits=IDLE.limits),
)
CLEAN = i.Facts(now=7)
DIRTY = i.Facts(now=7, losses=("a.txt", "b.txt"))


def after(session, *commands, facts=CLEAN):
    for command in commands:
        session = fold(session, decide(session, command, facts))
    return session


@pytest.mark.parametrize(
    ("command", "field", "value"),
    [
        (i.RenameSession(title=" a  b\n"), "title", "a b"),
        (i.PinSession(), "pinned", True),
        (i.ArchiveSession(), "archived", True),
        (i.TagSession(add=("b", "a", "b")), "tags", ("b", "a")),
        (i.TrashSession(), "trashed_at", 7),
    ],
    ids=lambda v: type(v).__name__,
)
def test_what_was_said_is_so_and_saying_it_again_changes_nothing(command, field, value):
    changed = after(IDLE, command)

    assert value == getattr(changed, field)
    assert [] == decide(changed, command, CLEAN)


def test_tags_are_taken_off_and_put_on_in_one_go():
    tagged = after(IDLE, i.TagSession(add=("a", "b")), i.TagSession(add=("c",), remove=("a",)))

    assert ("b", "c") == tagged.tags


@pytest.mark.parametrize("tag", ["", "two words", "x" * 51, "bell\x07"])
def test_what_is_no_tag_is_refused(tag):
    with pytest.raises(Refused, match="is no tag"):
        decide(IDLE, i.TagSession(add=(tag,)), CLEAN)


def test_a_title_is_not_empty():
    with pytest.raises(Refused, match="needs a title"):
        decide(IDLE, i.RenameSession(title=" \n"), CLEAN)


@pytest.mark.parametrize("command", [i.TrashSession(force=True), i.ArchiveSession()])
def test_what_runs_is_not_put_away(command):
    with pytest.raises(Refused, match="hold stop s"):
        decide(RUNNING, command, CLEAN)


def test_work_that_is_nowhere_else_is_named_and_goes_only_if_the_user_says_so():
    with pytest.raises(WouldLose, match=r"a\.txt, b\.txt"):
        decide(IDLE, i.TrashSession(), DIRTY)

    *_, trashed = decide(IDLE, i.TrashSession(force=True), DIRTY)

    assert e.SessionTrashed(at=7, removes=True, lost=("a.txt", "b.txt")) == trashed
    assert [RemoveWorkspace(force=True)] == react(fold(IDLE, [trashed]), trashed)


def test_a_clean_tree_goes_without_force():
    *_, trashed = decide(IDLE, i.TrashSession(force=True), CLEAN)

    assert [RemoveWorkspace(force=False)] == react(fold(IDLE, [trashed]), trashed)


def test_a_folder_of_the_users_is_never_removed():
    here = Session(id="s", opened=True, workspace=Workspace(id="/home/me/x", path="/home/me/x"))
    *_, trashed = decide(here, i.TrashSession(force=True), DIRTY)

    assert [] == react(fold(here, [trashed]), trashed)


def test_in_the_trash_nothing_is_done_but_taking_it_out():
    trashed = after(IDLE, i.TrashSession())

    for command in (i.SendPrompt(input="i", text="x"), i.ContinueRun(), i.RenameSession(title="x")):
        with pytest.raises(Refused, match="hold restore s"):
            decide(trashed, command, CLEAN)
    back = after(trashed, i.RestoreSession())
    assert (False, 0) == (back.trashed, back.trashed_at)
    assert [ReturnWorkspace()] == react(back, e.SessionRestored())


def test_a_tree_that_was_taken_out_again_is_not_removed_late():
    trashed = after(IDLE, i.TrashSession())
    back = after(trashed, i.RestoreSession())

    assert still_owed(trashed, RemoveWorkspace()) and not still_owed(back, RemoveWorkspace())
    assert still_owed(back, ReturnWorkspace()) and not still_owed(trashed, ReturnWorkspace())


def test_what_is_archived_does_not_run_until_it_is_taken_out():
    archived = after(IDLE, i.ArchiveSession())

    with pytest.raises(Refused, match="hold archive --undo s"):
        decide(archived, i.SendPrompt(input="i", text="x"), CLEAN)
    taken_out = after(archived, i.ArchiveSession(archived=False))
    assert decide(taken_out, i.SendPrompt(input="i", text="x"), CLEAN)


# --- for good ---------------------------------------------------------------------------------------

MONTH = 30


def at(now):
    return i.Facts(now=now)


def test_the_trash_keeps_what_is_in_it_for_as_long_as_was_promised():
    trashed = after(IDLE, i.TrashSession())  # at 7

    with pytest.raises(Refused, match="long enough"):
        decide(trashed, i.PurgeSession(kept=MONTH), at(7 + MONTH - 1))
    assert [e.SessionPurged()] == decide(trashed, i.PurgeSession(kept=MONTH), at(7 + MONTH))


def test_what_was_taken_out_and_put_back_begins_anew():
    again = after(IDLE, i.TrashSession(), i.RestoreSession())
    again = after(again, i.TrashSession(), facts=at(50))

    with pytest.raises(Refused, match="long enough"):
        decide(again, i.PurgeSession(kept=MONTH), at(60))


def test_when_nobody_knows_how_long_it_stays_until_a_person_says_so():
    trashed = fold(IDLE, [e.SessionTrashed()])  # of a version that did not write it down

    with pytest.raises(Refused, match="long enough"):
        decide(trashed, i.PurgeSession(kept=MONTH), at(10**12))
    assert [e.SessionPurged()] == decide(trashed, i.PurgeSession(), at(8))


def test_only_what_is_in_the_trash_is_removed_for_good():
    with pytest.raises(Refused, match="hold rm s"):
        decide(IDLE, i.PurgeSession(), CLEAN)


def test_it_cannot_be_called_off_and_is_owed_until_it_is_done():
    purged = after(IDLE, i.TrashSession(), i.PurgeSession())

    for command in (i.RestoreSession(), i.PurgeSession(), i.SendPrompt(input="i", text="x")):
        with pytest.raises(Refused, match="removed for good"):
            decide(purged, command, CLEAN)
    assert [EraseSession()] == react(purged, e.SessionPurged())
    assert still_owed(purged, EraseSession())
