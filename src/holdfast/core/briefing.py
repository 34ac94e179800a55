"""What a resumed agent is told (SPEC D5-D7, D10, B5). Tests pin every character of it.

Rule 1: the words are the same for every agent and every way of coming back.
Rule 2: what git says comes first, then what we remember: where they differ, git is right.
Rule 3: whatever came out of the repository (names, results, errors) is hostile. It never begins a
line of its own: names are escaped, results are quoted behind `|`. What stands between `---` lines
is the model's own.
Rule 4: a call whose outcome nobody saw is said to be unknown, never done and never undone.

After a prompt that the user typed, the briefing and the user's words are two parts of one user turn
(SPEC D11): the conversation builder joins them, and nothing of the user's words is in here.
"""

from collections.abc import Iterable, Sequence
from typing import assert_never

from holdfast.core.events_work import CallClosed, RerunDecided
from holdfast.core.session import CallStatus, Closing, CoderState, Hint, OpenCall, Phase, Session
from holdfast.core.truth import Drift, Truth, dirty_files, split_by_change

FILES_SHOWN = 50
NAME_CUT = 300
ARGUMENTS_CUT = 200
RESULT_CUT = 500
SUMMARY_CUT = 2000
SHORT_SHA = 7

NO_GIT = "- There is no git here, so no git truth: what changed cannot be told. Look at the files."
CLOSING_LINE = "Do not repeat work that is already reflected in the workspace."

STREAMING = (
    "Interruption: the run was cut off while you were generating a response (round {round})."
)
PARTIAL = " Your partial response before the interruption (may be incomplete):"
STREAMING_GO_ON = "Resume your response. The workspace state above reflects the current truth."
STREAMING_NOTHING = " Nothing of it was saved. Respond again."
EXECUTING = "Interruption: the run was cut off while executing tool calls (round {round})."
EXECUTING_GO_ON = (
    "Check the workspace state above against what the unknown calls were supposed to do. "
    "If the expected changes are present, proceed to the next step. "
    "If not, re-attempt the tool calls."
)
DELEGATING = "Interruption: the run was cut off during Coder delegation (round {round})."
DELEGATING_GO_ON = (
    "The Coder's work may be partially complete. Check the workspace state above. "
    "Decide whether to re-delegate the remaining work or proceed based on what's done."
)
STARTING = (
    "Interruption: the run was cut off before your next response began. "
    "No response and no tool call was in progress. "
    "If the last request is not answered yet, answer it."
)
IDLE = (
    "Interruption: the session was cut off while nothing was in progress. "
    "No response and no tool call had been begun. Continue from where you left off."
)

GRACEFUL = (
    "[System: {who} Continue from where you left off. Do not repeat completed work. "
    "Pick up from your last action.]"
)
BY_USER = "The user has requested you resume."
BY_POLICY = "A policy has requested that you resume."


def briefing(
    session: Session,
    *,
    truth: Truth,
    drift: Drift,
    closed: Sequence[CallClosed | RerunDecided],
    message: str | None = None,
) -> str:
    """For a run that was cut off. `closed` is what was decided about its open calls."""
    parts = [
        _state(session, truth, drift),
        _paragraph(session, truth, closed),
        CLOSING_LINE,
    ]
    return "\n\n".join([*parts, message] if message else parts)


def graceful(
    *, by_policy: bool, hint: Hint | None, message: str | None, place: str | None = None
) -> str:
    """For a run that had stopped in order: nothing to find out, only to go on. `place`: what is to be
    said about the workspace all the same."""
    parts = [*([place] if place else []), GRACEFUL.format(who=BY_POLICY if by_policy else BY_USER)]
    if hint is not None and hint != Hint():
        parts.append(_hint(hint))
    return "\n\n".join([*parts, message] if message else parts)


def made_again(session: Session, truth: Truth) -> str:
    """The workspace is another one than it was, whatever the run had stopped for."""
    return _state(session, truth, Drift.WORKSPACE_MISSING)


