"""The sandbox, attacked from inside: real bubblewrap, real git, real processes."""

# spec: B15, B6, B3

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from holdfast.agents.builtin.sandbox import NoSandbox, available, sandbox_for, wrapped
from holdfast.runtimes.local import LocalRuntime
from holdfast.runtimes.processes import alive, carrying
from tests.agents.builtin.rig import context, git, repository, use

WHY_NOT = asyncio.run(available(LocalRuntime("probe:1")))
pytestmark = pytest.mark.skipif(WHY_NOT is not None, reason=f"missing: {WHY_NOT}")


class Place:
    """A home with secrets, a state folder, a repository and a work tree of it."""

    def __init__(self, root):
        self.home = root / "home"
        (self.home / ".ssh").mkdir(parents=True)
        (self.home / ".ssh" / "id").write_text("canary")
        self.state = self.home / "state"
        self.repo = repository(self.home / "repo")
        self.tree = self.state / "trees" / "one"
        git(self.repo, "worktree", "add", "--quiet", "-b", "hold/one", str(self.tree))
        (self.state / "journal.db").write_text("canary")
        self.common = self.repo / ".git"
        self.own = self.common / "worktrees" / "one"

    def sandbox(self, **more):
        return sandbox_for(self.tree, home=self.home, state=self.state, **more)


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)


async def run(place, command, *, sandbox=None, **more):
    with context(place.tree, sandbox=sandbox or place.sandbox()) as ctx:
        return await use(ctx, "shell", command=command, **more)


def marked(root):
    """What nobody inside may change: every file with its content, but for git's own data."""
    free = ("/objects/", "/refs/", "/logs/", "/worktrees/one/", "/trees/one/")
    return {
        str(p): p.read_bytes()
        for p in sorted(Path(root).rglob("*"))
        if p.is_file() and not any(part in str(p) for part in free)
    }


async def test_the_work_tree_can_be_written(place):
    done = await run(place, "pwd; echo made > made; mkdir d; rm a.txt; ls")

    assert (False, f"{place.tree}\nd\nmade") == (done.failed, done.output)
    assert (place.tree / "made").read_text() == "made\n"


async def test_a_commit_works_inside(place):
    done = await run(
        place, "echo two >> a.txt && git add . && git commit -qm second && git status -s"
    )

    assert (False, "(no output)") == (done.failed, done.output)
    assert git(place.repo, "log", "--format=%s", "hold/one") == "second\nfirst\n"
    assert git(place.repo, "fsck", "--strict") == ""


WRITES = [
    "{home}/made",
    "{home}/.ssh/authorized_keys",
    "{home}/repo/a.txt",
    "{state}/journal.db",
    "/etc/made",
    "/usr/made",
    "{common}/config",
    "{common}/hooks/pre-commit",
    "{common}/info/attributes",
    "{common}/info/exclude",
    "{common}/HEAD",
    "{common}/packed-refs",
    "{common}/commondir",
    "{common}/config.worktree",
    "{common}/worktrees/other/HEAD",
    "{common}/modules/x/config",
    "{common}/objects/info/alternates",
    "{own}/config.worktree",
    "{own}/commondir",
    "{own}/gitdir",
    "{own}/modules/x/config",
    "{tree}/.git",
]


@pytest.mark.parametrize("path", WRITES)
async def test_nothing_else_can_be_written(place, tmp_path, path):
    where = path.format(**vars(place))
    before = marked(tmp_path)
    own = {p.name: p.read_bytes() for p in place.own.iterdir() if p.is_file()}
    attempts = [
        f"mkdir -p $(dirname {where})",
        f"echo evil > {where}",
        f"echo evil > e; mv -f e {where}",
        f"ln -sf /tmp/evil {where}",
        f"rm -rf {where}; echo evil > {where}",
        f"mv {where} {where}.away; echo evil > {where}",
        f"chmod 777 {where}; echo evil >> {where}",
        f"mount -o remount,rw,bind {where}; umount -l {where}; echo evil > {where}",
    ]
    await run(place, "; ".join(f"({a}) 2>/dev/null" for a in attempts))

    assert before == marked(tmp_path)
    assert not any(map(os.path.exists, ("/etc/made", "/usr/made")))
    after = {p.name: p.read_bytes() for p in place.own.iterdir() if p.is_file()}
    for name in ("commondir", "gitdir"):
        assert own[name] == after[name]
    assert after["config.worktree"] == b""
    assert list((place.own / "modules").iterdir()) == []
    assert list((place.common / "objects/info").iterdir()) == []
    assert (place.tree / ".git").read_text().startswith("gitdir: ")


