-- meta: what is known of this store
select key, value from meta;

-- put_meta: remembered
insert into meta (key, value) values (?, ?) on conflict do update set value = excluded.value;

-- fence: the one check of every append; the write transaction keeps everybody else out meanwhile
select head, generation from placed where no = ? and id = ?;

-- list: when the list changes, and only then: an index follows updated_at, and the row costs a page
update session set head = ?, updated_at = ?, live = coalesce(?, live), summary = coalesce(?, summary),
    lease_until = case when ? then 0 else lease_until end
where no = ?;

-- append_event: key is session << 32 | seq
insert into event (key, at, tag, version, identity, body) values (?, ?, ?, ?, ?, ?);

-- has: this very name already, at or before a place
select 1 from session s join event e on e.key >> 32 = s.no
where s.id = ? and e.identity = ? and e.key & 4294967295 <= ?;

-- append_errand: owed from now on
insert into errand (id, session, seq, n, tag, version, body, due) values (?, ?, ?, ?, ?, ?, ?, ?);

-- settle: paid
delete from errand where id = ?;

-- postpone: tried, not done
update errand set due = ?, attempts = attempts + 1 where id = ?;

-- put_blob: the same content is the same blob
insert into blob (id, size, body) values (?, ?, ?) on conflict do nothing;

-- use_blob: it goes with the last session that has it
insert into blob_use (session, blob) values (?, ?) on conflict do nothing;

-- blob: the whole of an output
select body from blob where id = ?;

-- put_snapshot: only the newest is of use
insert into snapshot (session, seq, version, body) values (?, ?, ?, ?)
on conflict (session) do update set seq = excluded.seq, version = excluded.version, body = excluded.body;

-- snapshot: where a fold may start
select p.seq, p.version, p.body from snapshot p join session s on s.no = p.session where s.id = ?;

-- create: the first claim makes the row
insert into session (id, created_at, updated_at) values (?, ?, ?) on conflict do nothing;

-- lease: who has it
select no, head, generation, owner, lease_until, quarantined from placed where id = ?;

-- claim: a new generation fences whoever had it before
update session set generation = generation + 1, owner = ?, lease_until = ? where no = ? and generation = ?;

-- renew: fenced like a write: a dying owner cannot extend what was taken from it
update session set lease_until = ? where id = ? and generation = ? and owner = ?;

-- release: free for the next owner at once
update session set lease_until = 0 where id = ? and generation = ?;

-- read: what came after a cursor
select key & 4294967295, at, tag, version, body from event where key > ? and key <= ? order by key limit ?;

-- pick: the same, of some kinds alone; a body of another kind is not even looked at
select key & 4294967295, at, tag, version, body from event
where key > ? and key <= ? and tag in (select value from json_each(?)) order by key;

-- events: the same for a fold, which reads neither place nor time
select tag, version, body from event where key > ? and key <= ? order by key;

-- number: of a session
select no, head from placed where id = ?;

-- rows: newest first
select id, head, generation, owner, lease_until, summary, created_at, updated_at, quarantined
from placed where (updated_at, id) < (?, ?) order by updated_at desc, id desc limit ?;

-- row: one of them
select id, head, generation, owner, lease_until, summary, created_at, updated_at, quarantined
from placed where id = ?;

-- live: those that a restart has to look after
select id, head, generation, owner, lease_until, summary, created_at, updated_at, quarantined
from placed where live = 1 and quarantined = '' order by no;

-- find: by prefix
select id from session where id >= ? and id < ? order by id limit 20;

-- owed: everything unpaid, in the order it was written
select e.id, s.id, e.tag, e.version, e.body, e.due, e.attempts
from errand e join session s on s.no = e.session where s.quarantined = '' order by e.session, e.seq, e.n;

-- owed_by: one session's debts
select e.id, s.id, e.tag, e.version, e.body, e.due, e.attempts
from errand e join session s on s.no = e.session where s.id = ? order by e.seq, e.n;

-- quarantine: not touched again until a person has looked
update session set quarantined = ?, live = 0 where id = ?;

-- purge_blobs: those that no other session has; before their uses
delete from blob where id in (select blob from blob_use where session = ?1)
    and not exists (select 1 from blob_use where blob = id and session <> ?1);

-- purge_uses: of blobs
delete from blob_use where session = ?;

-- purge_events: all of them
delete from event where key > ?1 << 32 and key <= ?1 << 32 | 4294967295;

-- purge_errands: whatever was owed
delete from errand where session = ?;

-- purge_snapshot: the copy
delete from snapshot where session = ?;

-- purge_row: the last of it
delete from session where no = ?;

-- put_purged: that it was there
insert into purged (id, at) values (?, ?) on conflict do update set at = excluded.at;

-- purged: by prefix
select id, at from purged where id >= ? and id < ? order by id limit 20;

-- all_sessions: for making the list anew
select no, id from session order by no;

-- put_summary: of the list made anew
update session set summary = ?, live = ? where no = ?;

-- put_task: as a person said it last
insert into task (id, created_at, body) values (?, ?, ?) on conflict (id) do update set body = excluded.body;

-- tasks: newest first
select id, body from task order by created_at desc, id desc;
