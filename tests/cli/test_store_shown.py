"""Where the journal is, said without what opens it."""

import pytest

from holdfast.config import without_password


@pytest.mark.parametrize(
    ("store", "shown"),
    [
        ("/state/journal.db", "/state/journal.db"),
        ("postgresql://u:s3:cr/et@h:5/db", "postgresql://u:***@h:5/db"),
        ("postgresql://h/db", "postgresql://h/db"),
        ("host=h password=abc user=u", "host=h password=*** user=u"),
        ("postgresql://u@h/db?password=x&y=1", "postgresql://u@h/db?password=***&y=1"),
    ],
)
def test_a_password_in_the_stores_address_is_not_shown(store, shown):  # spec: C6 I5
    assert shown == without_password(store)
