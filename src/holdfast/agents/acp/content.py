"""What is in an update: its text, its output, the files it names. Read as far as it can be read."""

import msgspec

from holdfast.agents.acp.updates import Block, Location, Update, decoded, present

PURE = frozenset({"read", "search", "think", "fetch"})  # kinds of calls that change nothing
CHANGING = frozenset({"edit", "delete", "move"})  # those that say which files they change
TITLE_CUT = 160
DIFF_LINES = 200


def text(raw: msgspec.Raw) -> str:
    """Of one content block; what is no text is named."""
    block = decoded(raw, Block)
    return _words(block) if block is not None else ""


def output(update: Update) -> str:
    """What a call answered: its content, else what it gave back as it is."""
    blocks = decoded(update.content, list[Block]) or []
    said = "\n".join(part for part in map(_of_call, blocks) if part)
    if said or not present(update.raw_output):
        return said
    plain = decoded(update.raw_output, str)
    return plain if plain is not None else compact(update.raw_output)


def paths(update: Update) -> tuple[str, ...]:
    named = [place.path for place in decoded(update.locations, list[Location]) or []]
    blocks = decoded(update.content, list[Block]) or []
    named += [block.path for block in blocks if block.type == "diff"]
    return tuple(dict.fromkeys(path for path in named if path))


def compact(raw: msgspec.Raw) -> str:
    """The agent's own JSON, as it wrote it."""
    return bytes(raw).decode("utf-8", "replace")


def one_line(title: str) -> str:
    line = " ".join(title.split())
    return line if len(line) <= TITLE_CUT else line[:TITLE_CUT] + "..."


def _words(block: Block) -> str:
    match block.type:
        case "text":
            return block.text
        case "resource_link":
            return f"[{block.uri}]"
        case "":
            return ""
        case kind:
            return f"[{kind}]"


def _of_call(block: Block) -> str:
    match block.type:
        case "content":
            return text(block.content)
        case "diff":
            return _diff(block)
        case "terminal":
            return ""
        case _:
            return _words(block)


def _diff(block: Block) -> str:
    import difflib  # noqa: PLC0415  only for agents that send one

    before, after = (block.old_text or "").splitlines(), block.new_text.splitlines()
    if len(before) + len(after) > 20 * DIFF_LINES:  # comparing takes its time
        return f"{block.path}: {len(before)} lines before, {len(after)} after"
    lines = list(difflib.unified_diff(before, after, block.path, block.path, lineterm="", n=2))
    cut = [f"... [{len(lines) - DIFF_LINES} lines cut]"] if len(lines) > DIFF_LINES else []
    return "\n".join([*lines[:DIFF_LINES], *cut])
