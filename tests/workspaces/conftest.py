"""What killed processes leave behind stays in the test's own folder."""

import tempfile

import pytest


@pytest.fixture(autouse=True)
def _own_temporary_folder(tmp_path_factory, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path_factory.mktemp("shadows")))
