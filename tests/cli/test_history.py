"""`search`, `export` and `stats`, on a real daemon with real sessions."""

# spec: I1 I2 L1 C6

import json
import stat
import subprocess

import pytest

from tests.cli.desk import HOLD, QUICK, SLOW

LARGE = "a line of a large file\n" * 3000
WRITE = {"name": "write", "input": {"path": "large", "content": LARGE}}
READ = {"name": "read", "input": {"path": "large"}}
TALK = (
    {"text": "The Quokka lives on an island. " * 20 + "A needle, at last.", "tool_calls": [WRITE]},
    {"text": "What did I write?", "tool_calls": [READ]},
    {"text": "Done."},
)


@pytest.fixture(scope="module")
def made(regular):
    regular.run(QUICK, prompt="Something about badgers")
    done = regular.run(TALK, "--mode", "full", prompt="tell me of animals")
    assert done.returncode == 0, done.stderr
    return regular.json("ls")["sessions"][0]["id"]


def test_words_are_found_in_titles_and_talk(regular, made):
    found = regular.json("search", "a NEEDLE, at")
    [hit] = found["hits"]
    assert (made, "agent", "tell me of animals") == (hit["session"], hit["who"], hit["title"])
    assert "A needle, at" == hit["snippet"][hit["begin"] : hit["end"]]
    assert 2 == found["sessions"] and 0 < hit["seq"]
    shown = regular.hold("search", "badgers")
    assert (0, True) == (shown.returncode, "Something about badgers" in shown.stdout)
    assert ["title", "user"] == [h["who"] for h in regular.json("search", "badgers")["hits"]]


def test_what_is_nowhere_exits_1_and_nothing_is_refused(regular, made):
    none = regular.hold("search", "wombat")
    assert (1, "", True) == (none.returncode, none.stdout, "none of 2 sessions" in none.stderr)
    assert 2 == regular.hold("search", "  ").returncode
    assert 2 == regular.hold("search").returncode


def test_hits_are_limited_and_say_so(regular, made):
    found = regular.json("search", "-n", "1", "e")
    assert (1, True) == (len(found["hits"]), found["truncated"])


def test_an_export_has_everything_and_says_where_it_ends(regular, made):
    lines = [json.loads(line) for line in regular.hold("export", made).stdout.splitlines()]
    head, *rest, end = lines
    assert ("holdfast_session", 1, made) == (head["type"], head["format"], head["session"])
    assert head["version"] and head["epoch"]
    events = [line for line in rest if "seq" in line]
    logged = [json.loads(x) for x in regular.hold("logs", made, "--json").stdout.splitlines()]
    assert logged == events
    [blob] = [line for line in rest if line["type"] == "blob"]
    referring = next(event for event in events if event["data"].get("blob"))
    assert blob["id"] == referring["data"]["blob"]
    assert rest.index(blob) < rest.index(referring)
    assert 2000 <= blob["text"].count("a line of a large file")
    assert blob["size"] == len(blob["text"].encode()) > len(referring["data"]["output"])
    assert {"type": "end", "events": len(events), "blobs": 1} == end


def test_whoever_reads_only_the_beginning_is_no_trouble(regular, made):
    script = f"{HOLD} export {made} | head -c 1; {HOLD} ls | head -c 2"
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=regular.repo, env=regular.environ, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert ("{ID", "") == (done.stdout, done.stderr)


def test_an_export_goes_into_a_file_of_ones_own(regular, made):
    target = regular.folder / "out.jsonl"
    done = regular.hold("export", made, "-o", str(target))
    assert 0 == done.returncode, done.stderr
    assert 0o600 == stat.S_IMODE(target.stat().st_mode)
    assert "end" == json.loads(target.read_text().splitlines()[-1])["type"]
    assert [] == list(regular.folder.glob(".out*"))
    assert 3 == regular.hold("export", "ffffffffffff", "-o", str(target)).returncode
    assert "end" == json.loads(target.read_text().splitlines()[-1])["type"]


def test_stats_count_stops_and_resumes(user):
    id = user.detached(SLOW)
    user.at_work(id)
    user.kill_daemon()
    assert 0 == user.hold("resume", id, "--detach").returncode
    user.hold("stop", id)
    found = user.json("stats", "--days", "7")
    by_reason = {stop["reason"]: stop for stop in found["stops"]}
    assert "streaming_llm" == by_reason["interrupted"]["phase"]
    assert 1 == by_reason["cancelled"]["count"]
    assert (2, 1) == (found["resumes"]["stops"], found["resumes"]["resumed"])
    assert {"replay": 1} == found["strategies"]
    assert found["time_to_resume"]["p50"] >= 0
    [cancelled, interrupted] = found["interruptions"]
    assert ("cancelled", None) == (cancelled["reason"], cancelled["resumed_at"])
    assert ("interrupted", "continue") == (interrupted["reason"], interrupted["cause"])
    shown = user.hold("stats", "--days", "7").stdout
    assert "Stops by reason" in shown and "time to resume" in shown
    assert max(len(line) for line in shown.splitlines()) <= 80
    assert found == user.json("stats", "--days", "7")
