"""The protocol's own shapes, as far as we look at them. What we do not know stays raw or is left out."""

from typing import Any, TypeVar

import msgspec

NONE = msgspec.Raw(b"")
T = TypeVar("T")


class Update(msgspec.Struct, rename="camel", gc=False):
    """Any `session/update`: the fields of all kinds, since agents mix them."""

    session_update: str = ""
    content: msgspec.Raw = NONE
    message_id: str | None = None
    tool_call_id: str = ""
    title: str | None = None
    kind: str | None = None
    status: str | None = None
    raw_input: msgspec.Raw = NONE
    raw_output: msgspec.Raw = NONE
    locations: msgspec.Raw = NONE
    entries: msgspec.Raw = NONE
    current_mode_id: str | None = None
    used: int | None = None
    cost: msgspec.Raw = NONE
    meta: msgspec.Raw = msgspec.field(default=NONE, name="_meta")


class UpdateParams(msgspec.Struct, rename="camel", gc=False):
    update: Update
    session_id: str = ""


_update = msgspec.json.Decoder(UpdateParams).decode


def parse_update(params: msgspec.Raw) -> UpdateParams | None:
    try:
        return _update(params)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


class Location(msgspec.Struct):
    path: str = ""


class Block(msgspec.Struct, rename="camel"):
    """A piece of content: of a message, or of a tool call, where it may hold another."""

    type: str = ""
    text: str = ""
    uri: str = ""
    path: str = ""
    old_text: str | None = None
    new_text: str = ""
    content: msgspec.Raw = NONE


class Entry(msgspec.Struct):
    content: str = ""
    status: str = "pending"


class Cost(msgspec.Struct):
    amount: float = 0.0
    currency: str = ""


class ModeOffered(msgspec.Struct):
    id: str
    name: str = ""


class Modes(msgspec.Struct, rename="camel"):
    current_mode_id: str = ""
    available_modes: list[ModeOffered] = []


class ModelOffered(msgspec.Struct, rename="camel"):
    model_id: str
    name: str = ""


class Models(msgspec.Struct, rename="camel"):
    current_model_id: str = ""
    available_models: list[ModelOffered] = []


class ConfigOption(msgspec.Struct, rename="camel"):
    id: str
    category: str | None = None
    current_value: Any = None
    options: msgspec.Raw = NONE


class ConfigValue(msgspec.Struct):
    value: str = ""
    options: list["ConfigValue"] = []  # of a group


class Retry(msgspec.Struct, rename="camel"):
    message: str = ""
    additional_details: str | None = None
    will_retry: bool = False


class CodexSays(msgspec.Struct):
    error: Retry | None = None


class TokensUsed(msgspec.Struct, rename="camel"):
    input_tokens: int = 0
    output_tokens: int = 0
    cached_read_tokens: int | None = 0
    cached_write_tokens: int | None = 0


class Counted(msgspec.Struct):
    """The same, as Gemini spells it."""

    input_tokens: int = 0
    output_tokens: int = 0


class Quota(msgspec.Struct):
    token_count: Counted | None = None


class Meta(msgspec.Struct):
    """What an agent adds to the protocol, as far as it is of use."""

    codex: CodexSays | None = None  # Codex
    usage: TokensUsed | None = None  # Qwen: of one response
    quota: Quota | None = None  # Gemini: of the whole turn


class SessionAnswer(msgspec.Struct, rename="camel"):
    """Of session/new, load and resume. The two latter may answer null."""

    session_id: str | None = None
    modes: Modes | None = None
    models: Models | None = None
    config_options: list[ConfigOption] | None = None


class SessionAbilities(msgspec.Struct):
    resume: msgspec.Raw = NONE
    list: msgspec.Raw = NONE
    fork: msgspec.Raw = NONE


class AgentAbilities(msgspec.Struct, rename="camel"):
    load_session: bool = False
    session_capabilities: SessionAbilities | None = None


class AgentInfo(msgspec.Struct):
    name: str = ""
    version: str = ""


class Initialized(msgspec.Struct, rename="camel"):
    protocol_version: int = 0
    agent_capabilities: AgentAbilities | None = None
    agent_info: AgentInfo | None = None


class TurnEnded(msgspec.Struct, rename="camel"):
    stop_reason: str = "end_turn"
    usage: TokensUsed | None = None
    meta: msgspec.Raw = msgspec.field(default=NONE, name="_meta")

    @property
    def used(self) -> TokensUsed | None:
        """As the protocol has it, else as an agent says it in its own way."""
        said = None if self.usage else decoded(self.meta, Meta)
        count = said.quota.token_count if said and said.quota else None
        if count is None:
            return self.usage
        return TokensUsed(input_tokens=count.input_tokens, output_tokens=count.output_tokens)


class Option(msgspec.Struct, rename="camel"):
    option_id: str
    name: str = ""
    kind: str = ""


class PermissionAsked(msgspec.Struct, rename="camel"):
    tool_call: msgspec.Raw = NONE
    options: list[Option] = []


def present(raw: msgspec.Raw) -> bool:
    """`{}` means yes; absent and null mean no."""
    return raw is not NONE and bytes(raw) not in (b"", b"null", b"false")


def decoded(raw: msgspec.Raw, kind: type[T]) -> T | None:
    """None: it is not there, or not of that shape. A convention broken is no reason to fail."""
    if raw is NONE or bytes(raw) == b"null":
        return None
    try:
        return msgspec.json.decode(raw, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
