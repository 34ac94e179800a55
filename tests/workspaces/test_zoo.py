"""Hostile repositories: whatever they say, nothing of theirs is executed.

Every trap is first sprung with plain git, to prove that it is one; then every operation of ours is
done on it, and the marker must not be there.
"""

# spec: H3

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from holdfast.core.truth import NoTruth, Truth
from holdfast.workspaces.apply import apply
from holdfast.workspaces.changes import Form, diff
from holdfast.workspaces.errors import Misled, NotARepository, WouldLose
from holdfast.workspaces.mending import rebuild, remove
from holdfast.workspaces.place import discover
from holdfast.workspaces.shadow import shadow
from holdfast.workspaces.snapshots import listed, prune, ref_of, restore, take
from holdfast.workspaces.truth import read_truth
from holdfast.workspaces.worktree import create, find_repo, in_place
from tests.workspaces.repos import CLEAN_ENV, S, at, commit, content, git, make_repo, make_tree

Spring = tuple[str, ...]  # the plain git command that falls into it


class Trap:
    """A repository, a program that leaves a mark, and a way to see whether it ran."""

    def __init__(self, folder: Path) -> None:
        self.repo = make_repo(folder)
        self.marker = folder.resolve() / "marker"
        self.evil = folder.resolve() / "evil.sh"
        self.evil.write_text(f"#!/bin/sh\necho $0 $* >> {self.marker}\nexec timeout 1 cat\n")
        self.evil.chmod(0o755)

    def config(self, key: str, value: str | None = None) -> None:
        git(self.repo, "config", key, value or str(self.evil))

    def attributes(self, line: str, *, tracked: bool = True) -> None:
        if tracked:
            (self.repo / ".gitattributes").write_text(line + "\n")
            commit(self.repo, "attributes")
        else:
            (self.repo / ".git/info/attributes").write_text(line + "\n")

    def hook(self, *names: str, where: str = ".git/hooks") -> None:
        (self.repo / where).mkdir(exist_ok=True, parents=True)
        for name in names:
            shutil.copy(self.evil, self.repo / where / name)

    def sprung(self) -> bool:
        return self.marker.exists()

    def plain(self, *args: str) -> None:
        """Git as anybody would call it."""
        subprocess.run(
            ["git", *args],
            cwd=self.repo,
            env=CLEAN_ENV,
            capture_output=True,
            check=False,
            stdin=subprocess.DEVNULL,
            timeout=20,
        )


HOOKS = (
    "post-checkout",
    "post-index-change",
    "reference-transaction",
    "pre-commit",
    "post-commit",
    "post-merge",
    "pre-merge-commit",
    "fsmonitor-watchman",
)


def fsmonitor(trap: Trap) -> Spring:
    trap.config("core.fsmonitor")
    return ("status",)


def fsmonitor_in_an_index_that_uses_it(trap: Trap) -> Spring:
    trap.config("core.fsmonitor")
    git(trap.repo, "update-index", "--fsmonitor", check=False)
    trap.marker.unlink(missing_ok=True)
    return ("diff", "HEAD", "--stat")


def hooks(trap: Trap) -> Spring:
    trap.hook(*HOOKS)
    return ("update-ref", "refs/heads/x", "HEAD")


def hooks_elsewhere(trap: Trap) -> Spring:
    trap.hook(*HOOKS, where="tools")
    commit(trap.repo, "hooks in the tree")
    trap.config("core.hooksPath", "tools")
    return ("checkout", "-q", "-b", "x")


def smudge(trap: Trap) -> Spring:
    trap.attributes("* filter=x")
    trap.config("filter.x.smudge")
    return ("worktree", "add", "-q", "../wt", "-b", "x")


def smudge_from_info_attributes(trap: Trap) -> Spring:
    trap.attributes("* filter=x", tracked=False)
    trap.config("filter.x.smudge")
    return ("worktree", "add", "-q", "../wt", "-b", "x")


def clean(trap: Trap) -> Spring:
    trap.attributes("* filter=x")
    trap.config("filter.x.clean")
    (trap.repo / "a.txt").write_text("dirty\n")
    return ("status",)


