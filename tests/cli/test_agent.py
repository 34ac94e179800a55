"""`hold agent ls`: every agent with a profile, installed or not."""

import json
import os
import subprocess
import sys

# spec: E1 I1


def test_agents_are_listed_with_what_is_missing(tmp_path):
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    (home / "config.toml").write_text("[agents.mine]\nprogam = 1\n")
    environ = {"PATH": os.defpath, "HOME": str(tmp_path), "HOLDFAST_HOME": str(home)}
    command = [sys.executable, "-m", "holdfast", "agent", "ls"]
    plain = subprocess.run(command, env=environ, capture_output=True, text=True, check=True)
    assert "claude" in plain.stdout
    assert "npm install -g @anthropic-ai/claude-code" in plain.stdout
    done = subprocess.run([*command, "--json"], env=environ, capture_output=True, check=True)
    rows = {row["name"]: row for row in json.loads(done.stdout)["agents"]}
    assert rows["codex"]["installed"] is False
    assert "Did you mean 'program'?" in rows["mine"]["problem"]
