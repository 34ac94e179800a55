"""The application: routes, errors as one shape, limits. Auth stands around it (guard.py)."""

import os
from collections.abc import Callable
from typing import Any

from litestar import Litestar, Request, get, post
from litestar.di import NamedDependency, Provide
from litestar.openapi.config import OpenAPIConfig
from litestar.openapi.plugins import JsonRenderPlugin
from litestar.params import JSONBody, SkipValidation
from litestar.plugins import PluginProtocol
from litestar.plugins.core import MsgspecDIPlugin

from holdfast.server.answers import Answers
from holdfast.server.auth import Doorman
from holdfast.server.desk import Desk, Failure, Place
from holdfast.server.errors import HANDLERS
from holdfast.server.routes import SESSIONS, by_unix
from holdfast.server.routes_adopt import ADOPTION
from holdfast.server.routes_choices import CHOICES
from holdfast.server.routes_life import LIFE
from holdfast.server.routes_tasks import TASKS
from holdfast.server.routes_work import WORK
from holdfast.server.searching import Searcher
from holdfast.server.socket import talk
from holdfast.server.tally import Tally
from holdfast.wire import FRAME_BYTES, DownIn, Health, LoginCode

Asking = Request[Any, Any, Any]
Leave = Callable[[bool], None]  # True: agents that would outlive us are ended too

Here = SkipValidation[NamedDependency[Desk]]
Where = SkipValidation[NamedDependency[Place]]
Door = SkipValidation[NamedDependency[Doorman]]
Leaving = SkipValidation[NamedDependency[Leave]]


class App(Litestar):
    @staticmethod
    def _get_default_plugins(plugins: list[PluginProtocol]) -> list[PluginProtocol]:
        """Without those for pydantic and attrs: they would load both, a quarter of a second, and
        none of our values is theirs. (A test sees to it that pydantic stays out.)"""
        return [*plugins, MsgspecDIPlugin()]


def make_app(desk: Desk, *, place: Place, doorman: Doorman, leave: Leave) -> Litestar:
    given: dict[str, Any] = {"desk": desk, "place": place, "doorman": doorman, "leave": leave}
    given |= {"tally": Tally(), "searcher": Searcher(), "answers": Answers()}
    return App(
        route_handlers=[
            *SESSIONS,
            *CHOICES,
            *LIFE,
            *TASKS,
            *ADOPTION,
            *WORK,
            talk,
            health,
            login_code,
            down,
        ],
        dependencies={
            name: Provide(_giver(value), sync_to_thread=False) for name, value in given.items()
        },
        exception_handlers=HANDLERS,
        openapi_config=OpenAPIConfig(
            title="Holdfast",
            version=place.version,
            path="/api/schema",
            render_plugins=[JsonRenderPlugin(path="/")],
        ),
        request_max_body_size=FRAME_BYTES,
        logging_config=None,
        debug=False,
    )


def _giver(value: Any) -> Callable[[], Any]:
    def give() -> Any:
        return value

    return give


# --- the daemon itself ----------------------------------------------------------------------------


@get("/api/health")
async def health(desk: Here, place: Where) -> Health:
    return Health(
        version=place.version,
        pid=os.getpid(),
        epoch=desk.engine.journal.epoch,
        store=desk.store,
        home=place.home,
        address=place.address,
        socket=place.socket,
    )


@post("/api/login-codes", status_code=201)
async def login_code(request: Asking, place: Where, doorman: Door) -> LoginCode:
    """For the command line alone: a page that is logged in needs none, and gives none away."""
    if not by_unix(request):
        raise Failure("forbidden", "Codes are handed out over the Unix socket alone.")
    code = doorman.mint()
    return LoginCode(code=code, link=f"{place.address}/login?code={code}")


@post("/api/down", status_code=202)
async def down(request: Asking, leave: Leaving, data: JSONBody[DownIn]) -> dict[str, bool]:
    if not by_unix(request):
        raise Failure("forbidden", "The daemon is stopped over the Unix socket alone.")
    leave(data.kill)
    return {"stopping": True}