def clean_required(trap: Trap) -> Spring:
    trap.attributes("* filter=x")
    trap.config("filter.x.clean")
    trap.config("filter.x.required", "true")
    (trap.repo / "new.txt").write_text("new\n")
    return ("add", "-A")


def process_filter(trap: Trap) -> Spring:
    trap.attributes("* filter=x")
    trap.config("filter.x.process")
    return ("worktree", "add", "-q", "../wt", "-b", "x")


def filter_with_an_odd_name(trap: Trap) -> Spring:
    trap.attributes("* filter=A.b=c")
    trap.config("filter.A.b=c.clean")
    (trap.repo / "new.txt").write_text("new\n")
    return ("add", "-A")


def external_diff(trap: Trap) -> Spring:
    trap.config("diff.external")
    (trap.repo / "a.txt").write_text("dirty\n")
    return ("diff",)


def diff_driver(trap: Trap) -> Spring:
    trap.attributes("* diff=x")
    trap.config("diff.x.command")
    (trap.repo / "a.txt").write_text("dirty\n")
    return ("diff",)


def textconv(trap: Trap) -> Spring:
    trap.attributes("* diff=x")
    trap.config("diff.x.textconv")
    (trap.repo / "a.txt").write_text("dirty\n")
    return ("diff",)


def merge_driver(trap: Trap) -> Spring:
    trap.attributes("* merge=x")
    trap.config("merge.x.driver", f"{trap.evil} %A")
    git(trap.repo, "checkout", "-q", "-b", "side")
    (trap.repo / "a.txt").write_text("side\n")
    commit(trap.repo, "side")
    git(trap.repo, "checkout", "-q", "main")
    (trap.repo / "a.txt").write_text("main\n")
    commit(trap.repo, "main")
    return ("merge-tree", "--write-tree", "main", "side")


def default_merge_driver(trap: Trap) -> Spring:
    spring = merge_driver(trap)
    trap.attributes("")
    trap.config("merge.default", "x")
    return spring


def pager(trap: Trap) -> Spring:
    for key in ("core.pager", "pager.diff", "pager.status", "pager.log"):
        trap.config(key)
    return ("--paginate", "log")


def ssh_and_friends(trap: Trap) -> Spring:
    trap.config("core.sshCommand")
    trap.config("remote.origin.url", "ssh://example.invalid/x")
    trap.config("remote.origin.promisor", "true")
    trap.config("extensions.partialClone", "origin")
    trap.config("core.gitProxy")
    trap.config("core.askPass")
    trap.config("credential.helper", f"!{trap.evil}")
    return ("fetch", "origin")


def missing_object_of_a_promisor(trap: Trap) -> Spring:
    """A missing blob makes git ask the remote for it, through a program of the remote's choice."""
    ssh_and_friends(trap)
    blob = git(trap.repo, "rev-parse", "HEAD:lib/b.py")
    (trap.repo / ".git/objects" / blob[:2] / blob[2:]).unlink()
    return ("cat-file", "-p", blob)


def editors(trap: Trap) -> Spring:
    for key in ("core.editor", "sequence.editor"):
        trap.config(key)
    (trap.repo / "x").write_text("x")
    return ("commit", "--allow-empty")


def signing(trap: Trap) -> Spring:
    trap.config("commit.gpgSign", "true")
    trap.config("gpg.program")
    trap.config("user.signingKey", "x")
    trap.config("log.showSignature", "true")
    return ("commit", "--allow-empty", "-m", "x")


def aliases(trap: Trap) -> Spring:
    for name in ("st", "status", "diff", "log", "ls-files"):
        trap.config(f"alias.{name}", f"!{trap.evil}")
    return ("st",)


def included(trap: Trap) -> Spring:
    more = trap.repo / "more.inc"
    more.write_text(f'[core]\n\tfsmonitor = "{trap.evil}"\n')
    commit(trap.repo, "an include")
    trap.config("include.path", "../more.inc")
    return ("status",)


def included_by_condition(trap: Trap) -> Spring:
    more = trap.repo / "more.inc"
    more.write_text(f'[core]\n\tfsmonitor = "{trap.evil}"\n')
    trap.config(f"includeIf.gitdir:{trap.repo}/.path", str(more))
    return ("status",)


