-- What is to be done, as a person said it. Where it stands follows from its sessions.
create table task (id text primary key, created_at integer not null, body blob not null) strict;
