"""Holdfast runs coding agents and never loses their place.

`from holdfast import Agent, tool` is the library; it is loaded when it is asked for, so that the
command line does not pay for it.
"""

from typing import Any

__all__ = ["Agent", "Result", "tool"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from holdfast import agent  # noqa: PLC0415  only whoever asks for it pays

        return getattr(agent, name)
    if name == "__version__":
        from holdfast.config import VERSION  # noqa: PLC0415  as above

        return VERSION
    raise AttributeError(f"module 'holdfast' has no attribute {name!r}")
