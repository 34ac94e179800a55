"""Hostile repositories: whatever they say, nothing of theirs is executed.

Every trap is first sprung with plain git, to prove that it is one; then every operation of ours is
done on it, and the marker must not be there.
"""

# spec: H3

import pytest

from holdfast.workspaces.place import discover
from holdfast.workspaces.shadow import shadow
from tests.workspaces.everything import everything_in_a_tree, everything_in_place
from tests.workspaces.traps import (
    NEEDS_A_TERMINAL,
    ZOO,
    Trap,
    missing_object_of_a_promisor,
    submodule_that_wants_to_be_looked_into,
)


@pytest.mark.parametrize("attack", ZOO)
def test_plain_git_falls_into_the_trap(tmp_path, attack):
    trap = Trap(tmp_path)
    spring = attack(trap)
    trap.marker.unlink(missing_ok=True)
    trap.plain(*spring)
    assert trap.sprung() or attack in NEEDS_A_TERMINAL


@pytest.mark.parametrize("attack", ZOO)
async def test_none_of_our_operations_does(tmp_path, attack):
    trap = Trap(tmp_path)
    attack(trap)
    trap.marker.unlink(missing_ok=True)
    whole = attack is not missing_object_of_a_promisor
    await everything_in_place(trap.repo)
    assert not trap.sprung(), trap.marker.read_text()
    if whole:
        await everything_in_a_tree(trap.repo)
    assert not trap.sprung(), trap.marker.read_text()


@pytest.mark.parametrize("command", ["status", "diff", "diff-files", "diff-index"])
async def test_no_command_goes_into_a_submodule_even_if_nobody_thought_of_it(tmp_path, command):
    trap = Trap(tmp_path)
    submodule_that_wants_to_be_looked_into(trap)
    trap.marker.unlink(missing_ok=True)
    async with shadow(discover(trap.repo)) as plain:
        await plain.git(command, *(["HEAD"] if command == "diff-index" else []))
    assert not trap.sprung(), trap.marker.read_text()
