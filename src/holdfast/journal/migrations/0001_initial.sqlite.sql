-- Everything that happened, and everything that is owed because of it.

create table meta (key text primary key, value text not null) strict;

-- The list of sessions. `summary` and `live` are a projection that can be made anew from events;
-- head, generation, owner and lease_until are what fences a write.
create table session (
    no          integer primary key,
    id          text not null unique,
    head        integer not null default 0,
    generation  integer not null default 0,
    owner       text not null default '',
    lease_until integer not null default 0,
    created_at  integer not null,
    updated_at  integer not null,
    live        integer not null default 0,
    quarantined text not null default '',
    summary     blob not null default x'7b7d'
) strict;
create index session_updated on session (updated_at desc, id desc);
create index session_live on session (no) where live = 1;

-- key = session.no << 32 | seq: one b-tree that only grows at a session's end.
create table event (
    key      integer primary key,
    at       integer not null,
    tag      text not null,
    version  integer not null,
    identity text,
    body     blob not null
) strict;
create unique index event_identity on event (key >> 32, identity) where identity is not null;

-- Owed until settled; a settled errand leaves the table.
create table errand (
    id       text primary key,
    session  integer not null,
    seq      integer not null,
    n        integer not null,
    tag      text not null,
    version  integer not null,
    body     blob not null,
    due      integer not null default 0,
    attempts integer not null default 0
) strict;
create index errand_order on errand (session, seq, n);

-- A copy of the fold, to start from. Throw it away and nothing is lost.
create table snapshot (
    session integer primary key,
    seq     integer not null,
    version integer not null,
    body    blob not null
) strict;

-- Output too large for an event's row, by its sha256.
create table blob (id text primary key, size integer not null, body blob not null) strict;