def settings_per_tree(trap: Trap) -> Spring:
    trap.config("extensions.worktreeConfig", "true")
    (trap.repo / ".git/config.worktree").write_text(f'[core]\n\tfsmonitor = "{trap.evil}"\n')
    return ("status",)


def submodule_with_settings_of_its_own(trap: Trap) -> Spring:
    inner = trap.repo.parent / "inner"
    inner.mkdir()
    source = make_repo(inner)
    git(trap.repo, "submodule", "--quiet", "add", str(source), "sub")
    commit(trap.repo, "a submodule")
    git(trap.repo / "sub", "config", "core.fsmonitor", str(trap.evil))
    git(trap.repo / "sub", "config", "filter.x.clean", str(trap.evil))
    (trap.repo / ".git/modules/sub/info/attributes").write_text("* filter=x\n")
    (trap.repo / "sub/a.txt").write_text("dirty\n")
    trap.marker.unlink(missing_ok=True)
    return ("status",)


def submodule_that_wants_to_be_looked_into(trap: Trap) -> Spring:
    """A tracked file overrides the setting that says not to."""
    spring = submodule_with_settings_of_its_own(trap)
    git(trap.repo, "config", "-f", ".gitmodules", "submodule.sub.ignore", "none")
    commit(trap.repo, "look into it")
    (trap.repo / "sub/a.txt").write_text("dirty again\n")
    return spring


def repository_inside(trap: Trap) -> Spring:
    inner = trap.repo / "inner"
    inner.mkdir()
    git(inner, "init", "-q")
    commit(inner, "inside")
    git(inner, "config", "core.fsmonitor", str(trap.evil))
    return ("-C", "inner", "status")


def symlinked_git(trap: Trap) -> Spring:
    (trap.repo / ".git").rename(trap.repo.parent / "real")
    (trap.repo / ".git").symlink_to(trap.repo.parent / "real")
    trap.config("core.fsmonitor")
    return ("status",)


def variables_in_settings(trap: Trap) -> Spring:
    for key in (
        "core.alternateRefsCommand",
        "uploadpack.packObjectsHook",
        "interactive.diffFilter",
        "gpg.ssh.defaultKeyCommand",
        "trailer.x.cmd",
        "core.fsmonitor",
        "browser.x.cmd",
        "man.x.cmd",
        "mergetool.x.cmd",
        "difftool.x.cmd",
        "sendemail.toCmd",
        "receive.procReceiveRefs",
    ):
        trap.config(key)
    return ("status",)


ZOO: list[Callable[[Trap], Spring]] = [
    fsmonitor,
    fsmonitor_in_an_index_that_uses_it,
    hooks,
    hooks_elsewhere,
    smudge,
    smudge_from_info_attributes,
    clean,
    clean_required,
    process_filter,
    filter_with_an_odd_name,
    external_diff,
    diff_driver,
    textconv,
    merge_driver,
    default_merge_driver,
    pager,
    ssh_and_friends,
    missing_object_of_a_promisor,
    editors,
    signing,
    aliases,
    included,
    included_by_condition,
    settings_per_tree,
    submodule_with_settings_of_its_own,
    submodule_that_wants_to_be_looked_into,
    repository_inside,
    symlinked_git,
    variables_in_settings,
]
NEEDS_A_TERMINAL = {pager}  # git starts none without one; ours has none either way


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
    await _everything_in_place(trap.repo)
    assert not trap.sprung(), trap.marker.read_text()
    if whole:
        await _everything_in_a_tree(trap.repo)
    assert not trap.sprung(), trap.marker.read_text()


async def _everything_in_place(repo: Path) -> None:
    workspace = await in_place(repo)
    assert isinstance(await read_truth(workspace), Truth)
    await diff(workspace)
    first = await take(workspace, S, 1)
    (repo / "a.txt").write_text("the agent was here\n")
    await take(workspace, S, 2)
    await restore(workspace, S, first.number)
    await prune(workspace, S, keep=1)
    git(repo, "-c", "core.hooksPath=/dev/null", "update-ref", "-d", ref_of(S, 1))


