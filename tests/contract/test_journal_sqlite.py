"""What is SQLite's own: a file, its folder, its modes, and processes of one machine."""

import asyncio
import os
import shutil
import stat
import sys

import pytest

from holdfast.core import events
from holdfast.journal.owner import this_owner
from holdfast.ports import NewerStore, StoreDown
from tests.contract.stores import SqliteFile, writer

EVENT = events.SessionRenamed(title="a")


async def test_a_missing_folder_is_refused_with_what_to_do(tmp_path):  # spec: M1 I5
    store = SqliteFile(tmp_path)
    store.path.parent.rmdir()
    with pytest.raises(StoreDown, match=f"{store.path.parent} is missing: create it with mode 700"):
        await store.journal().open()
    assert not store.path.parent.exists()


@pytest.mark.parametrize("mode", [0o755, 0o770, 0o701])
async def test_a_folder_that_is_open_to_others_is_refused(sqlite, mode):  # spec: I5
    folder = sqlite.path.parent
    folder.chmod(mode)
    with pytest.raises(
        StoreDown, match=rf"{folder} is open to others \(mode {mode:o}\): chmod 700"
    ):
        await sqlite.journal().open()
    assert list(folder.iterdir()) == []


async def test_every_file_is_the_users_alone(sqlite):  # spec: I5
    umask = os.umask(0)
    try:
        async with sqlite.open() as journal:
            await (await writer(journal)).append(EVENT)
            modes = {p.name: stat.S_IMODE(p.stat().st_mode) for p in sqlite.path.parent.iterdir()}
    finally:
        os.umask(umask)
    assert modes == dict.fromkeys(
        ("journal.db", "journal.db-opened", "journal.db-shm", "journal.db-wal"), 0o600
    )


async def test_what_is_no_database_is_refused_and_kept(sqlite):  # spec: M1
    sqlite.path.write_bytes(b"my precious notes\n" * 100)
    journal = sqlite.journal()
    with pytest.raises(StoreDown, match="not a database"):
        await journal.open()
    await journal.close()
    assert sqlite.path.read_bytes() == b"my precious notes\n" * 100


async def test_a_file_from_the_future_stays_the_same_byte_for_byte(sqlite):  # spec: M2
    async with sqlite.open() as journal:
        await (await writer(journal)).append(EVENT)
    sqlite.pretend_newer()
    before = sqlite.path.read_bytes()
    with pytest.raises(NewerStore, match=str(sqlite.path)):
        await sqlite.journal().open()
    assert before == sqlite.path.read_bytes()


async def test_a_file_put_back_from_a_copy_is_another_history(sqlite):  # spec: J2
    async with sqlite.open() as journal:
        alice = await writer(journal)
        await alice.append(EVENT)
        epoch = journal.epoch
    copy = sqlite.path.with_name("copy")
    shutil.copy(sqlite.path, copy)
    async with sqlite.open() as journal:
        assert journal.epoch == epoch
        await (await writer(journal)).append(EVENT)
    sqlite.path.write_bytes(copy.read_bytes())  # in place: not even the inode tells
    async with sqlite.open() as journal:
        assert journal.epoch != epoch
        assert len(await journal.read(alice.session)) == 1
        epoch = journal.epoch
    async with sqlite.open() as journal:
        assert journal.epoch == epoch


async def test_a_living_process_is_alive_and_a_dead_one_is_not(sqlite):  # spec: D1
    script = "from holdfast.journal.owner import this_owner; print(this_owner()); input()"
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-c", script, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    owner = (await child.stdout.readline()).decode().strip()
    async with sqlite.open() as journal:
        assert await journal.owner_dead(this_owner()) is False
        assert await journal.owner_dead(owner) is False
        child.kill()
        await child.wait()
        assert await journal.owner_dead(owner) is True


async def test_of_another_machine_nothing_can_be_told(sqlite):  # spec: D1
    host, *rest = this_owner().split(":")
    async with sqlite.open() as journal:
        assert await journal.owner_dead(":".join((f"not-{host}", *rest))) is None
        assert await journal.owner_dead("somebody") is None


async def test_whoever_lived_before_the_last_boot_is_dead(sqlite):  # spec: D1
    host, _, *rest = this_owner().split(":")
    async with sqlite.open() as journal:
        assert await journal.owner_dead(":".join((host, "another-boot", *rest))) is True
