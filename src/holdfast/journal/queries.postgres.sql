-- settings: of every connection; what a server does not know is left out
select set_config(s.name, w.value, false)
from pg_settings s join (values
    ('search_path', quote_ident(%(schema)s)),
    ('idle_session_timeout', '0'),
    ('tcp_keepalives_idle', '5'),
    ('tcp_keepalives_interval', '2'),
    ('tcp_keepalives_count', '3'),
    -- What is durable must be: a role's own `off` is not for this store.
    ('synchronous_commit', case current_setting('synchronous_commit')
        when 'off' then 'on' else current_setting('synchronous_commit') end)
) as w (name, value) using (name);

-- made: is there a schema, and are there tables in it? Asked of the tables themselves: to_regclass
-- and its kin may still not know what another process has just made.
select exists (select from pg_namespace where nspname = %(schema)s),
    exists (select from pg_tables where schemaname = %(schema)s and tablename = 'schema_version');

-- version: of the tables
select coalesce(max(number), 0) from schema_version;

-- put_version: brought up to here
insert into schema_version (number) values (%(number)s);

-- alone: until the transaction ends; several processes may start at once
select pg_advisory_xact_lock(%(key)s);

-- place: which history this is; another server, database or timeline is another one
select concat_ws(':', (select system_identifier from pg_control_system()),
    (select oid from pg_database where datname = current_database()),
    left(pg_walfile_name(pg_current_wal_lsn()), 8));

-- meta: what is known of this store
select key, value from meta;

-- put_meta: remembered
insert into meta (key, value) values ('place', %(place)s), ('epoch', %(epoch)s)
on conflict (key) do update set value = excluded.value;

-- heads: of those that were acknowledged, to be compared after the server was away
select id, head from session where id = any(%(ids)s)
union all select id, 9223372036854775807 from purged where id = any(%(ids)s);

-- append: one statement, one transaction, one round trip. Everything hangs on the fence: if that
-- finds no row, nothing is written at all. What need not survive a power cut does not wait for it.
-- An index follows updated_at: it moves only when the list changes too.
with fenced as (
    update session set head = %(head)s::int8 + %(count)s,
        updated_at = case when %(listed)s then %(at)s else updated_at end,
        live = coalesce(%(live)s, live), summary = coalesce(%(summary)b::bytea, summary),
        lease_until = case when %(release)s then 0 else lease_until end
    where id = %(id)s and generation = %(generation)s and head = %(head)s::int8
    returning no
), happened as (
    insert into event (session, seq, at, tag, version, identity, body)
    select no, %(head)s::int8 + n, %(at)s, tag, version, nullif(identity, ''), body
    from fenced, unnest(%(tags)s::text[], %(versions)s::int4[], %(identities)b::bytea[],
        %(bodies)b::bytea[]) with ordinality as e (tag, version, identity, body, n)
), owing as (
    insert into errand (id, session, seq, n, tag, version, body, due)
    select id, no, seq, n, tag, version, body, due
    from fenced, unnest(%(errand_ids)s::text[], %(errand_seqs)s::int8[], %(errand_ns)s::int4[],
        %(errand_tags)s::text[], %(errand_versions)s::int4[], %(errand_bodies)b::bytea[],
        %(errand_dues)s::int8[]) as o (id, seq, n, tag, version, body, due)
), paid as (
    delete from errand where id = any(%(settled)s::text[]) and exists (select from fenced)
), kept as (
    insert into blob (id, size, body)
    select b.id, b.size, b.body
    from fenced, unnest(%(blob_ids)s::text[], %(blob_sizes)s::int8[], %(blob_bodies)b::bytea[])
        as b (id, size, body)
    on conflict (id) do update set size = excluded.size  -- held: whoever purges must see that we have it
), used as (
    insert into blob_use (session, blob)
    select no, u.blob from fenced, unnest(%(blobs_used)s::text[]) as u (blob)
    on conflict do nothing
), copied as (
    insert into snapshot (session, seq, version, body)
    select no, %(snapshot_seq)s::int8, %(snapshot_version)s, %(snapshot)b::bytea
    from fenced where %(snapshot)b::bytea is not null
    on conflict (session) do update
        set seq = excluded.seq, version = excluded.version, body = excluded.body
)
select no, pg_notify(%(channel)s, %(id)s || ' ' || (%(head)s::int8 + %(count)s)),
    set_config('synchronous_commit', case when %(durable)s
        then current_setting('synchronous_commit') else 'off' end, true)
from fenced;

-- why_fenced: what the store has instead of what the writer believed
select head, generation, quarantined from session where id = %(id)s;

-- doubled: which of these names are there already
select e.identity from event e join session s on s.no = e.session
where s.id = %(id)s and e.identity = any(%(identities)b::bytea[]) order by e.seq limit 1;

-- settle: paid
delete from errand where id = %(id)s;

-- postpone: tried, not done
update errand set due = %(due)s, attempts = attempts + 1 where id = %(id)s;

-- blob: the whole of an output
select body from blob where id = %(id)s;

-- snapshot: where a fold may start
select p.seq, p.version, p.body from snapshot p join session s on s.no = p.session where s.id = %(id)s;

