"""Which port pays which debt. One table; a test says that every effect has a line."""

from collections.abc import Awaitable, Callable

from holdfast.core import effects as f
from holdfast.core.session import Session
from holdfast.ports import Agents, Errand, Notifier, Workspaces

Performer = Callable[[Errand, Session], Awaitable[None]]


def performers(
    agents: Agents,
    workspaces: Workspaces,
    notifier: Notifier,
    *,
    wake: Performer,
    fork: Performer,
    erase: Performer,
) -> dict[type, Performer]:
    return {
        f.StartAgent: agents.start,
        f.DeliverPrompt: agents.deliver,
        f.InterruptAgent: agents.interrupt,
        f.KillAgent: agents.kill,
        f.RelayAnswer: agents.answer,
        f.TakeSnapshot: workspaces.snapshot,
        f.RewindWorkspace: workspaces.rewind,
        f.RemoveWorkspace: workspaces.remove,
        f.ReturnWorkspace: workspaces.bring_back,
        f.EraseSession: erase,
        f.MakeFork: fork,
        f.WakeSession: wake,
        f.NotifyPerson: notifier.tell,
    }