async def _everything_in_a_tree(repo: Path) -> None:
    found = await find_repo(repo)
    made = await create(found, state=repo.parent / "state", session=S, title="x", with_changes=True)
    workspace = made.workspace
    path = at(workspace)
    (path / "work.txt").write_text("work\n")
    (path / "a.txt").write_text("the agent's\n")
    truth = await read_truth(workspace)
    assert isinstance(truth, Truth) and "work.txt" in truth.untracked
    assert "work.txt" in (await diff(workspace)).text
    assert "work.txt" in (await diff(workspace, form=Form.STAT)).text
    await take(workspace, S, 1)
    shutil.rmtree(path)
    await rebuild(workspace, ref_of(S, (await listed(workspace_of(repo, workspace), S))[-1].number))
    assert (path / "work.txt").exists()
    with pytest.raises(WouldLose):
        await remove(workspace)
    _target(repo, workspace.base)
    await apply(workspace, to="target")
    await apply(workspace, to="moved")
    await remove(workspace, force=True, delete_branch=True)


def workspace_of(repo: Path, workspace):
    """The user's own tree: snapshots can be listed from any tree of the repository."""
    return type(workspace)(path=str(repo), repo=workspace.repo)


def _target(repo: Path, base: str) -> None:
    """One branch at the base, one that has moved on, so that a merge is needed."""
    refs = repo / ".git/refs/heads"
    (refs / "target").write_text(f"{base}\n")
    hardened = ("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false")
    tree = git(repo, *hardened, "rev-parse", f"{base}^{{tree}}")
    extra = git(repo, *hardened, "hash-object", "-w", "--stdin", "--no-filters", stdin="more\n")
    listing = git(repo, *hardened, "ls-tree", tree) + f"\n100644 blob {extra}\tzz.txt\n"
    other = git(repo, *hardened, "mktree", stdin=listing)
    moved = git(repo, *hardened, "commit-tree", other, "-p", base, "-m", "moved on")
    (refs / "moved").write_text(f"{moved}\n")


@pytest.mark.parametrize("command", ["status", "diff", "diff-files", "diff-index"])
async def test_no_command_goes_into_a_submodule_even_if_nobody_thought_of_it(tmp_path, command):
    trap = Trap(tmp_path)
    submodule_that_wants_to_be_looked_into(trap)
    trap.marker.unlink(missing_ok=True)
    async with shadow(discover(trap.repo)) as plain:
        await plain.git(command, *(["HEAD"] if command == "diff-index" else []))
    assert not trap.sprung(), trap.marker.read_text()


# --- trees that lead elsewhere --------------------------------------------------------------------


async def test_a_git_file_replaced_by_a_repository_is_not_followed(tmp_path):
    trap = Trap(tmp_path)
    workspace = (await make_tree(trap.repo)).workspace
    path = at(workspace)
    (path / ".git").unlink()
    git(path, "init", "-q")
    git(path, "config", "core.fsmonitor", str(trap.evil))
    commit(path, "an attacker's")
    trap.marker.unlink(missing_ok=True)
    truth = await read_truth(workspace)
    assert isinstance(truth, NoTruth) and "leads to the repository" in truth.error
    for operation in (take(workspace, S, 9), diff(workspace), apply(workspace)):
        with pytest.raises(Misled):
            await operation
    with pytest.raises(WouldLose):
        await remove(workspace)
    assert not trap.sprung()


@pytest.mark.parametrize("how", ["file", "link", "entry"])
async def test_a_git_file_that_points_to_another_repository_is_not_followed(tmp_path, how):
    trap = Trap(tmp_path)
    workspace = (await make_tree(trap.repo)).workspace
    other = tmp_path.resolve() / "other"
    other.mkdir()
    hostile = make_repo(other)
    git(hostile, "config", "core.fsmonitor", str(trap.evil))
    pointer = at(workspace) / ".git"
    match how:
        case "file":
            pointer.write_text(f"gitdir: {hostile}/.git\n")
        case "link":
            pointer.unlink()
            pointer.symlink_to(hostile / ".git")
        case "entry":
            (trap.repo / ".git/worktrees" / S / "commondir").write_text(f"{hostile}/.git\n")
    truth = await read_truth(workspace)
    assert isinstance(truth, NoTruth) and not truth.missing
    with pytest.raises(Misled):
        await take(workspace, S, 9)
    assert not trap.sprung()


