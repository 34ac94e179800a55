-- What is to be done, as a person said it. Where it stands follows from its sessions.
create table task (id text collate "C" primary key, created_at bigint not null, body bytea not null);
