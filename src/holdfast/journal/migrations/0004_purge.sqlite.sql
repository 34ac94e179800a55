-- Whose output a blob is: it goes with the last session that has it.
create table blob_use (
    session integer not null,
    blob    text not null,
    primary key (session, blob)
) strict, without rowid;
create index blob_user on blob_use (blob);
insert or ignore into blob_use (session, blob)
select key >> 32, json_extract(cast(body as text), '$.blob') from event
where tag = 'call_finished' and instr(body, cast('"blob":"' as blob)) > 0
    and json_valid(cast(body as text)) and json_extract(cast(body as text), '$.blob') is not null;

-- What was removed for good: that it was, and nothing of it.
create table purged (id text primary key, at integer not null) strict;
