"""The tools of the built-in agent, by name (SPEC B3).

A tool is a value (tools_kind.py); this table is all there is to being one. Tools of the user's own are
added to a copy of it.
"""

import difflib
from collections.abc import Mapping

from holdfast.agents.builtin import shell, tools_files, tools_git, tools_search, tools_talk
from holdfast.agents.builtin.tools_kind import Context, Tool, ToolResult


def registry() -> dict[str, Tool]:
    tools = (
        *tools_files.TOOLS,
        *tools_search.TOOLS,
        *shell.TOOLS,
        *tools_git.TOOLS,
        *tools_talk.TOOLS,
    )
    return {tool.name: tool for tool in tools}


async def answer(
    tools: Mapping[str, Tool], name: str, arguments: str, context: Context
) -> ToolResult:
    """Runs the tool of that name. Whatever is wrong with the call is a failed result."""
    tool = tools.get(name)
    if tool is None:
        return ToolResult(output=unknown_tool(tools, name), failed=True)
    return await tool.run(arguments, context)


def unknown_tool(tools: Mapping[str, Tool], name: str) -> str:
    close = difflib.get_close_matches(name, tools, n=1)
    meant = f" Did you mean {close[0]}?" if close else ""
    return f"There is no tool {name!r}.{meant} The tools are: {', '.join(tools)}."
