"""Who may come in: token, Host, Origin, login codes; on routes and on the socket."""

import asyncio
import socket
import stat
from pathlib import Path

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from holdfast.server.app import make_app
from holdfast.server.auth import Doorman
from holdfast.server.desk import Place


def error(answer):
    return answer[0], answer[2]["error"]["code"]


def test_a_request_without_a_token_is_refused(place):  # spec: J4
    assert error(place.request("GET", "/api/health", token=False)) == (401, "unauthorized")


def test_a_wrong_token_is_refused(place):  # spec: J4
    headers = {"Authorization": "Bearer " + "x" * 43}
    answer = place.request("GET", "/api/health", token=False, headers=headers)
    assert error(answer) == (401, "unauthorized")


def test_the_right_token_lets_in(place):  # spec: J4
    status, headers, body = place.request("GET", "/api/health")
    assert status == 200 and body["home"] == str(place.home)
    assert headers["x-content-type-options"] == "nosniff"
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert [name for name in headers if name.lower().startswith("access-control")] == []


def test_no_route_forgets_to_ask(place):  # spec: J4
    """Every route the application has, asked for without a token."""
    doorman = Doorman(token="t" * 43, port=1, allowed=(), clock=lambda: 0.0)
    where = Place(version="0", home="", address="", socket="", port=1)
    app = make_app(None, place=where, doorman=doorman, leave=lambda _: None)
    asked = 0
    for route in app.routes:
        path = route.path.replace("{id:str}", "abc123")
        for method in getattr(route, "methods", ()):
            answer = place.request(method, path, token=False)
            assert answer[0] == 401, (method, path)
            asked += 1
    assert asked > 20


@pytest.mark.parametrize(
    "host",
    [
        "evil.com",
        "localhost.evil.com",
        "127.0.0.1.nip.io",
        "127.0.0.1",
        "localhost:1",
        "localhost.",
        "",
    ],
)
def test_another_host_is_refused_even_with_the_token(place, host):  # spec: J3
    answer = place.request("GET", "/api/health", headers={"Host": host})
    assert error(answer) == (403, "forbidden")


@pytest.mark.parametrize("host", ["127.0.0.1", "LOCALHOST", "[::1]"])
def test_our_own_names_are_known(place, host):  # spec: J3
    headers = {"Host": f"{host}:{place.port}"}
    assert place.request("GET", "/api/health", headers=headers)[0] == 200


def test_two_hosts_are_no_host(place):  # spec: J3
    """By hand: no client library sends two."""
    with socket.create_connection(("127.0.0.1", place.port)) as line:
        ours = f"Host: 127.0.0.1:{place.port}\r\n"
        line.sendall(f"GET /api/health HTTP/1.1\r\n{ours}{ours}\r\n".encode())
        assert line.recv(100).split()[1] in (b"400", b"403")


@pytest.mark.parametrize("origin", ["http://evil.com", "null", "http://localhost:1", "https://x"])
def test_another_origin_is_refused_even_with_the_token(place, origin):  # spec: J3
    for method, path in (("GET", "/api/health"), ("POST", "/api/sessions")):
        answer = place.request(method, path, body={}, headers={"Origin": origin})
        assert error(answer) == (403, "forbidden")


def test_a_token_in_the_address_opens_nothing(place):  # spec: J4
    for name in ("token", "access_token", "authorization", "code"):
        answer = place.request("GET", f"/api/health?{name}={place.token}", token=False)
        assert error(answer) == (401, "unauthorized")
    answer = place.request("GET", f"/login?code={place.token}", token=False)
    assert error(answer) == (401, "unauthorized")


# --- logging in -----------------------------------------------------------------------------------


def log_in(place):
    link = place.ask("POST", "/api/login-codes", {})["link"]
    path = link.partition(str(place.port))[2]
    return path, place.request("GET", path, token=False)


def cookie_of(answer):
    return answer[1]["set-cookie"].partition(";")[0]


def test_a_login_code_works_once(place):  # spec: J4
    path, first = log_in(place)
    assert first[0] == 303 and first[1]["location"] == "/"
    assert "HttpOnly" in first[1]["set-cookie"] and "SameSite=Strict" in first[1]["set-cookie"]
    assert place.token not in first[1]["set-cookie"]
    assert error(place.request("GET", path, token=False)) == (401, "unauthorized")