def _hint(hint: Hint) -> str:
    lines = ["Where the last run halted:"]
    if hint.used:
        lines.append(f"- Used: {one_line(hint.used)}")
    lines.append(f"- Files modified: {_listed(hint.files) or 'none'}")
    if hint.summary:
        lines += ["- Last summary:", *_quoted(hint.summary, SUMMARY_CUT)]
    return "\n".join(lines)


# --- the workspace ------------------------------------------------------------------------------


def _state(session: Session, truth: Truth, drift: Drift) -> str:
    lines = ["[SESSION_RESUMED]", "Workspace state at recovery:"]
    if session.workspace.git:
        branch = one_line(truth.branch) if truth.branch else "no branch"
        lines += [
            f"- HEAD: {truth.head[:SHORT_SHA] or 'no commit yet'} ({branch})",
            f"- Dirty files: {_listed(dirty_files(truth)) or 'clean'}",
            f"- Diff summary: {_stat(truth.stat)}",
            f"- Changed files: {_listed(truth.changed) or 'none'}",
        ]
    else:
        lines.append(NO_GIT)
    sentence = _drift_sentence(session, truth, drift)
    return "\n".join([*lines, sentence] if sentence else lines)


def _drift_sentence(session: Session, truth: Truth, drift: Drift) -> str:
    match drift:
        case Drift.SAME:
            return ""
        case Drift.OURS_PARTIAL:
            return (
                "Only files that your interrupted tool calls name have changed since: "
                "those calls were carried out at least in part."
            )
        case Drift.FOREIGN_EDITS:
            return (
                "Files that none of your interrupted tool calls names have changed since, by "
                "somebody else or by a command: read them again before you build on them, and do "
                "not undo what is not yours."
            )
        case Drift.BRANCH_MOVED:
            return (
                f"The branch changed from {_branch_before(session, truth)} to "
                f"{one_line(truth.branch) or 'no branch'}: make sure that your work belongs here "
                "before you change anything."
            )
        case Drift.HEAD_MOVED:
            return (
                "HEAD is not the commit you left: commits were added or removed since, so look at "
                "the log before you rely on what you remember."
            )
        case Drift.WORKSPACE_MISSING:
            return (
                "The workspace you worked in is gone and this one was made in its place: work that "
                "was neither committed nor in a snapshot may be missing."
            )
        case _:
            assert_never(drift)


def _branch_before(session: Session, truth: Truth) -> str:
    """The look that noticed the move may be folded in already; then the workspace remembers."""
    seen = session.truth.branch if session.truth else ""
    before = session.workspace.branch if seen in ("", truth.branch) else seen
    return one_line(before) if before not in ("", truth.branch) else "another one"


def _stat(stat: str) -> str:
    """Git's own table: the sum, which git puts last, then indented a line for each file."""
    lines = [one_line(line.strip()) for line in stat.splitlines() if line.strip()]
    *files, total = lines or ["none"]
    shown = files[:FILES_SHOWN]
    if len(files) > len(shown):
        shown.append(_more(len(files) - len(shown)))
    return "\n  ".join([total, *shown])


# --- what was going on --------------------------------------------------------------------------


def _paragraph(session: Session, truth: Truth, closed: Sequence[CallClosed | RerunDecided]) -> str:
    stop = session.last_stop if session.run is None else None
    phase = stop.phase if stop else session.phase
    number = stop.round if stop else session.round
    match phase:
        case Phase.STREAMING_LLM:
            return _streaming(STREAMING.format(round=number), session.response.text)
        case Phase.EXECUTING_TOOLS:
            lists = _calls(session, truth, closed)
            return "\n".join([EXECUTING.format(round=number), *lists, EXECUTING_GO_ON])
        case Phase.DELEGATING_CODER:
            state = _coder(session.coder)
            return "\n".join([DELEGATING.format(round=number), *state, DELEGATING_GO_ON])
        case Phase.STARTING:
            return STARTING
        case Phase.IDLE:
            return IDLE
        case _:
            assert_never(phase)


def _streaming(opening: str, text: str) -> str:
    if not text.strip():
        return opening + STREAMING_NOTHING
    return "\n".join([opening + PARTIAL, "---", text, "---", STREAMING_GO_ON])


