"""LangGraph with SqliteSaver: one node that loops to itself, a message each time.

Variants: `full` is the default, the add_messages reducer, whose checkpoint holds the
whole list each time; `delta` is DeltaChannel (beta) with its default settings. Both run
with durability="sync": the default writes behind the graph's back, and then a step is
not durable when the next one begins.

A step is timed from the node's return to its next call: LangGraph is between them,
the node's own work is not.
"""

import sqlite3
from time import perf_counter_ns
from typing import Annotated, Any, TypedDict

from bench.measure import Load, Recorder, import_cpu, timed_load
from bench.peers.common import Task, about, main
from bench.workload import Message, messages

FILE = "langgraph.db"
CONFIG = {"configurable": {"thread_id": "bench"}, "recursion_limit": 1_000_000}
NODE = "say"


class Speaker:
    """The node: adds the next message, and knows how long the last one took."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self._messages = messages()
        self._returned_at = 0

    def __call__(self, _state: object) -> dict[str, Any]:
        if self._returned_at:
            self.recorder.add(perf_counter_ns() - self._returned_at)
        if self.recorder.done:
            return {}
        update = {"messages": [_as_theirs(next(self._messages))]}
        self._returned_at = perf_counter_ns()
        return update


def run(task: Task) -> None:
    """Grow the conversation."""
    speaker = Speaker(task.recorder())
    graph, connection = _graph(task, speaker)
    graph.checkpointer.setup()
    about(task.folder / FILE, "langgraph", "langgraph-checkpoint-sqlite")
    graph.invoke({"messages": []}, CONFIG, durability="sync")
    speaker.recorder.tell()
    connection.close()


def load(task: Task) -> Load:
    """Read the last state back."""
    imports = import_cpu(
        "langchain_core.messages",
        "langgraph.channels",
        "langgraph.checkpoint.sqlite",
        "langgraph.graph.message",
    )

    def state() -> int:
        graph, connection = _graph(task, Speaker(task.recorder()))
        count = len(graph.get_state(CONFIG).values["messages"])
        connection.close()
        return count

    return timed_load(imports, state)


def _graph(task: Task, speaker: Speaker) -> tuple[Any, sqlite3.Connection]:
    # Inside the functions, so that `load` can time the import.
    from langgraph.checkpoint.sqlite import SqliteSaver
    from langgraph.graph import END, START, StateGraph

    # As SqliteSaver.from_conn_string opens it.
    connection = sqlite3.connect(task.folder / FILE, check_same_thread=False)
    builder = StateGraph(_state(task.variant))
    builder.add_node(NODE, speaker)
    builder.add_edge(START, NODE)
    builder.add_conditional_edges(
        NODE, lambda _: END if speaker.recorder.done else NODE, [NODE, END]
    )
    return builder.compile(checkpointer=SqliteSaver(connection)), connection


def _state(variant: str) -> Any:
    from langgraph.channels import DeltaChannel

    # The delta reducer is the one DeltaChannel's own documentation gives.
    from langgraph.graph.message import _messages_delta_reducer, add_messages

    reducer = {"full": add_messages, "delta": DeltaChannel(_messages_delta_reducer)}[variant]
    return TypedDict("State", {"messages": Annotated[list, reducer]})


def _as_theirs(message: Message) -> Any:
    from langchain_core.messages import AIMessage, HumanMessage

    kind = HumanMessage if message.role == "user" else AIMessage
    return kind(content=message.text, id=f"message-{message.index}")


if __name__ == "__main__":
    main(run, load)