def test_a_link_that_is_used_up_says_so_on_a_page(place):  # spec: J4
    path, first = log_in(place)
    browser = {"Accept": "text/html,application/xhtml+xml"}
    status, headers, body = place.request("GET", path, token=False, headers=browser)
    assert (status, headers["content-type"]) == (401, "text/html; charset=utf-8")
    assert "hold up" in body and "does not work any more" in body
    again = {**browser, "Cookie": cookie_of(first)}
    status, headers, _ = place.request("GET", path, token=False, headers=again)
    assert (status, headers["location"]) == (303, "/")  # it is in already
    machine = {"Accept": "application/json"}
    answer = place.request("GET", path, token=False, headers=machine)
    assert error(answer) == (401, "unauthorized")


def test_the_cookie_opens_what_the_token_opens(place):  # spec: J4
    _, answer = log_in(place)
    headers = {"Cookie": cookie_of(answer)}
    assert place.request("GET", "/api/sessions", token=False, headers=headers)[0] == 200


def test_with_a_cookie_a_change_must_say_where_it_comes_from(place):  # spec: J4
    _, answer = log_in(place)
    cookie = {"Cookie": cookie_of(answer)}
    body = {"folder": str(place.home)}
    asked = {"body": body, "token": False}
    bare = place.request("POST", "/api/sessions", headers=cookie, **asked)
    assert error(bare) == (403, "forbidden")
    ours = {**cookie, "Origin": f"http://127.0.0.1:{place.port}"}
    assert place.request("POST", "/api/sessions", headers=ours, **asked)[0] == 201
    theirs = {**cookie, "Sec-Fetch-Site": "cross-site"}
    answer = place.request("GET", "/api/sessions", token=False, headers=theirs)
    assert error(answer) == (403, "forbidden")


def test_codes_and_the_end_are_given_over_the_unix_socket_alone(place):  # spec: J4
    for path in ("/api/login-codes", "/api/down"):
        assert error(place.request("POST", path, body={})) == (403, "forbidden")


def test_keys_are_taken_over_the_unix_socket_alone(place):  # spec: B1
    body = {"folder": str(place.home), "environ": {"X_API_KEY": "secret"}}
    assert error(place.request("POST", "/api/sessions", body=body)) == (403, "forbidden")
    assert place.ask("POST", "/api/sessions", body)["id"]


# --- the socket -------------------------------------------------------------------------------------


async def upgrade(place, headers, origin=None):
    address = f"ws://127.0.0.1:{place.port}/api/ws"
    async with connect(address, additional_headers=headers, origin=origin):
        return 101


async def refused(place, headers, origin=None):
    try:
        return await upgrade(place, headers, origin)
    except InvalidStatus as answer:
        return answer.response.status_code


async def test_an_upgrade_is_asked_for_the_same(place):  # spec: J4
    token = {"Authorization": f"Bearer {place.token}"}
    ours = f"http://localhost:{place.port}"
    cookie = {"Cookie": cookie_of((await asyncio.to_thread(log_in, place))[1])}
    assert await refused(place, token) == 101
    assert await refused(place, cookie, ours) == 101
    assert await refused(place, {}) == 401
    assert await refused(place, token, "http://evil.com") == 403
    assert await refused(place, cookie, "null") == 403
    assert await refused(place, cookie) == 403
    assert await refused(place, {**token, "Host": "evil.com"}) in (400, 403)


# --- files ------------------------------------------------------------------------------------------


def test_what_is_ours_is_closed_to_others(place):  # spec: I5
    modes = {
        name: stat.S_IMODE((place.home / name).lstat().st_mode)
        for name in ("token", "holdfast.sock", "daemon.lock", "daemon.json", "journal.db")
    }
    assert set(modes.values()) == {0o600}
    assert stat.S_IMODE(place.home.stat().st_mode) == 0o700


def test_only_loopback_is_listened_on(place):  # spec: J1
    ours = f":{place.port:04X}"
    with Path("/proc/net/tcp").open(encoding="ascii") as table:
        listening = [row.split()[1] for row in table if row.split()[3] == "0A"]
    assert [address for address in listening if address.endswith(ours)] == [f"0100007F{ours}"]


def test_too_many_commands_are_put_off(place):  # spec: J3
    headers = {"X-Holdfast-Client": "in a hurry"}
    answers = [
        place.request("POST", "/api/sessions/ffffffffffff/dismiss", headers=headers)
        for _ in range(121)
    ]
    assert {answer[0] for answer in answers[:120]} == {404}
    status, given, body = answers[120]
    assert (status, body["error"]["code"]) == (429, "too_many")
    assert 0 < int(given["retry-after"]) <= 61