async def test_a_planted_hook_or_setting_does_not_run_outside(place, tmp_path):
    owned = tmp_path / "owned"
    script = f"#!/bin/sh\\ntouch {owned}\\n"
    await run(
        place,
        f"printf '{script}' > evil; chmod +x evil;"
        "git config core.fsmonitor $PWD/evil; git config core.hooksPath $PWD;"
        "git config --worktree core.fsmonitor $PWD/evil; git config --global core.fsmonitor $PWD/evil;"
        f"cp evil {place.common}/hooks/post-checkout; cp evil {place.common}/hooks/pre-commit;"
        f"mkdir fake; cp -r {place.common}/. fake; cp evil fake/hooks/pre-commit;"
        "git -C fake config core.fsmonitor $PWD/evil;"
        f"echo $PWD/fake > {place.own}/commondir; echo gitdir: $PWD/fake > .git",
    )
    git(place.tree, "status")
    git(place.tree, "commit", "--allow-empty", "-m", "outside")

    assert not owned.exists()


async def test_a_git_folder_in_the_tree_itself_is_read_only_whole(place):
    place.tree = place.repo
    done = await run(
        place,
        "git status -s; git log --format=%s; echo x > .git/commondir; rm -rf .git/hooks;"
        "mv .git away; git config core.fsmonitor evil; echo two >> a.txt; git diff --stat | tail -1",
    )

    assert "first" in done.output and "1 insertion" in done.output
    assert not (place.repo / ".git/commondir").exists() and (place.repo / ".git/hooks").exists()
    assert "fsmonitor" not in (place.repo / ".git/config").read_text()


async def test_no_secret_can_be_read(place, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "canary")
    done = await run(
        place,
        f"cat {place.home}/.ssh/id {place.state}/journal.db {place.home}/repo/a.txt /etc/shadow;"
        f"ls -A $HOME {place.state}; env; cat /proc/1/environ | tr '\\0' '\\n';"
        f"cat /proc/{os.getpid()}/environ; cat /proc/*/root{place.home}/.ssh/id; ls /root /run /var",
    )

    assert "canary" not in done.output and "root:" not in done.output
    assert "journal.db" not in done.output.replace(f"{place.state}/journal.db", "")


async def test_the_state_folder_in_the_tree_is_not_seen(place):
    hidden = place.tree / "state"
    hidden.mkdir()
    (hidden / "token").write_text("canary")
    inside = sandbox_for(place.tree, home=place.home, state=hidden)
    done = await run(place, "ls -A state; echo x > state/token", sandbox=inside)

    assert "token" not in done.output
    assert (hidden / "token").read_text() == "canary"


CONNECT = (
    "python3 -c \"import socket; s = socket.create_connection(('127.0.0.1', {port}), 3); "
    'print(s.recv(9).decode())"'
)