def _calls(
    session: Session, truth: Truth, closed: Iterable[CallClosed | RerunDecided]
) -> list[str]:
    decided = {event.call: event for event in closed}
    lists: dict[str, list[str]] = {"Finished": [], "Not started": [], "Unknown": []}
    for opened in session.calls:
        event = decided.get(opened.call.id)
        waiting = event is None and opened.call.id in session.questions
        where = "Waiting for the user's answer" if waiting else _where(opened, event)
        entry = [f"- {_asked(opened)}"]
        if where == "Finished":
            result = event.output if isinstance(event, CallClosed) else opened.result
            entry += _quoted(result or "(no output)", RESULT_CUT)
        if where == "Unknown" and len(opened.call.files) > 1 and session.workspace.git:
            changed, unchanged = split_by_change(opened.call.files, truth)
            entry.append(f"  its files that differ from HEAD: {_listed(changed) or 'none'}")
            entry.append(f"  its files that do not: {_listed(unchanged) or 'none'}")
        lists.setdefault(where, []).extend(entry)
    return [
        line
        for title, entries in lists.items()
        for line in ([f"{title}:", *entries] if entries else [f"{title}: none"])
    ]


def _where(opened: OpenCall, event: CallClosed | RerunDecided | None) -> str:
    """In which list a call stands: by what was decided just now, else by what it was."""
    match event:
        case RerunDecided():
            return "Run again"
        case CallClosed(how=Closing.NOT_STARTED):
            return "Not started"
        case CallClosed(how=Closing.PROBED_DONE | Closing.DENIED):
            return "Finished"
        case CallClosed():
            return "Unknown"
        case None:
            return _where_it_was(opened)
        case _:
            assert_never(event)


def _where_it_was(opened: OpenCall) -> str:
    match opened.status:
        case CallStatus.FINISHED:
            return "Finished"
        case CallStatus.PENDING:
            return "Run again" if opened.attempt else "Not started"
        case CallStatus.INTENDED | CallStatus.CLOSED:
            # How a call was closed earlier is not remembered: better unknown than done.
            return "Unknown"
        case _:
            assert_never(opened.status)


def _asked(opened: OpenCall) -> str:
    return one_line(f"{opened.call.name} {_cut(opened.call.arguments, ARGUMENTS_CUT)}")


def _coder(state: CoderState | None) -> list[str]:
    if state is None or state == CoderState():
        return ["The last Coder state was not saved."]
    return [
        "Last known Coder state:",
        "- plan:",
        *_quoted(state.plan or "none", SUMMARY_CUT),
        *_items("open_tasks", state.open_tasks),
        f"- files_touched: {_listed(state.files_touched) or 'none'}",
        *_items("assumptions", state.assumptions),
        *_items("errors", state.errors),
    ]


def _items(title: str, items: Sequence[str]) -> list[str]:
    if not items:
        return [f"- {title}: none"]
    return [
        f"- {title}:",
        *(f"  - {one_line(_cut(item, RESULT_CUT))}" for item in items[:FILES_SHOWN]),
    ]


# --- making text harmless -----------------------------------------------------------------------


def one_line(text: str) -> str:
    """The text with everything escaped that could begin a line or hide something."""
    return "".join(c if c == "\t" or c.isprintable() else _escaped(c) for c in text)


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def _quoted(text: str, limit: int) -> list[str]:
    return [f"  | {one_line(line)}" for line in _cut(text, limit).splitlines()]


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[:limit]}... [truncated]"


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(_name(name) for name in names[:FILES_SHOWN])
    hidden = len(names) - FILES_SHOWN
    return f"{shown} {_more(hidden)}" if hidden > 0 else shown


def _more(count: int) -> str:
    return f"(and {count} more files)"


def _name(name: str) -> str:
    """As it is if it is plain; in quotes if it could pass for two names or for something else."""
    name = _cut(name, NAME_CUT)
    plain = name.isprintable() and name == name.strip() and not set(name) & set(",'\"\\")
    return name if plain and name else repr(name)
