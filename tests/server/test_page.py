"""The built page: who gets it, how long it may be kept, and what is said where there is none."""

import pytest

from holdfast.server import page as page_files
from tests.server.test_door import cookie_of, log_in


@pytest.fixture
def built(tmp_path):
    (tmp_path / "assets").mkdir()
    (tmp_path / "index.html").write_text("<!doctype html>page")
    (tmp_path / "assets" / "app-1a2b.js").write_text("go()")
    (tmp_path / "assets" / "app-1a2b.js.gz").write_bytes(b"packed")
    (tmp_path.parent / "secret.js").write_text("secret")
    return tmp_path


def test_the_page_is_asked_for_again_and_its_hashed_parts_are_kept(built):  # spec: K1
    for path in ("/", "/s/0123456789ab"):
        found = page_files.serve(path, root=built)
        assert found.body == b"<!doctype html>page"
        assert dict(found.headers)[b"cache-control"] == b"no-cache"
    part = dict(page_files.serve("/assets/app-1a2b.js", root=built).headers)
    assert b"immutable" in part[b"cache-control"]
    assert part[b"content-type"].startswith(b"text/javascript")


def test_what_was_packed_beforehand_is_sent_packed(built):
    found = page_files.serve("/assets/app-1a2b.js", "br, gzip;q=0.8", root=built)
    assert (found.body, dict(found.headers)[b"content-encoding"]) == (b"packed", b"gzip")


def test_what_a_browser_has_is_not_sent_again(built):
    first = page_files.serve("/", root=built)
    again = page_files.serve("/", known=dict(first.headers)[b"etag"].decode(), root=built)
    assert (again.status, again.body) == (304, b"")


@pytest.mark.parametrize("path", ["/../secret.js", "//etc/passwd", "/assets", "/.stamp", "/x.js"])
def test_nothing_else_is_read(built, path):  # spec: J4
    assert page_files.serve(path, root=built) is None


def test_where_no_page_was_built_that_is_said(tmp_path):  # spec: M1
    found = page_files.serve("/", root=tmp_path)
    assert found.status == 503 and b"make up" in found.body


def test_a_browser_that_is_not_logged_in_is_told_how(place):  # spec: J4
    status, headers, text = place.request("GET", "/", token=False)
    assert status == 401 and "hold up" in text
    assert headers["content-type"].startswith("text/html")
    assert "'unsafe" not in headers["content-security-policy"]
    assert headers["permissions-policy"] and headers["cross-origin-opener-policy"]
    evil = place.request("GET", "/", token=False, headers={"Host": "evil.com"})
    assert evil[0] == 403


def test_a_login_leads_to_the_page(place):  # spec: J4
    _, answer = log_in(place)
    assert answer[1]["location"] == "/"
    cookie = {"Cookie": cookie_of(answer)}
    status, _, text = place.request("GET", "/", token=False, headers=cookie)
    assert status in (200, 503) and "Holdfast" in text
