-- Format 1, the same tables as in SQLite. Whatever people or agents name is bytes, since PostgreSQL can't keep
-- U+0000 in text; names that the program itself chooses are text. Both compare byte for byte, whatever the locale.

CREATE TABLE bailiwick (
    singleton    bigint PRIMARY KEY CHECK (singleton = 1),
    format       bigint NOT NULL,
    least_writer bigint NOT NULL
);

CREATE TABLE workspaces (
    id         bytea PRIMARY KEY,
    lock_group bytea NOT NULL
);
CREATE INDEX workspaces_by_group ON workspaces (lock_group, id);

CREATE TABLE journals (
    workspace     bytea NOT NULL REFERENCES workspaces (id),
    name          text COLLATE "C" NOT NULL,
    epoch_id      bytea NOT NULL,
    head_sequence bigint NOT NULL,
    head_hash     bytea NOT NULL,
    last_at       bigint,
    PRIMARY KEY (workspace, name)
);

CREATE TABLE entries (
    workspace   bytea NOT NULL,
    journal     text COLLATE "C" NOT NULL,
    sequence    bigint NOT NULL,
    id          bytea NOT NULL UNIQUE,
    kind        bytea NOT NULL,
    entity_id   bytea NOT NULL,
    actor       bytea NOT NULL,
    occurred_at bytea NOT NULL,
    preimage    bytea NOT NULL,
    hash        bytea NOT NULL,
    PRIMARY KEY (workspace, journal, sequence),
    FOREIGN KEY (workspace, journal) REFERENCES journals (workspace, name)
);

CREATE TABLE documents (
    workspace bytea NOT NULL REFERENCES workspaces (id),
    kind      text COLLATE "C" NOT NULL,
    id        bytea NOT NULL,
    version   bigint NOT NULL,
    body      bytea NOT NULL,
    PRIMARY KEY (workspace, kind, id)
);

CREATE TABLE index_entries (
    workspace bytea NOT NULL,
    kind      text COLLATE "C" NOT NULL,
    name      text COLLATE "C" NOT NULL,
    value     bytea NOT NULL,
    sort      bytea NOT NULL,
    id        bytea NOT NULL,
    PRIMARY KEY (workspace, kind, name, value, sort, id),
    FOREIGN KEY (workspace, kind, id) REFERENCES documents (workspace, kind, id) ON DELETE CASCADE
);
-- Led by the id, so that no planner takes it for anything else than looking a document's entries up.
CREATE INDEX index_entries_by_document ON index_entries (id, workspace, kind, name, value);
CREATE INDEX index_entries_due ON index_entries (workspace, sort, kind, id) WHERE name = 'due';

CREATE TABLE blobs (
    workspace bytea NOT NULL REFERENCES workspaces (id),
    digest    bytea NOT NULL,
    salt      bytea,
    bytes     bytea,
    PRIMARY KEY (workspace, digest)
);

CREATE TABLE receipts (
    workspace bytea NOT NULL REFERENCES workspaces (id),
    name      bytea NOT NULL,
    command   bytea NOT NULL,
    reply     bytea NOT NULL,
    at        bigint NOT NULL,
    PRIMARY KEY (workspace, name)
);

INSERT INTO bailiwick (singleton, format, least_writer) VALUES (1, 1, 1);
