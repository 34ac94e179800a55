"""The page's types, written from ours: `python web/wire_types.py > web/src/wire/types.gen.ts`.

Every struct that crosses the socket becomes an interface of the same name, so the page cannot believe
in a field that we do not send; and the words for people, so that it has none of its own. A test compares the file with what this prints.
"""

import sys
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import inspect as m

from holdfast import wire
from holdfast.core.offer import ResumeStatus
from holdfast.server import frames
from holdfast.views.changes import AppliedOut, DiffOut
from holdfast.views.choices import AgentsOut, FolderOut, ModelsOut
from holdfast.views.plain import TABLES
from holdfast.views.search import SearchOut
from holdfast.views.stats import StatsOut

HEAD = "// Written by web/wire_types.py from the structs of the daemon. Do not edit.\n"
ROOTS: tuple[Any, ...] = (
    wire.SessionsOut,
    wire.ItemsOut,
    wire.CallOut,
    wire.NewSession,
    wire.Created,
    wire.Done,
    wire.PlanOut,
    wire.ErrorOut,
    AgentsOut,
    ModelsOut,
    FolderOut,
    wire.Health,
    wire.ApplyIn,
    wire.ForkIn,
    wire.RewindIn,
    wire.RewoundOut,
    ResumeStatus,
    AppliedOut,
    DiffOut,
    SearchOut,
    StatsOut,
    frames.Given,
    frames.Said,
)
UNIONS = {"Item": wire.Item, "Given": frames.Given, "Said": frames.Said}
PLAIN: dict[type[m.Type], str] = {
    m.AnyType: "unknown",
    m.CustomType: "unknown",
    m.NoneType: "null",
    m.BoolType: "boolean",
    m.IntType: "number",
    m.FloatType: "number",
    m.StrType: "string",
}


def typescript() -> str:
    """The whole file."""
    found: dict[str, m.StructType] = {}
    for info in m.multi_type_info(ROOTS):
        _gather(info, found)
    parts = [_interface(found[name]) for name in sorted(found)]
    parts += [_union(name, kind) for name, kind in UNIONS.items()]
    parts += [_table(name, table) for name, table in TABLES.items()]
    return "\n".join([HEAD, *parts])


def _gather(info: m.Type, found: dict[str, m.StructType]) -> None:
    if isinstance(info, m.StructType):
        name = info.cls.__name__
        if name in found:
            return
        found[name] = info
    for inner in _within(info):
        _gather(inner, found)


def _within(info: m.Type) -> Iterator[m.Type]:
    match info:
        case m.StructType(fields=fields):
            yield from (field.type for field in fields)
        case m.UnionType(types=types):
            yield from types
        case m.VarTupleType(item_type=item) | m.ListType(item_type=item):
            yield item
        case m.DictType(value_type=value):
            yield value
        case _:
            return


def _interface(info: m.StructType) -> str:
    given = not info.cls.__struct_config__.omit_defaults
    lines = [f"export interface {info.cls.__name__} {{"]
    if info.tag_field:
        lines.append(f"  {info.tag_field}: {_literal(info.tag)};")
    for field in info.fields:
        # A field that has its default is left out, unless the struct says that all are written.
        mark = "" if given or field.required else "?"
        lines.append(f"  {field.encode_name}{mark}: {_type(field.type)};")
    return "\n".join([*lines, "}\n"])


def _union(name: str, kind: Any) -> str:
    members = "\n".join(f"  | {member.__name__}" for member in kind.__args__)
    return f"export type {name} =\n{members};\n"


def _table(name: str, table: dict[str, str]) -> str:
    lines = "\n".join(f"  {_literal(key)}: {_literal(text)}," for key, text in table.items())
    return f"export const {name}: Record<string, string> = {{\n{lines}\n}};\n"


def _type(info: m.Type) -> str:
    match info:
        case m.StructType(cls=cls):
            return cls.__name__
        case m.EnumType() | m.LiteralType():
            return " | ".join(_literal(value) for value in _choices(info))
        case m.UnionType(types=types):
            return " | ".join(_type(member) for member in types)
        case m.VarTupleType(item_type=item) | m.ListType(item_type=item):
            inner = _type(item)
            return f"({inner})[]" if " | " in inner else f"{inner}[]"
        case m.DictType(value_type=value):
            return f"Record<string, {_type(value)}>"
        case _:
            return PLAIN[type(info)]


def _choices(info: m.EnumType | m.LiteralType) -> Iterator[object]:
    if isinstance(info, m.LiteralType):
        yield from info.values
    else:
        yield from (member.value for member in info.cls)


def _literal(value: object) -> str:
    return msgspec.json.encode(value).decode()


if __name__ == "__main__":
    sys.stdout.write(typescript())
