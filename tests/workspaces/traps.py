"""The zoo: repositories that try to get a program of theirs executed by whoever looks at them."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from tests.workspaces.repos import CLEAN_ENV, commit, git, make_repo

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
            timeout=60,
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
