"""A session in a list: all that is shown and all that a restart must know, without its history."""

from holdfast.core.ids import Millis
from holdfast.core.session import Phase, Session, State, Stop
from holdfast.core.value import Value


class Summary(Value):
    state: State = State.CREATED
    title: str = ""
    agent: str = ""
    via: str = ""
    model: str = ""
    mode: str = ""
    workspace: str = ""
    branch: str = ""
    repo: str = ""  # empty in a line that was written before there was this
    stop: Stop | None = None
    last_stop: Stop | None = None
    worked_at: Millis | None = None  # None too in a line that was written before there was this
    stop_seen: bool = True
    run: int | None = None
    launch: int | None = None  # of the agent that is up
    phase: Phase = Phase.IDLE
    round: int = 0
    token: str | None = None
    pending: int = 0
    queue: int = 0
    timers: int = 0
    cost_micros: int = 0
    unpriced: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    pinned: bool = False
    archived: bool = False
    trashed: bool = False
    tags: tuple[str, ...] = ()
    task: str | None = None

    @property
    def live(self) -> bool:
        """Something may be out there that a restart has to look after."""
        return self.run is not None or self.launch is not None


def summary(s: Session) -> Summary:
    return Summary(
        state=s.state,
        title=s.title,
        agent=s.agent,
        via=s.via,
        model=s.model,
        mode=s.mode,
        workspace=s.workspace.path,
        branch=s.workspace.branch,
        repo=s.workspace.repo,
        stop=s.stop,
        last_stop=s.last_stop,
        worked_at=s.worked_at,
        stop_seen=s.stop_seen,
        run=s.run.number if s.run else None,
        launch=s.launch.number if s.launch and s.launch.alive else None,
        phase=s.phase,
        round=s.round,
        token=s.token,
        pending=len(s.decisions),
        queue=len(s.queue),
        timers=len(s.timers),
        cost_micros=s.totals.cost_micros,
        unpriced=s.totals.unpriced,
        input_tokens=s.totals.input_tokens,
        output_tokens=s.totals.output_tokens,
        pinned=s.pinned,
        archived=s.archived,
        trashed=s.trashed,
        tags=s.tags,
        task=s.task,
    )
