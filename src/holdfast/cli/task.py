"""`task new|ls|show|done`: what is to be done, whoever does it (SPEC A11)."""

import click

from holdfast.cli.output import columns, connect, json_option, say_json
from holdfast.core.task import TaskState
from holdfast.views.tasks import TaskOut
from holdfast.views.timeline import clean
from holdfast.wire import CloseIn, TaskIn, TasksOut

COLOURS = {
    TaskState.TODO: "",
    TaskState.IN_PROGRESS: "blue",
    TaskState.REVIEW: "yellow",
    TaskState.DONE: "green",
    TaskState.CANCELLED: "grey",
}
OVER = (TaskState.DONE, TaskState.CANCELLED)


@click.group()
def task() -> None:
    """Tasks: what is to be done, by any number of sessions."""


@task.command()
@click.argument("title")
@click.option("-d", "--description", default="", help="What a session of it is told besides.")
@json_option
def new(*, title: str, description: str, as_json: bool) -> int:
    """Write down a task."""
    made = connect().post("/api/tasks", TaskIn(title=title, description=description), TaskOut)
    if as_json:
        say_json(made)
    else:
        print(f"Task {made.id}\nBegin it with: hold run --task {made.id}")
    return 0


@task.command()
@click.option("--all", "everything", is_flag=True, help="Done and cancelled ones too.")
@json_option
def ls(*, everything: bool, as_json: bool) -> int:
    """Tasks, newest first, and where they stand."""
    found = connect().get("/api/tasks", TasksOut)
    if as_json:
        say_json(found)
        return 0
    shown = [t for t in found.tasks if everything or t.state not in OVER]
    if not shown:
        print("No tasks. Write one down with: hold task new TITLE")
        return 0
    rows = [(t.id, t.state.value, _sessions(t), clean(t.title)) for t in shown]
    columns(rows, [("", COLOURS[t.state], "grey", "") for t in shown])
    return 0


def _sessions(t: TaskOut) -> str:
    return f"{len(t.sessions)} session{'' if len(t.sessions) == 1 else 's'}"


@task.command()
@click.argument("id")
@json_option
def show(*, id: str, as_json: bool) -> int:
    """One task, with its sessions."""
    found = connect().get(f"/api/tasks/{id}", TaskOut)
    if as_json:
        say_json(found)
        return 0
    columns([("task", found.id), ("title", clean(found.title)), ("state", found.state.value)])
    if found.description:
        print(f"\n{clean(found.description)}")
    for session in found.sessions:
        print(f"\nhold show {session}", end="")
    print()
    return 0


@task.command()
@click.argument("id")
@click.option("--cancelled", is_flag=True, help="It was given up.")
@json_option
def done(*, id: str, cancelled: bool, as_json: bool) -> int:
    """A task is done; a session that works on it again brings it back."""
    found = connect().post(f"/api/tasks/{id}/close", CloseIn(cancelled=cancelled), TaskOut)
    if as_json:
        say_json(found)
    else:
        print(f"{found.state.value} {found.id}")
    return 0