async def test_core_worktree_leads_nowhere(tmp_path):
    trap = Trap(tmp_path)
    private = tmp_path / "private"
    private.mkdir()
    (private / "secret.txt").write_text("secret\n")
    trap.config("core.worktree", str(private))
    found = await find_repo(trap.repo)
    assert found.top == trap.repo
    made = await create(found, state=tmp_path / "s", session=S, title="x", with_changes=True)
    assert "secret.txt" not in content(at(made.workspace))
    first = await take(await in_place(trap.repo), S, 1)
    await restore(await in_place(trap.repo), S, first.number)
    assert (private / "secret.txt").exists()


async def test_pipes_in_the_repository_do_not_make_us_wait(tmp_path):
    trap = Trap(tmp_path)
    for name in ("index", "config", "info/exclude", "info/attributes"):
        path = trap.repo / ".git" / name
        path.unlink(missing_ok=True)
        os.mkfifo(path)
    assert isinstance(await read_truth(await in_place(trap.repo)), Truth)
    (trap.repo / ".git/HEAD").unlink()
    os.mkfifo(trap.repo / ".git/HEAD")
    with pytest.raises(NotARepository):
        await in_place(trap.repo)


async def test_a_link_in_the_tree_is_not_written_through(tmp_path):
    trap = Trap(tmp_path)
    workspace = await in_place(trap.repo)
    await take(workspace, S, 1)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "b.py").write_text("not yours\n")
    shutil.rmtree(trap.repo / "lib")
    (trap.repo / "lib").symlink_to(outside)
    before = await restore(workspace, S, 1)
    assert (outside / "b.py").read_text() == "not yours\n"
    assert (trap.repo / "lib/b.py").read_text() == "print('b')\n"
    await restore(workspace, S, before.number)
    assert (trap.repo / "lib").is_symlink()
    assert (outside / "b.py").read_text() == "not yours\n"


async def test_a_replaced_object_does_not_change_what_is_seen(tmp_path):
    trap = Trap(tmp_path)
    workspace = await in_place(trap.repo)
    blob = git(trap.repo, "rev-parse", "HEAD:a.txt")
    lie = git(trap.repo, "hash-object", "-w", "--stdin", stdin="a lie\n")
    git(trap.repo, "replace", blob, lie)
    (trap.repo / "a.txt").write_text("one\n")
    assert "-two" in (await diff(workspace)).text


async def test_our_own_environment_does_not_reach_git(tmp_path, monkeypatch):
    trap = Trap(tmp_path)
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", str(trap.evil))
    monkeypatch.setenv("GIT_DIR", "/nonexistent")
    monkeypatch.setenv("GIT_INDEX_FILE", "/nonexistent")
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.fsmonitor")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", str(trap.evil))
    await _everything_in_place(trap.repo)
    await _everything_in_a_tree(trap.repo)
    assert not trap.sprung()


async def test_the_persons_own_settings_are_read_as_data_only(tmp_path, monkeypatch):
    trap = Trap(tmp_path)
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text(
        f'[user]\n\tname = "Ann \\"A\\" Other"\n\temail = ann@example.com\n'
        f'[core]\n\tfsmonitor = "{trap.evil}"\n\texcludesFile = ~/ignore\n'
        f'[diff]\n\texternal = "{trap.evil}"\n'
    )
    (home / "ignore").write_text("*.swp\n")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    (trap.repo / "x.swp").write_text("x")
    workspace = await in_place(trap.repo)
    assert (await read_truth(workspace)).untracked == ()
    await _everything_in_place(trap.repo)
    await _everything_in_a_tree(trap.repo)
    assert git(trap.repo, "log", "-1", "--format=%an", "target") == 'Ann "A" Other'
    assert not trap.sprung()
