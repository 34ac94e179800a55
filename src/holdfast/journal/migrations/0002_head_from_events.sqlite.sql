-- A session's head is that of its events. The column says where it was when the row was last written:
-- the row is not written with every append, and a tail that is lost before that place is noticed.
create view placed as
select s.no, s.id, s.generation, s.owner, s.lease_until, s.created_at, s.updated_at, s.live, s.quarantined, s.summary,
    max(s.head, coalesce((
        select e.key & 4294967295 from event e
        where e.key > s.no << 32 and e.key <= s.no << 32 | 4294967295 order by e.key desc limit 1
    ), 0)) as head
from session s;
