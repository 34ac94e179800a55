"""A daemon starts quickly because of what it does not load."""

# spec: I4

import json
import subprocess
import sys
import tomllib

from holdfast import __version__
from tests.server.place import ROOT

HEAVY = {"pydantic", "pydantic_ai", "anthropic", "openai", "google", "genai_prices", "psutil"}
HEAVY |= {"attrs", "attr", "watchdog", "psycopg", "playwright", "rich"}

LOADS = """
import json, sys
import holdfast.assembly, holdfast.server.listen
from holdfast.server.app import make_app
from holdfast.server.desk import Place
place = Place(version="1", home="", address="", socket="", port=1)
make_app(object(), place=place, doorman=object(), leave=lambda kill: None)
print(json.dumps(sorted({name.partition(".")[0] for name in sys.modules})))
"""


def test_a_daemon_loads_nothing_heavy_before_it_is_needed():
    done = subprocess.run([sys.executable, "-c", LOADS], capture_output=True, text=True, check=True)
    assert set() == HEAVY & set(json.loads(done.stdout))


def test_the_version_is_said_once_and_the_same_everywhere():
    with (ROOT / "pyproject.toml").open("rb") as file:
        assert tomllib.load(file)["project"]["version"] == __version__


def test_the_schema_is_made_when_it_is_asked_for(place):  # spec: J1
    _, _, schema = place.request("GET", "/api/schema")
    wanted = {"diff", "patch", "apply", "export"}
    assert {f"/api/sessions/{{id}}/{name}" for name in wanted} <= schema["paths"].keys()
    assert {"/api/search", "/api/stats"} <= schema["paths"].keys()
