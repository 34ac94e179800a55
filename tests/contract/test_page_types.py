"""The page's types are the ones of the daemon, as they are now."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_pages_types_are_what_the_structs_say():
    # spec: J2
    written = subprocess.run(
        [sys.executable, ROOT / "web" / "wire_types.py"], capture_output=True, text=True, check=True
    )
    kept = (ROOT / "web" / "src" / "wire" / "types.gen.ts").read_text(encoding="utf-8")
    assert kept == written.stdout, "python web/wire_types.py > web/src/wire/types.gen.ts"
