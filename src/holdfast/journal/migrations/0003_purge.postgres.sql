-- Whose output a blob is: it goes with the last session that has it.
create table blob_use (
    session bigint not null,
    blob    text collate "C" not null,
    primary key (session, blob)
);
create index blob_user on blob_use (blob);
insert into blob_use (session, blob)
select distinct session, substring(encode(body, 'escape') from '"blob":"([0-9a-f]+)"') from event
where tag = 'call_finished' and encode(body, 'escape') ~ '"blob":"[0-9a-f]+"';

-- What was removed for good: that it was, and nothing of it.
create table purged (id text collate "C" primary key, at bigint not null);
