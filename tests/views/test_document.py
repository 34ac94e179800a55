"""A session's document, from its fold and from its line in the list."""

from holdfast.core import events as e
from holdfast.core.evolve import rebuild
from holdfast.core.ids import SessionId
from holdfast.core.truth import Workspace
from holdfast.views.document import Around, document, listed
from holdfast.views.sessions import summary

AROUND = Around(created_at=0, updated_at=0)
PLACE = Workspace(id="s", path="/state/trees/s", repo="/home/me/shop/.git", branch="hold/x-1234")


def test_the_list_knows_the_repository():  # spec: K1
    session = rebuild(SessionId("s"), [e.SessionOpened(agent="builtin", workspace=PLACE)])
    line = listed("s", 1, summary(session), AROUND)
    assert line.workspace == document(session, AROUND).workspace
    assert line.workspace.repo == "/home/me/shop/.git"
