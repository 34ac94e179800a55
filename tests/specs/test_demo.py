"""`hold demo`, as a new user runs it."""

# spec: I1, P1, P2, P4, D1, D6

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path


def hold(*args: str, home: Path, **more: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "HOLDFAST_HOME": str(home), **more}
    command = [sys.executable, "-m", "holdfast", *args]
    return subprocess.run(
        command, env=env, capture_output=True, text=True, timeout=200, check=False
    )


def test_it_proves_that_nothing_was_lost_and_leaves_nothing_behind(tmp_path):
    place = tmp_path / "tmp"
    place.mkdir()

    done = hold("demo", "--json", home=tmp_path / "mine", TMPDIR=str(place))

    assert 0 == done.returncode, done.stderr
    proof = json.loads(done.stdout)
    assert (True, 0, 0) == (proof["holds"], proof["events_lost"], proof["doubled"])
    assert 1 == proof["calls_unknown"]
    assert dict.fromkeys(proof["files"], 1) == proof["ledger"]
    assert [] == list(place.iterdir())
    assert not (tmp_path / "mine").exists()


def test_it_is_told_in_words_too():
    with tempfile.TemporaryDirectory() as home:
        done = hold("demo", home=Path(home) / "h")

    assert "Nothing was lost, nothing was done twice." in done.stdout
