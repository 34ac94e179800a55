"""One of each value, with no field at its default, so that nothing is left out of its body."""

from typing import Any

import msgspec
from msgspec import inspect


def sample(kind: type, n: int = 1) -> Any:
    """`n` makes neighbours differ."""
    return _value(inspect.type_info(kind), n, object())


def _value(kind: Any, n: int, default: Any) -> Any:  # noqa: C901, PLR0911  a table, row by row
    match kind:
        case inspect.BoolType():
            return default is not True
        case inspect.IntType():
            return n + 100
        case inspect.FloatType():
            return n + 0.5
        case inspect.StrType():
            return f"word {n}"
        case inspect.NoneType():
            return None
        case inspect.EnumType(cls=cls):
            return next(member for member in reversed(list(cls)) if member != default)
        case inspect.LiteralType(values=values):
            return next(value for value in values if value != default)
        case inspect.VarTupleType(item_type=item):
            return (_value(item, n, object()), _value(item, n + 1, object()))
        case inspect.DictType(value_type=value):
            return {f"key {n}": _value(value, n, object())}
        case inspect.UnionType(types=types):
            return _value(next(t for t in types if not isinstance(t, inspect.NoneType)), n, default)
        case inspect.StructType(cls=cls, fields=fields):
            given = {f.name: _value(f.type, n + i, f.default) for i, f in enumerate(fields)}
            return cls(**given)
    raise TypeError(f"no sample of {kind}: add one")


def shape(kind: type) -> str:
    """Every field of a value and of the values in it: what a stored copy depends on."""
    seen: dict[str, str] = {}
    _shape(inspect.type_info(kind), seen)
    return "\n".join(f"{name}: {seen[name]}" for name in sorted(seen))


def _shape(kind: Any, seen: dict[str, str]) -> str:
    match kind:
        case inspect.StructType(cls=cls, fields=fields):
            if cls.__name__ not in seen:
                seen[cls.__name__] = ""
                seen[cls.__name__] = ", ".join(
                    f"{f.encode_name} {_shape(f.type, seen)} {_default(f)}" for f in fields
                )
            return str(cls.__name__)
        case inspect.EnumType(cls=cls):
            return "|".join(str(member.value) for member in cls)
        case inspect.VarTupleType(item_type=item):
            return f"[{_shape(item, seen)}]"
        case inspect.UnionType(types=types):
            return "|".join(sorted(_shape(t, seen) for t in types))
    return type(kind).__name__


def _default(field: Any) -> str:
    """A default is not written down, so to change one changes what a stored copy means."""
    if field.required:
        return "required"
    return msgspec.json.encode(field.default).decode()
