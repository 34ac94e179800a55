"""The one error the core raises: a command that makes no sense now. Reports are never refused."""


class Refused(Exception):
    """`why` is a sentence for a person; `hint` names the way on."""

    code = "refused"  # of the fixed list of the wire

    def __init__(self, why: str, hint: str = "", *, about: tuple[str, ...] = ()) -> None:
        super().__init__(f"{why} {hint}".strip())
        self.why = why
        self.hint = hint
        self.about = about  # what it names, one by one


class WouldLose(Refused):
    """Work is never deleted on doubt (SPEC P10): whoever wants it so says it again."""

    code = "would_lose"
