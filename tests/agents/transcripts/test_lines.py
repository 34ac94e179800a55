"""A file that is being written while it is read."""

import sys
import threading

import pytest

from holdfast.agents.transcripts.scan import lines

# spec: E11 M1


@pytest.fixture
def restless():
    """Threads take turns so often that one is now and then between two reads of the other."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("restless")
def test_a_line_that_is_finished_while_it_is_read_is_whole(tmp_path):
    path, count = tmp_path / "record.jsonl", 40_000
    path.touch()

    def write():
        with path.open("ab", buffering=0) as file:
            for n in range(count):
                file.write(b"%d-first" % n)
                file.write(b"-second\n")

    writer = threading.Thread(target=write)
    writer.start()
    found, offset = [], 0
    while writer.is_alive() or len(found) < count:
        for line, end in lines(path, offset):
            found.append(line)
            offset = end
    writer.join()
    assert found == [b"%d-first-second\n" % n for n in range(count)]
