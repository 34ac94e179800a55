"""What the configuration says of ACP agents and of the servers they are given."""

# spec: E1, E9, M1

import pytest

from holdfast.agents.profiles.load import Profiles
from holdfast.config import BadConfig, Server, load


def read(folder, text):
    (folder / "config.toml").write_text(text)
    return load({"HOLDFAST_HOME": str(folder)})


def test_any_agent_by_its_command(tmp_path):
    config = read(tmp_path, '[agent.mine]\nacp = ["my-agent", "--acp"]\n')
    mine = Profiles(config.agents, "here").get("mine")
    assert (("my-agent", "--acp"), ("acp",)) == (mine.acp.command, mine.via)
    assert {"acp": "my-agent"} == mine.programs()


def test_a_command_that_is_none(tmp_path):
    config = read(tmp_path, "[agents.mine]\nacp = []\n")
    known = Profiles(config.agents, "here")
    assert "acp must name a command" in known.mistakes["mine"] and known.get("claude")


def test_servers(tmp_path):
    config = read(tmp_path, '[mcp.db]\ncommand = ["db", "-x"]\nenv = {A = "b"}\n')
    assert (Server("db", ("db", "-x"), {"A": "b"}),) == config.servers


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[mcp]\ndb = 1", r"\[mcp.db\] must be a table, not 1"),
        ("[mcp.db]\ncomand = ['x']", "'comand' is not a key of it. Known: command, env"),
        ("[mcp.db]\ncommand = 'x'", "command must be a list of texts"),
        ("[mcp.db]\ncommand = ['x']\nenv = {A = 1}", "env must be a table of texts"),
    ],
)
def test_a_server_that_makes_no_sense_is_told_with_its_place(tmp_path, text, complaint):
    with pytest.raises(BadConfig, match=complaint):
        read(tmp_path, text)
