"""The routes of what may be chosen: agents, models and folders, before there is a session."""

from litestar import get
from litestar.di import NamedDependency
from litestar.params import FromQuery, SkipValidation

from holdfast.server.desk import Desk
from holdfast.views.choices import AgentsOut, FolderOut, ModelsOut

Here = SkipValidation[NamedDependency[Desk]]


@get("/api/agents")
async def agents(desk: Here) -> AgentsOut:
    """Which there are, what is installed of them, and whether they can be expected to work."""
    return await desk.choices.agents()


@get("/api/models")
async def models(desk: Here) -> ModelsOut:
    """For the built-in agent: every model of the providers whose key is there."""
    return await desk.choices.models()


@get("/api/folder")
async def folder(desk: Here, path: FromQuery[str]) -> FolderOut:
    """Whether a session could be made there, and on top of what."""
    return await desk.work.look(path)


CHOICES = [agents, models, folder]