-- claim: a new generation fences whoever had it before; the first claim makes the row. The conflict
-- locks the row and looks again, so of several who come at once each sees what the one before did.
insert into session as s (id, generation, owner, lease_until, created_at, updated_at)
values (%(id)s, 1, %(owner)s, %(until)s, %(now)s, %(now)s)
on conflict (id) do update
    set generation = s.generation + 1, owner = excluded.owner, lease_until = excluded.lease_until
    where s.quarantined = '' and (s.lease_until <= %(now)s or s.owner in (excluded.owner, %(dead)s))
returning generation, head;

-- lease: who has it
select head, owner, lease_until, quarantined from session where id = %(id)s;

-- renew: fenced like a write: a dying owner cannot extend what was taken from it
with renewed as (
    update session s set lease_until = %(until)s
    from unnest(%(ids)s::text[], %(generations)s::int8[]) as l (id, generation)
    where s.id = l.id and s.generation = l.generation and s.owner = %(owner)s
    returning s.id
)
select id, set_config('synchronous_commit', 'off', true) from renewed;

-- release: free for the next owner at once
with released as (
    update session set lease_until = 0 where id = %(id)s and generation = %(generation)s returning no
)
select no, set_config('synchronous_commit', 'off', true) from released;

-- stand: alive for as long as this connection lasts
select pg_advisory_lock_shared(%(key)s);

-- standing: looked at, not taken: nobody is in anybody's way
select exists (
    select from pg_locks where locktype = 'advisory' and granted and objsubid = 1
    and database = (select oid from pg_database where datname = current_database())
    and (classid::int8 << 32 | objid::int8) = %(key)s
);

-- read: what came after a cursor, and the head it leads to, as of one moment
select s.head, e.seq, e.at, e.tag, e.version, e.body
from session s left join lateral (
    select seq, at, tag, version, body from event
    where session = s.no and seq > %(after)s and seq <= s.head order by seq limit %(limit)s::int8
) e on true
where s.id = %(id)s order by e.seq;

-- pick: the same, of some kinds alone
select e.seq, e.at, e.tag, e.version, e.body from event e join session s on s.no = e.session
where s.id = %(id)s and e.seq > %(after)s and e.seq <= s.head and e.tag = any(%(tags)s::text[])
order by e.seq;

-- rows: newest first
select id, head, generation, owner, lease_until, summary, created_at, updated_at, quarantined
from session where (updated_at, id) < (%(at)s, %(id)s) order by updated_at desc, id desc limit %(limit)s;

-- row: one of them
select id, head, generation, owner, lease_until, summary, created_at, updated_at, quarantined
from session where id = %(id)s;

-- live: those that a restart has to look after
select id, head, generation, owner, lease_until, summary, created_at, updated_at, quarantined
from session where live and quarantined = '' order by no;

-- find: by prefix
select id from session where id >= %(low)s and id < %(high)s order by id limit 20;

-- owed: everything unpaid, in the order it was written
select e.id, s.id, e.tag, e.version, e.body, e.due, e.attempts
from errand e join session s on s.no = e.session where s.quarantined = '' order by e.session, e.seq, e.n;

-- owed_by: one session's debts
select e.id, s.id, e.tag, e.version, e.body, e.due, e.attempts
from errand e join session s on s.no = e.session where s.id = %(id)s order by e.seq, e.n;

-- quarantine: not touched again until a person has looked
update session set quarantined = %(why)s, live = false where id = %(id)s;

-- hold_to_purge: nobody writes it until the transaction ends
select head, generation, no from session where id = %(id)s for update;

-- hold_blobs: before it is looked who else has them: a writer that comes later makes them anew
select b.id from blob b where b.id in (select blob from blob_use where session = %(no)s)
order by b.id for update;

-- purge: everything but the blobs
with events as (delete from event where session = %(no)s),
    errands as (delete from errand where session = %(no)s),
    copies as (delete from snapshot where session = %(no)s),
    uses as (delete from blob_use where session = %(no)s),
    gone as (delete from session where no = %(no)s)
insert into purged (id, at) values (%(id)s, %(at)s) on conflict (id) do update set at = excluded.at;

-- purge_blobs: of these, what no session has any more
delete from blob b where id = any(%(ids)s)
    and not exists (select from blob_use u where u.blob = b.id);

-- purged: by prefix
select id, at from purged where id >= %(low)s and id < %(high)s order by id limit 20;

-- all_sessions: for making the list anew
select id from session order by no;

-- hold_row: nobody appends to this one until the transaction ends
select no from session where id = %(id)s for update;

-- put_summary: of the list made anew
update session set summary = %(summary)b::bytea, live = %(live)s where id = %(id)s;

-- server_now: one clock for all hosts
select (extract(epoch from clock_timestamp()) * 1000)::int8;

-- put_task: as a person said it last
insert into task (id, created_at, body) values (%(id)s, %(at)s, %(body)b::bytea)
on conflict (id) do update set body = excluded.body;

-- tasks: newest first
select id, body from task order by created_at desc, id desc;
