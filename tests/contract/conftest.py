"""Each test of the contract is run against both stores."""

import pytest

from tests.contract.stores import PostgresSchema, SqliteFile


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def store(request, tmp_path, postgres_schema):
    if request.param == "sqlite":
        return SqliteFile(tmp_path)
    return PostgresSchema(request.getfixturevalue("postgres_dsn"), postgres_schema)


@pytest.fixture
def sqlite(tmp_path):
    return SqliteFile(tmp_path)


@pytest.fixture
def postgres(postgres_dsn, postgres_schema):
    return PostgresSchema(postgres_dsn, postgres_schema)