@pytest.mark.parametrize("network", [False, True])
async def test_loopback_is_reached_only_with_the_network(place, network):
    server = await asyncio.start_server(_greet, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server:
        done = await run(place, CONNECT.format(port=port), sandbox=place.sandbox(network=network))

    assert network == ("hello" in done.output)
    assert network or "refused" in done.output


async def _greet(_reader, writer):
    writer.write(b"hello")
    writer.close()


async def test_an_abstract_socket_of_the_host_is_not_reached(place):
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(f"\0holdfast-{os.getpid()}")
        listening.listen()
        connect = f"s.connect(chr(0) + 'holdfast-{os.getpid()}')"
        done = await run(
            place, f'python3 -c "import socket; s = socket.socket(socket.AF_UNIX); {connect}"'
        )

    assert done.failed and "refused" in done.output


async def test_it_has_no_power_and_sees_no_other_process(place):
    done = await run(
        place, f"grep CapEff /proc/self/status; ls -d /proc/[0-9]* | wc -l; kill -0 {os.getpid()}"
    )
    caps, count, *_ = done.output.splitlines()

    assert int(caps.split()[1], 16) == 0
    assert int(count) < 8
    assert "No such process" in done.output


async def test_a_hole_asked_for_by_the_model_is_not_made(place):
    """The folders come from the record; arguments have no say."""
    with context(place.tree, sandbox=place.sandbox()) as ctx:
        done = await use(ctx, "shell", command="--bind / / cat /etc/shadow")
        more = await use(ctx, "shell", command="true", cwd="/")

    assert done.failed and "root:" not in done.output
    assert more.failed and "unknown field `cwd`" in more.output


FORGED = ["gitdir: {home}", "gitdir: {common}", "gitdir: {tree}/fake/worktrees/one", "rubbish", ""]


@pytest.mark.parametrize("text", FORGED)
def test_a_forged_git_file_gets_no_sandbox_rather_than_a_wider_one(place, text):
    fake = place.tree / "fake" / "worktrees" / "one"
    fake.mkdir(parents=True)
    (fake / "gitdir").write_text(f"{place.tree}/.git")
    (fake / "commondir").write_text("../..")
    (place.tree / "fake" / "objects").symlink_to(place.home)
    (place.tree / ".git").write_text(text.format(**vars(place)))

    with pytest.raises(NoSandbox):
        place.sandbox()


def test_a_tree_that_holds_the_home_gets_no_sandbox(place):
    for tree in (place.home, place.home.parent, Path("/")):
        with pytest.raises(NoSandbox):
            sandbox_for(tree, home=place.home)


async def test_tool_folders_are_seen_and_not_written(place):
    tools = place.home / "tools"
    (tools / "bin").mkdir(parents=True)
    (tools / "bin" / "hello").write_text("#!/bin/sh\necho hello\n")
    (tools / "bin" / "hello").chmod(0o755)
    inside = place.sandbox(tools=[str(tools), str(place.home / "not-there")])
    done = await run(place, f"{tools}/bin/hello; echo x > {tools}/made", sandbox=inside)

    assert "hello" in done.output and not (tools / "made").exists()


async def test_home_and_tmp_are_there_empty_and_writable(place, monkeypatch):
    monkeypatch.setenv("TMPDIR", "/nowhere")
    done = await run(place, "ls -A $HOME/.ssh /tmp; echo x > $HOME/x && mktemp -q && echo $HOME")

    assert done.output.endswith(str(place.home)) and not (place.home / "x").exists()
    assert "id" not in done.output.split()


# --- how it ends ----------------------------------------------------------------------------------


async def until(condition, *, seconds=60):
    limit = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < limit, "waited in vain"
        await asyncio.sleep(0.005)
    return found


NAP = f"61.{os.getpid()}"  # seconds that nobody else sleeps, not even another run of these tests
STUBBORN = (
    f"trap '' TERM HUP INT; (setsid env -i sh -c 'trap \"\" TERM; touch begun; sleep {NAP}' &);"
    "while :; do sleep 1; done"
)


def sleepers():
    """Whoever runs in this test's sandbox, by a word that is in no other command line."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes()
        except OSError:
            continue
        if NAP.encode() in words:
            found.append(int(path.parent.name))
    return found


async def test_the_time_limit_ends_the_whole_tree(place):
    for seconds in (0.8, 5, 30):  # on a busy machine it has not begun by then, and proves nothing
        done = await run(place, STUBBORN, timeout=seconds)
        assert done.failed and f"timed out after {seconds} s" in done.output
        assert sleepers() == []
        if (place.tree / "begun").exists():
            return
    pytest.fail("it did not begin in 30 s")


async def test_a_cancel_ends_the_whole_tree(place):
    task = asyncio.create_task(run(place, STUBBORN))
    await until((place.tree / "begun").exists)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert sleepers() == []


async def test_what_is_left_in_the_background_ends_with_the_command(place):
    done = await run(place, f"(setsid env -i sh -c 'touch begun; sleep {NAP}' &); echo done")
    await until(lambda: sleepers() == [])

    assert "done" in done.output


def test_it_dies_with_its_parent(place):
    """kill -9: no handler of ours runs, and still nothing survives."""
    script = (
        "import asyncio, json, sys\n"
        "from holdfast.runtimes.local import LocalRuntime\n"
        "given = json.loads(sys.argv[1])\n"
        "asyncio.run(LocalRuntime(sys.argv[2]).run(given, cwd='/', env={}, timeout=60,"
        " output_limit=100))\n"
    )
    line, cookie = wrapped(place.sandbox(), ["/bin/sh", "-c", STUBBORN]), f"orphan{NAP}:1"
    with subprocess.Popen([sys.executable, "-c", script, json.dumps(line), cookie]) as parent:
        asyncio.run(until((place.tree / "begun").exists))
        asyncio.run(until(lambda: sleepers() != []))
        parent.send_signal(signal.SIGKILL)

    asyncio.run(until(lambda: sleepers() == []))
    asyncio.run(until(lambda: not any(alive(p) for p in carrying(cookie))))


# --- whether there is one -------------------------------------------------------------------------


async def test_a_machine_without_bubblewrap_says_so():
    said = await available(LocalRuntime("probe:2"), program="no-such-bwrap")

    assert said == "bubblewrap is not installed (Debian: apt-get install bubblewrap)"


async def test_a_machine_that_forbids_namespaces_says_so(tmp_path):
    """As on a kernel with user namespaces off: bubblewrap runs, and fails."""
    program = tmp_path / "bwrap"
    program.write_text(
        "#!/bin/sh\nexec unshare --user --map-root-user sh -c '\n"
        'echo 0 > /proc/sys/user/max_user_namespaces; exec bwrap "$@"\' sh "$@"\n'
    )
    program.chmod(0o755)
    said = await available(LocalRuntime("probe:3"), program=str(program))

    assert said is not None and said.startswith(
        "bubblewrap is installed, but this machine does not permit a sandbox: bwrap: "
    )
