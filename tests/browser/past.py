"""A long past, put into the journal before the daemon is there."""

from bench.driver import a_run, a_stop
from holdfast.core import events as e
from holdfast.core.evolve import rebuild
from holdfast.core.ids import CallId, RoundNumber, SessionId
from holdfast.core.session import Call, EffectClass
from holdfast.core.value import replace
from holdfast.journal import rows
from holdfast.journal.sqlite_store import SqliteStore
from holdfast.ports import Batch
from holdfast.views.sessions import summary


def write_past(home, id, messages, *, text="found {n}: a few words of it"):
    """A finished run of so many messages (half of them calls), put into the journal by itself."""

    opened, *begun = a_run(6)
    events = [replace(opened, agent="builtin", via="builtin", model="scripted:/dev/null"), *begun]
    for n in range(1, messages // 2 + 1):
        this, number = CallId(f"c{n}"), RoundNumber(n)
        made = Call(id=this, name="read", effect=EffectClass.PURE, part=1)
        events += [
            e.RoundStarted(round=number),
            e.TextSaved(round=number, text=text.format(n=n)),
            e.ResponseFinished(round=number, calls=(made,)),
            e.CallIntended(call=this),
            e.CallFinished(call=this, output=f"result {n} " * 8),
        ]
    events = (*events, *a_stop())
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    store = SqliteStore(home / "journal.db")
    store.prepare()
    with store.transaction(full=False):
        session = rebuild(SessionId(id), events)
        lease = store.claim(session.id, "an:owner:that:is:gone", 1, 1, "")
        batch = Batch(
            session=session.id,
            generation=lease.generation,
            head=lease.head,
            at=1,
            events=events,
            summary=summary(session),
            snapshot=session,
        )
        store.append(batch, rows.event_rows(batch))
    store.close()
    return id
