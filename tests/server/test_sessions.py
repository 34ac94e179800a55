"""The routes of sessions: what comes in, what is answered, what is refused."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from holdfast.client import ApiError
from tests.server.place import placed, until

A4 = {"reason", "class", "message", "phase", "round", "at", "resumes_at", "percent", "evidence"}
I5 = {"id", "title", "state", "agent", "via", "model", "mode", "stop", "last_stop", "head"}
I5 |= {"workspace", "agent_session_id", "pending", "queue", "cost", "tokens", "launch"}
I5 |= {"created_at", "updated_at"}


def refused(place, method, path, body=None):
    with pytest.raises(ApiError) as caught:
        place.client.call(method, path, body)
    return caught.value.status, caught.value.code


def test_a_session_is_made_and_works(place):  # spec: J1 I5
    id = place.create("make the tests pass")
    session = place.stopped(id)
    assert I5 <= session.keys()
    assert (session["state"], session["stop"]) == ("WAITING_FOR_INPUT", None)
    assert session["last_stop"].keys() >= A4
    assert session["last_stop"]["at"].endswith("Z")
    assert place.session(id[:5])["id"] == id


def test_the_list_has_the_same_documents_newest_first(place):  # spec: I5
    ids = [place.create(None) for _ in range(3)]
    found = place.ask("GET", "/api/sessions?limit=2")
    assert [s["id"] for s in found["sessions"]] == [ids[2], ids[1]]
    older = place.ask("GET", f"/api/sessions?limit=2&before={found['next']}")
    assert older["sessions"][0]["id"] == ids[0]
    whole = place.session(ids[2])
    assert found["sessions"][0].keys() == whole.keys()


def test_events_come_from_a_cursor_and_say_their_epoch(place):  # spec: J1
    id = place.create()
    place.stopped(id)
    whole = place.ask("GET", f"/api/sessions/{id}/events?after=0")
    assert [e["seq"] for e in whole["events"]] == list(range(1, whole["head"] + 1))
    assert whole["epoch"] == place.ask("GET", "/api/health")["epoch"]
    rest = place.ask("GET", f"/api/sessions/{id}/events?after=5")
    assert rest["events"] == whole["events"][5:]


def test_resume_with_wait_is_followed_to_the_stop(place):  # spec: J1
    id = place.create()
    place.stopped(id)
    lines = [
        json.loads(line)
        for line in place.client.stream("POST", f"/api/sessions/{id}/resume?wait=true", {})
    ]
    assert lines[0]["type"] in ("workspace_seen", "run_started")
    assert lines[-1]["type"] == "run_stopped"
    assert lines[-1]["data"]["run"] == 2


def test_live_text_is_shown_before_it_has_a_place(place):  # spec: J2
    id = place.create(None)
    begun = place.ask("POST", f"/api/sessions/{id}/prompt", {"text": "go"})
    path = f"/api/sessions/{id}/events?after={begun['head']}&follow={begun['run']}"
    lines = [json.loads(line) for line in place.client.stream("GET", path)]
    seqs = [line["seq"] for line in lines if "seq" in line]
    assert seqs == list(range(begun["head"] + 1, seqs[-1] + 1))
    said = "".join(line["data"]["text"] for line in lines if line["type"] == "text_saved")
    assert said == "I will look around first. " * 4 + "Done."


def test_a_second_resume_starts_nothing(fresh):  # spec: A7
    fresh.hold()
    id = fresh.create()
    fresh.busy(id)
    with ThreadPoolExecutor() as many:
        path = f"/api/sessions/{id}/resume"
        answers = list(many.map(lambda _: fresh.ask("POST", path, {}), range(8)))
    assert {(a["run"], a["already_running"]) for a in answers} == {(1, True)}
    fresh.release()
    fresh.stopped(id)
    with ThreadPoolExecutor() as many:
        answers = list(many.map(lambda _: fresh.ask("POST", path, {}), range(8)))
    begun = [a["run"] for a in answers if not a["already_running"]]  # a short run may end meanwhile
    assert sorted(begun) == list(range(2, 2 + len(begun)))
    assert {a["run"] for a in answers} == set(begun)


def test_a_prompt_sent_twice_is_taken_once(fresh):  # spec: A9
    fresh.hold()
    id = fresh.create()
    fresh.busy(id)
    body = {"text": "and this", "input": "mine"}
    path = f"/api/sessions/{id}/prompt"
    assert fresh.ask("POST", path, body)["queued"] is True
    fresh.ask("POST", path, body)
    assert [q["id"] for q in fresh.session(id)["queue"]] == ["mine"]


def test_a_cancelled_run_says_so_and_keeps_its_checkpoint(fresh):  # spec: B6 C5
    fresh.hold()
    id = fresh.create()
    fresh.busy(id)
    fresh.ask("POST", f"/api/sessions/{id}/cancel")
    session = fresh.stopped(id)
    assert session["stop"]["reason"] == "cancelled"
    checkpoint = fresh.ask("GET", f"/api/sessions/{id}/checkpoint")
    assert (checkpoint["user_aborted"], checkpoint["reason"]) == (True, "cancelled")
    assert checkpoint["saved_at"].endswith("Z")
    fresh.ask("POST", f"/api/sessions/{id}/dismiss")
    assert fresh.session(id)["stop"] is None
    assert refused(fresh, "GET", f"/api/sessions/{id}/checkpoint") == (404, "not_found")


def test_a_plan_says_what_would_be_done_and_does_nothing(place):  # spec: F12
    id = place.create()
    head = place.stopped(id)["head"]
    plan = place.ask("GET", f"/api/sessions/{id}/plan?message=hurry")
    assert plan["would_run"] is True
    assert plan["message"].endswith("hurry")
    assert place.session(id)["run"] is None
    assert until(lambda: place.session(id)["head"] >= head)
    never = place.create(None)
    assert place.ask("GET", f"/api/sessions/{never}/plan")["would_run"] is False


def test_status_answers_as_the_table_says(place):  # spec: G4
    id = place.create(None)
    status = place.ask("GET", f"/api/sessions/{id}/status")
    assert (status["reason"], status["is_resumable"]) == ("not_started", False)


def test_a_question_is_answered_once(tmp_path):  # spec: P9 J3
    with placed(tmp_path, "--script", "asking") as place:
        id = place.create()
        asked = until(lambda: place.session(id)["pending"], "a question")
        assert place.ask("GET", f"/api/sessions/{id}/decisions") == {"decisions": asked}
        assert place.ask("GET", "/api/sessions")["sessions"][0]["pending"] == asked
        answer = {"decision": asked[0]["id"], "answer": "yes"}
        place.ask("POST", f"/api/sessions/{id}/decisions", answer)
        again = refused(place, "POST", f"/api/sessions/{id}/decisions", answer)
        assert again == (409, "refused")
        place.stopped(id)


def test_what_is_wrong_is_said_with_the_right_code(place):  # spec: J3 M1
    folder = str(place.home)
    id = place.create(None)
    large = {"folder": folder, "prompt": "x" * 1_000_001}
    assert refused(place, "GET", "/api/nothing") == (404, "not_found")
    assert refused(place, "GET", "/api/sessions/ffffffffffff") == (404, "not_found")
    assert refused(place, "GET", "/api/sessions/..%2f") == (404, "not_found")
    assert refused(place, "POST", "/api/sessions", {"folder": 1}) == (422, "invalid")
    assert refused(place, "POST", "/api/sessions", {"folder": "/none"}) == (422, "invalid")
    assert refused(place, "POST", "/api/sessions", large) == (413, "too_large")
    assert refused(place, "POST", f"/api/sessions/{id}/cancel") == (409, "refused")
    assert refused(place, "POST", f"/api/sessions/{id}/resume", {}) == (409, "refused")
    assert refused(place, "GET", "/api/sessions?before=soon") == (422, "invalid")
    everyone = [place.create(None) for _ in range(17)]
    first = next(a[0] for a in everyone if sum(b[0] == a[0] for b in everyone) > 1)
    assert refused(place, "GET", f"/api/sessions/{first}") == (409, "ambiguous")


def test_an_image_is_refused_in_words(place):  # spec: B14
    id = place.create(None)
    image = {"images": [{"type": "image", "data": "aGVsbG8="}]}
    for path, given in (
        ("/api/sessions", {"folder": str(place.home), "prompt": "look"}),
        (f"/api/sessions/{id}/prompt", {"text": "look"}),
        (f"/api/sessions/{id}/resume", {}),
    ):
        with pytest.raises(ApiError, match="images are not taken yet") as caught:
            place.ask("POST", path, {**given, **image})
        assert (caught.value.status, caught.value.code) == (422, "invalid")
    with pytest.raises(ApiError, match="Expected `str`"):
        place.ask("POST", f"/api/sessions/{id}/prompt", {"text": [{"type": "image"}]})


def test_a_closed_session_refuses_and_names_the_way_back(place):  # spec: A2
    id = place.create()
    place.stopped(id)
    place.ask("POST", f"/api/sessions/{id}/close", {"cancelled": True})
    with pytest.raises(ApiError, match="hold reopen"):
        place.client.call("POST", f"/api/sessions/{id}/resume", {})


def test_the_schema_is_served(place):  # spec: J1
    schema = place.ask("GET", "/api/schema")
    assert schema["openapi"].startswith("3.1")
    assert "/api/sessions/{id}/resume" in schema["paths"]
