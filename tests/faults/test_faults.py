"""A small share of the proof, for every run of the tests. `make faults` runs the rest."""

# spec: P1, P2, P3, P4, P5, P8, P9, A5, A6, A7, D1, G2, M2

import pytest

from tests.faults import boundaries, disk, frozen, power, under_load
from tests.faults.boundaries import Tally
from tests.faults.killing import place, postgres_at


def clean(tally: Tally) -> Tally:
    assert tally.other == ()
    assert tally.runs > 0
    return tally


def test_a_life_killed_at_any_boundary_is_taken_up_by_the_next():
    count, _ = boundaries.normal()

    tally, hit = boundaries.sweep("", boundaries.every(count, step=7))

    assert clean(tally).kills >= count // 7 - 2
    assert len(hit) > 10


def test_a_recovery_that_is_killed_too_is_taken_up_as_well():
    count, _ = boundaries.normal()
    plans = boundaries.every(count, step=31, second=(2, 11))

    assert clean(boundaries.sweep("", plans)[0]).kills >= 8


def test_on_the_real_disk_as_well():
    count, _ = boundaries.normal()
    plans = boundaries.every(count, step=41)

    assert clean(boundaries.sweep("", plans, real_disk=True)[0]).kills >= 3


def test_three_processes_on_one_database_killed_at_random():
    assert clean(under_load.one_round(seed=1, kills=12)).kills == 12


@pytest.mark.parametrize("point", [33, 80])
def test_an_owner_that_was_stopped_is_fenced_out_when_it_comes_back(point):
    clean(frozen.one(point))


@pytest.mark.postgres
@pytest.mark.parametrize("point", [33, 80])
def test_an_owner_that_was_stopped_is_fenced_out_on_postgres_too(point, postgres_dsn):
    clean(frozen.one(point, make=postgres_at(postgres_dsn)))


@pytest.mark.postgres
def test_killed_at_boundaries_on_postgres(postgres_dsn):
    make = postgres_at(postgres_dsn)
    count, _ = boundaries.normal(make)

    tally, _ = boundaries.sweep("", boundaries.every(count, step=23), make=make)

    assert clean(tally).kills >= 5


def test_a_log_cut_anywhere_leaves_a_prefix_of_history():
    assert clean(power.sweep(commits=4)).runs > 200


def test_the_power_cut_bites_one_byte_less_is_one_commit_less():
    with place() as folder:
        made = power.history(folder, 4)
        log = (folder / "saved.wal").read_bytes()
        size, head = made[2]

        assert head == power.after_cut(folder, log, size, zeroes=False)
        assert made[1][1] == power.after_cut(folder, log, size - 1, zeroes=False)


@pytest.mark.skipif(not disk.may_mount(), reason="missing: root, to mount a small file system")
def test_a_full_disk_loses_nothing_and_mends_itself():
    clean(disk.no_room())


@pytest.mark.parametrize("when", [4, 9])
def test_a_sync_that_fails_loses_nothing_and_mends_itself(when):
    clean(disk.failing_sync(when))
