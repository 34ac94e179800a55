"""The page, as it was built into the package, and two plain pages where there is none to show.

Rule 1: the built files hold no secret and may be had by whoever reaches us; the page itself and
        everything it asks for need the cookie.
Rule 2: a file whose name holds its hash never changes and may be kept for ever; the others are asked
        for again each time.
Rule 3: nothing is read but what lies in the folder of built files.
"""

import hashlib
from pathlib import Path
from typing import NamedTuple

STATIC = Path(__file__).parent / "static"
INDEX = "index.html"
HASHED = "assets/"
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".webmanifest": "application/manifest+json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".woff2": "font/woff2",
    ".txt": "text/plain; charset=utf-8",
}
ENCODINGS = (("br", ".br"), ("gzip", ".gz"))  # packed beforehand, where the build did so
FOR_EVER = "public, max-age=31536000, immutable"
ASK_AGAIN = "no-cache"

PLAIN = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Holdfast</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><link rel="stylesheet" href="/plain.css"></head>
<body><main><img src="/icon.svg" alt="" width="44" height="44"><h1>{}</h1>{}</main></body></html>
"""
FRESH_LINK = (
    "<p>Run <code>hold up</code> on the machine where Holdfast runs, and open the link that it prints. "
    "It logs this browser in, once.</p>"
)
STRANGER = PLAIN.format("This browser is not logged in", FRESH_LINK)
USED_UP = PLAIN.format(
    "This link does not work any more",
    "<p>A link is good once, and for five minutes. Nothing is lost.</p>" + FRESH_LINK,
)
NOT_BUILT = PLAIN.format(
    "The page was not built",
    "<p>The daemon runs and has everything; only this page is missing.</p>"
    "<p>In a clone, <code>make up</code> builds it (Node 20.19 or later is used if there is one, and "
    "fetched into <code>.venv</code> if not). A released package carries it.</p>"
    "<p>The command line needs no page: <code>hold ls</code>, <code>hold attach</code>.</p>",
)


class Reply(NamedTuple):
    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes


def is_page(path: str) -> bool:
    """An address that a person opens: the page finds out itself what to show there."""
    return path == "/" or path.startswith("/s/") or path in ("/stats", "/index.html")


def stranger() -> Reply:
    return _html(401, STRANGER)


def used_up() -> Reply:
    """For a link that was opened before, or too late."""
    return _html(401, USED_UP)


def home() -> Reply:
    return Reply(303, _lines({"location": "/"}), b"")


def wants_page(accept: str) -> bool:
    """A person's browser names HTML; a program says that it wants JSON, or nothing in particular."""
    return "text/html" in accept.lower()


def serve(path: str, accepts: str = "", known: str = "", *, root: Path = STATIC) -> Reply | None:
    """None: there is no such file. `known` is the version that the browser has."""
    if is_page(path):
        if not (root / INDEX).is_file():
            return _html(503, NOT_BUILT)
        path = f"/{INDEX}"
    file = (root / path.lstrip("/")).resolve()
    kind = TYPES.get(file.suffix)
    if kind is None or not file.is_relative_to(root.resolve()) or not file.is_file():
        return None
    headers = {
        "content-type": kind,
        "cache-control": FOR_EVER if path.startswith(f"/{HASHED}") else ASK_AGAIN,
        "vary": "accept-encoding",
    }
    wanted = {part.partition(";")[0].strip() for part in accepts.split(",")}
    for name, ending in ENCODINGS:
        packed = file.with_name(file.name + ending)
        if name in wanted and packed.is_file():
            headers["content-encoding"], file = name, packed
            break
    body = file.read_bytes()
    headers["etag"] = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    if headers["etag"] == known:
        return Reply(304, _lines(headers), b"")
    headers["content-length"] = str(len(body))
    return Reply(200, _lines(headers), body)


def _html(status: int, text: str) -> Reply:
    body = text.encode()
    headers = {"content-type": TYPES[".html"], "content-length": str(len(body))}
    return Reply(status, _lines(headers), body)


def _lines(headers: dict[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.encode(), value.encode()) for name, value in headers.items()]
