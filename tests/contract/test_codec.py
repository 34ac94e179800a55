"""What is on disk can be read: now, and by every later version."""

import hashlib
import json
from pathlib import Path
from typing import get_args

import pytest

from holdfast.core import effects, events
from holdfast.core.session import Session
from holdfast.journal import codec
from holdfast.journal.codec import TAGS, UPCASTERS, VERSIONS, Unreadable, decode, encode
from holdfast.journal.rows import SNAPSHOT_VERSION
from tests.contract.samples import sample, shape

BASELINES = Path(__file__).parent.parent / "baselines"
KINDS = (*get_args(events.Event), *get_args(effects.Effect))

# Session as SNAPSHOT_VERSION has it.
PINNED = (13, "9b69bd97c5f0b6db")


def line(kind):
    tag, version, body = encode(sample(kind))
    return json.dumps({"tag": tag, "version": version, "body": json.loads(body)})


def baseline():
    text = (BASELINES / "v1.jsonl").read_text(encoding="utf-8")
    return [json.loads(stored) for stored in text.splitlines()]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_event_and_effect_comes_back_as_it_went(kind):  # spec: P1
    value = sample(kind)
    tag, version, body = encode(value)
    assert value == decode(tag, version, body)
    names = {field.encode_name for field in codec.msgspec.structs.fields(kind)}
    assert names == set(json.loads(body)), "the sample leaves a field at its default"


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_field_that_a_later_version_added_is_not_in_the_way(kind):
    tag, version, body = encode(sample(kind))
    later = json.dumps({**json.loads(body), "of_a_later_version": 1}).encode()
    assert sample(kind) == decode(tag, version, later)


def test_tags_are_for_ever():  # spec: P1
    listed = (BASELINES / "tags.txt").read_text(encoding="utf-8").split()
    assert listed == sorted(set(listed))
    assert sorted(TAGS.values()) == listed, "a tag is never renamed; add a new one to tags.txt"


def test_every_kind_has_a_line_in_the_baseline():
    known = {(stored["tag"], stored["version"]) for stored in baseline()}
    missing = [line(kind) for kind in KINDS if (TAGS[kind], _version(kind)) not in known]
    assert missing == [], "add these lines to tests/baselines/v1.jsonl; change none that is there"


def _version(kind):
    return VERSIONS.get(TAGS[kind], 1)


@pytest.mark.parametrize("stored", baseline(), ids=lambda s: f"{s['tag']}-{s['version']}")
def test_every_body_that_was_ever_written_loads_whole(stored):  # spec: P1
    tag, version, body = stored["tag"], stored["version"], stored["body"]
    value = decode(tag, version, json.dumps(body).encode())
    _, now, again = encode(value)
    if now == version:  # nothing of it was dropped on the way
        assert body == json.loads(again)


def test_recover_is_read_as_resume():  # spec: F4
    body = {"trigger": "on_dead", "action": "recover", "position": 1, "attempt": 2}
    fired = decode("policy_fired", 1, json.dumps(body).encode())
    expected = events.PolicyFired(trigger="on_dead", action="resume", position=1, attempt=2)
    assert expected == fired
    assert encode(fired)[1] == 2


def test_other_actions_of_the_first_version_stay_what_they_were():  # spec: F4
    body = b'{"trigger":"on_idle","action":"nudge"}'
    assert events.PolicyFired(trigger="on_idle", action="nudge") == decode("policy_fired", 1, body)


def test_every_version_has_a_way_up_to_the_current_one():
    for tag, version in VERSIONS.items():
        assert [n for n in range(1, version) if (tag, n) not in UPCASTERS] == []


@pytest.mark.parametrize(
    ("tag", "version", "body", "named"),
    [
        ("never_heard_of", 1, b"{}", "unknown tag 'never_heard_of'"),
        ("session_renamed", 2, b'{"title":"a"}', "session_renamed v2: written by a later version"),
        ("session_renamed", 1, b'{"title":7}', "session_renamed v1"),
        ("session_renamed", 1, b"{}", "session_renamed v1"),
        ("session_renamed", 1, b'{"title":"a', "session_renamed v1"),
        ("session_renamed", 1, b'{"title":"\xff"}', "session_renamed v1"),
        ("session_renamed", 1, b"", "session_renamed v1"),
        ("session_renamed", 0, b"[]", "session_renamed v0"),
        ("policy_fired", 1, b"[]", "policy_fired v1"),
        ("policy_fired", 1, b"\xff", "policy_fired v1"),
    ],
)
def test_what_cannot_be_read_is_named(tag, version, body, named):  # spec: M1
    with pytest.raises(Unreadable, match="^" + named.replace("(", r"\(")):
        decode(tag, version, body)


def test_a_copy_of_the_fold_is_only_read_as_what_it_was_written_as():
    found = hashlib.sha256(shape(Session).encode()).hexdigest()[:16]
    assert (SNAPSHOT_VERSION, found) == PINNED, (
        "Session has changed: an earlier copy of it would be read wrongly. "
        "Bump SNAPSHOT_VERSION in journal/rows.py and PINNED here together."
    )
