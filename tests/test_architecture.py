"""The shape of the repository, for every file and without a list of exceptions.

The import contracts are import-linter's (pyproject.toml); here is what it cannot see.
"""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
NOT_OURS = re.compile(r"\.(?!ci|git[ai])|__pycache__$|(build|dist|node_modules)$")

LIMITED = {".py", ".sql", ".toml", ".sh"}
FILE_LINES = 400
FUNCTION_LINES = 40
FUNCTION_LINES_IN_TESTS = 80

PURE = ("core", "views", "runbook")
PURE_MAY_IMPORT = sys.stdlib_module_names | {"holdfast", "msgspec"}

# Put together here so that this file does not find itself.
# Where a person would mark it: in a comment, or with a colon. A task's first state is a word of SPEC A11.
MARKS = "|".join(("TO" + "DO", "FIX" + "ME", "XX" + "X"))
UNFINISHED = re.compile(rf"(#|--|//|/\*)\s*({MARKS})\b|(?<![.\w])({MARKS})(:|\()")
NOWHERE_NAMES = {"util", "utils", "helper", "helpers", "manager", "managers"}
MACHINE_PATH = re.compile(r"(?<![\w.$}/~-])/(work|root)/")
INDEX_ADDRESS = re.compile(r"index-url|find-links|file:|/simple|://")


def tracked_files() -> list[Path]:
    """What git has or would take; outside a checkout, what is on disk."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    if listing.returncode == 0 and listing.stdout:
        paths = [ROOT / name for name in listing.stdout.decode().split("\0") if name]
    else:
        found = ROOT.rglob("*")
        paths = [p for p in found if not any(map(NOT_OURS.match, p.relative_to(ROOT).parts))]
    return sorted(p for p in paths if p.is_file())


FILES = tracked_files()
PYTHON = [p for p in FILES if p.suffix == ".py"]
SOURCE = [p for p in PYTHON if p.is_relative_to(ROOT / "src")]


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def in_tests(path: Path) -> bool:
    return path.is_relative_to(ROOT / "tests")


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=name(path))


def imported_roots(tree: ast.Module) -> set[str]:
    roots = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            roots |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            roots.add((node.module or "").partition(".")[0])
    return roots


def text_lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError:
        return []  # an image, a font


def test_there_is_something_to_look_at():
    assert ROOT / "src/holdfast/__init__.py" in SOURCE
    assert Path(__file__) in PYTHON


def test_no_file_is_too_long():
    too_long = {}
    for path in FILES:
        lines = len(text_lines(path)) if path.suffix in LIMITED else 0
        if lines > FILE_LINES:
            too_long[name(path)] = lines
    assert too_long == {}


def test_no_function_is_too_long():
    too_long = {}
    for path in PYTHON:
        limit = FUNCTION_LINES_IN_TESTS if in_tests(path) else FUNCTION_LINES
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                if lines > limit:
                    too_long[f"{name(path)}:{node.name}"] = lines
    assert too_long == {}


def test_every_source_module_says_what_it_is_for():
    assert [name(p) for p in SOURCE if not ast.get_docstring(parsed(p))] == []


def test_no_module_is_called_after_nothing():
    assert [name(p) for p in PYTHON if NOWHERE_NAMES & set(p.stem.split("_"))] == []


def test_nothing_in_the_source_is_marked_unfinished():
    marked = [
        f"{name(path)}:{number}"
        for path in FILES
        if path.is_relative_to(ROOT / "src")
        for number, line in enumerate(text_lines(path), 1)
        if UNFINISHED.search(line)
    ]
    assert marked == []


def test_no_file_names_a_path_of_the_machine_it_was_written_on():
    found = [
        f"{name(path)}:{number}: {line.strip()[:80]}"
        for path in FILES
        for number, line in enumerate(text_lines(path), 1)
        if MACHINE_PATH.search(line)
    ]
    assert found == []


def test_no_lock_names_an_index():
    locks = [p for p in FILES if p.parent == ROOT / "requirements" and p.suffix == ".txt"]
    assert locks != []
    found = [
        f"{name(path)}:{number}"
        for path in locks
        for number, line in enumerate(text_lines(path), 1)
        if INDEX_ADDRESS.search(line)
    ]
    assert found == []


def test_every_pinned_package_has_a_hash():
    for path in (ROOT / "requirements").glob("*.txt"):
        text = path.read_text(encoding="utf-8").replace("\\\n", " ")
        pins = [line for line in text.splitlines() if line and not line.startswith("#")]
        assert [pin for pin in pins if "--hash=sha256:" not in pin] == []


@pytest.mark.parametrize("package", PURE)
def test_pure_code_imports_the_standard_library_and_msgspec_alone(package):
    folder = ROOT / "src/holdfast" / package
    found = {
        name(path): foreign
        for path in SOURCE
        if path.is_relative_to(folder)
        if (foreign := imported_roots(parsed(path)) - PURE_MAY_IMPORT)
    }
    assert found == {}


def test_imports_are_absolute():
    relative = [
        f"{name(path)}:{node.lineno}"
        for path in SOURCE
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.ImportFrom) and node.level > 0
    ]
    assert relative == []
