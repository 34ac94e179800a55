"""What all values here have in common: frozen, compared by content, built by keyword.

`msgspec.Struct` rather than a dataclass: a hundred of these are defined in 4 ms instead of
52 ms, and decode and fold several times faster (docs/decisions/0002). A default is not
written to disk, so a field that most events leave empty costs nothing.
"""

from typing import Any, dataclass_transform

import msgspec


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(msgspec.field,))
class ValueMeta(msgspec.StructMeta):
    """Makes keyword-only the rule: msgspec does not inherit that option."""

    def __new__(
        cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **config: Any
    ) -> Any:
        config.setdefault("kw_only", True)
        return super().__new__(cls, name, bases, namespace, **config)


class Value(msgspec.Struct, metaclass=ValueMeta, frozen=True, omit_defaults=True, gc=False):
    """Holds only other values, so it is never part of a cycle: no need to be traced."""


replace = msgspec.structs.replace


def fields(value: msgspec.Struct) -> dict[str, Any]:
    """The fields by name, to build another value of the same shape."""
    return {name: getattr(value, name) for name in value.__struct_fields__}
