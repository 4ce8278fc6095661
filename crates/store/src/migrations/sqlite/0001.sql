-- Format 1. Whatever people or agents name is bytes, since it may hold any code point; names that the program
-- itself chooses (kinds of documents, indexes, journals) are text. Both compare byte for byte.

CREATE TABLE bailiwick (
    singleton    INTEGER PRIMARY KEY CHECK (singleton = 1),
    format       INTEGER NOT NULL,
    least_writer INTEGER NOT NULL
) STRICT;

CREATE TABLE workspaces (
    id         BLOB PRIMARY KEY NOT NULL,
    lock_group BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX workspaces_by_group ON workspaces (lock_group, id);

CREATE TABLE journals (
    workspace     BLOB NOT NULL REFERENCES workspaces (id),
    name          TEXT NOT NULL,
    epoch_id      BLOB NOT NULL,
    head_sequence INTEGER NOT NULL,
    head_hash     BLOB NOT NULL,
    last_at       INTEGER,
    PRIMARY KEY (workspace, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE entries (
    workspace   BLOB NOT NULL,
    journal     TEXT NOT NULL,
    sequence    INTEGER NOT NULL,
    id          BLOB NOT NULL UNIQUE,
    kind        BLOB NOT NULL,
    entity_id   BLOB NOT NULL,
    actor       BLOB NOT NULL,
    occurred_at BLOB NOT NULL,
    preimage    BLOB NOT NULL,
    hash        BLOB NOT NULL,
    PRIMARY KEY (workspace, journal, sequence),
    FOREIGN KEY (workspace, journal) REFERENCES journals (workspace, name)
) STRICT;

CREATE TABLE documents (
    workspace BLOB NOT NULL REFERENCES workspaces (id),
    kind      TEXT NOT NULL,
    id        BLOB NOT NULL,
    version   INTEGER NOT NULL,
    body      BLOB NOT NULL,
    PRIMARY KEY (workspace, kind, id)
) STRICT;

CREATE TABLE index_entries (
    workspace BLOB NOT NULL,
    kind      TEXT NOT NULL,
    name      TEXT NOT NULL,
    value     BLOB NOT NULL,
    sort      BLOB NOT NULL,
    id        BLOB NOT NULL,
    PRIMARY KEY (workspace, kind, name, value, sort, id),
    FOREIGN KEY (workspace, kind, id) REFERENCES documents (workspace, kind, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
-- Led by the id, so that no planner takes it for anything else than looking a document's entries up.
CREATE INDEX index_entries_by_document ON index_entries (id, workspace, kind, name, value);
CREATE INDEX index_entries_due ON index_entries (workspace, sort, kind, id) WHERE name = 'due';

CREATE TABLE blobs (
    workspace BLOB NOT NULL REFERENCES workspaces (id),
    digest    BLOB NOT NULL,
    salt      BLOB,
    bytes     BLOB,
    PRIMARY KEY (workspace, digest)
) STRICT;

CREATE TABLE receipts (
    workspace BLOB NOT NULL REFERENCES workspaces (id),
    name      BLOB NOT NULL,
    command   BLOB NOT NULL,
    reply     BLOB NOT NULL,
    at        INTEGER NOT NULL,
    PRIMARY KEY (workspace, name)
) STRICT, WITHOUT ROWID;

INSERT INTO bailiwick (singleton, format, least_writer) VALUES (1, 1, 1);

-- `BAIL`, and the format.
PRAGMA application_id = 1111574860;
PRAGMA user_version = 1;
