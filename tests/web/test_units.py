"""The page's own tests and types, where its packages are installed (make page does that)."""

import gzip
import shutil
import subprocess
from pathlib import Path

import pytest

WEB = Path(__file__).parents[2] / "web"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not here"),
    pytest.mark.skipif(not (WEB / "node_modules" / "vitest").is_dir(), reason="make page first"),
]


def test_the_pages_own_tests_pass():
    # spec: J2 K1 K4 K5 K6
    ran = subprocess.run(["npm", "test"], cwd=WEB, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_the_pages_types_hold():
    ran = subprocess.run(
        ["npm", "run", "types"], cwd=WEB, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_all_scripts_together_are_small():
    # spec: K6
    built = WEB.parent / "src" / "holdfast" / "server" / "static"
    scripts = [*built.glob("assets/*.js"), built / "theme.js"]
    if len(scripts) < 2:
        pytest.skip("make page first")
    assert sum(len(gzip.compress(script.read_bytes(), 9)) for script in scripts) <= 160_000
