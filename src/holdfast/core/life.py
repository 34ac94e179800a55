"""A session among others: its name, its tags, the archive and the trash (SPEC A1, A10, H2).

Rule 1: what is put away does nothing until it is taken out again, and says how.
Rule 2: a work tree that we made goes to the trash with its session. Its branch stays, and a snapshot
        of everything; where something would be lost all the same, the user is asked first, and what
        was let go is written down.
Rule 3: the trash keeps what is in it for as long as was promised. Then, or when a person says so, it
        is removed for good, which cannot be called off. When it came in must be known.
Rule 4: what would change nothing is not written.
"""

from holdfast.core import events as e
from holdfast.core import inputs as i
from holdfast.core.begin import call_off
from holdfast.core.errors import Refused, WouldLose
from holdfast.core.session import Session

TITLE, TAG, TAGS = 200, 50, 50  # characters, characters, tags
NAMED = 50  # of what is lost, in the journal
SHOWN = 10  # of it, to the user

IN_THE_TRASH = frozenset({i.TrashSession, i.RestoreSession, i.PurgeSession, i.MarkSeen})
NOT_IN_THE_ARCHIVE = frozenset({i.SendPrompt, i.ContinueRun, i.Reattach})


def may_be_told(command: type[i.Command], *, archived: bool, trashed: bool) -> bool:
    if trashed:
        return command in IN_THE_TRASH
    return not archived or command not in NOT_IN_THE_ARCHIVE


def check_put_away(s: Session, command: i.Command) -> None:
    if s.purged:
        raise Refused(f"Session {s.id} was removed for good.")
    if may_be_told(type(command), archived=s.archived, trashed=s.trashed):
        return
    if s.trashed:
        raise Refused(f"Session {s.id} is in the trash.", f"hold restore {s.id} brings it back.")
    raise Refused(f"Session {s.id} is archived.", f"hold archive --undo {s.id} takes it out.")


def put_away(s: Session, command: i.Command, facts: i.Facts) -> list[e.Event]:
    match command:
        case i.RenameSession(title=title):
            title = _title(title)
            return [e.SessionRenamed(title=title)] if title != s.title else []
        case i.PinSession(pinned=pinned):
            return [e.SessionPinned(pinned=pinned)] if pinned != s.pinned else []
        case i.TagSession():
            tags = _tags(s, command)
            return [e.SessionTagged(tags=tags)] if tags != s.tags else []
        case i.ArchiveSession(archived=archived):
            return _archive(s, archived=archived)
        case _:
            return _trash_can(s, command, facts)


def _trash_can(s: Session, command: i.Command, facts: i.Facts) -> list[e.Event]:
    match command:
        case i.TrashSession(force=force):
            return _trash(s, facts, force=force)
        case i.RestoreSession():
            return [e.SessionRestored()] if s.trashed else []
        case i.PurgeSession(kept=kept):
            return _purge(s, facts, kept=kept)
        case _:
            raise AssertionError(command)


def _title(title: str) -> str:
    words = " ".join(title.split())
    if not words:
        raise Refused("A session needs a title.", "Give it some words.")
    return words[:TITLE]


def _tags(s: Session, command: i.TagSession) -> tuple[str, ...]:
    for tag in command.add:
        if not tag or len(tag) > TAG or any(c.isspace() or not c.isprintable() for c in tag):
            raise Refused(f"{tag!r} is no tag.", f"A tag is one word of at most {TAG} characters.")
    kept = [tag for tag in s.tags if tag not in command.remove]
    tags = tuple(dict.fromkeys((*kept, *command.add)))
    if len(tags) > TAGS:
        raise Refused(f"That would be {len(tags)} tags.", f"{TAGS} is the most.")
    return tags


def _archive(s: Session, *, archived: bool) -> list[e.Event]:
    if archived and s.taken:
        raise _running(s)
    return [e.SessionArchived(archived=archived)] if archived != s.archived else []


def _trash(s: Session, facts: i.Facts, *, force: bool) -> list[e.Event]:
    if s.trashed:
        return []
    if s.taken:
        raise _running(s)
    if facts.losses and not force:
        more = len(facts.losses) - SHOWN
        named = ", ".join(facts.losses[:SHOWN]) + (f" (and {more} more)" if more > 0 else "")
        raise WouldLose(
            f"{s.workspace.path} has work that is committed nowhere: {named}",
            "Commit or apply it first, or say --yes to let it go.",
            about=facts.losses[:NAMED],
        )
    lost = facts.losses[:NAMED]
    return [*call_off(s), e.SessionTrashed(at=facts.now, removes=s.own_tree, lost=lost)]


def _purge(s: Session, facts: i.Facts, *, kept: int) -> list[e.Event]:
    if not s.trashed:
        raise Refused(f"Session {s.id} is not in the trash.", f"Put it there first: hold rm {s.id}")
    if kept and (not s.trashed_at or facts.now - s.trashed_at < kept):
        raise Refused(f"Session {s.id} has not been in the trash for long enough.")
    return [e.SessionPurged()]


def _running(s: Session) -> Refused:
    return Refused(f"Session {s.id} is running.", f"Stop it first: hold stop {s.id}")
