"""Builds the page into the package when its sources changed: for make, and for the package's build.

Standard library only. What was built is stamped with a hash of what it was built from, so that a
checkout that only touches times builds nothing; `npm ci` runs only when its lock changed.

python web/build.py               build, if need be
python web/build.py --needs-node  exit 1 if it must be built and there is no Node to do it with
"""

import gzip
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

WEB = Path(__file__).resolve().parent
OUT = WEB.parent / "src" / "holdfast" / "server" / "static"
STAMP = OUT / ".stamp"
NAMES = (
    "build.py",
    "index.html",
    "package.json",
    "package-lock.json",
    "tsconfig.json",
    "vite.config.ts",
)
NODE = (20, 19)
SKIP = "HOLDFAST_SKIP_PAGE"


def digest(*files: Path) -> str:
    total = hashlib.sha256()
    for file in files:
        body = file.read_bytes()
        name = file.relative_to(WEB).as_posix()
        total.update(f"{name}\0{len(body)}\0".encode() + body)
    return total.hexdigest()


def sources() -> list[Path]:
    found = [*WEB.glob("src/**/*"), *WEB.glob("public/**/*"), *(WEB / name for name in NAMES)]
    return sorted(path for path in found if path.is_file())


def current() -> bool:
    built = STAMP.is_file() and (OUT / "index.html").is_file()
    return built and STAMP.read_text() == digest(*sources())


def has_node() -> bool:
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        return False
    asked = subprocess.run([node, "--version"], capture_output=True, text=True, check=False)
    parts = asked.stdout.strip().removeprefix("v").split(".")
    return len(parts) == 3 and all(p.isdecimal() for p in parts) and (*map(int, parts),) >= NODE


def build() -> str:
    """What was done: skipped, current, no node or built."""
    if os.environ.get(SKIP) == "1":
        return "skipped"
    if current():
        return "current"
    if not has_node():
        return "no node"
    lock, mark = digest(WEB / "package-lock.json"), WEB / "node_modules" / ".lock"
    if not mark.is_file() or mark.read_text() != lock:
        npm("ci", "--no-audit", "--no-fund", "--prefer-offline")
        mark.write_text(lock)
    npm("run", "build")
    pack()
    STAMP.write_text(digest(*sources()))
    return "built"


def pack() -> None:
    """What browsers ask for packed is packed once, here."""
    for file in OUT.rglob("*"):
        if file.suffix in (".js", ".css", ".svg", ".html", ".webmanifest"):
            packed = gzip.compress(file.read_bytes(), 9, mtime=0)
            file.with_name(f"{file.name}.gz").write_bytes(packed)


def npm(*arguments: str) -> None:
    command = ["npm", *arguments, "--loglevel=error"]
    subprocess.run(command, cwd=WEB, check=True, stdout=sys.stderr)


def main() -> int:
    if "--needs-node" in sys.argv:
        return int(not current() and not has_node())
    done = build()
    if done == "no node":
        print("page: no Node 20.19 or later; the daemon shows a help page instead", file=sys.stderr)
    elif done == "built":
        print("page: built", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
