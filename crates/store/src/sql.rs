//! Every SQL statement of Bailiwick that reads or writes data, by hand and static.
//!
//! SQLite and PostgreSQL share the text of every read; only locking and writing a command differ. Three habits:
//!
//! - Statements that take a variable number of rows have a fixed number of slots; unused ones hold what is never
//!   found. So each is prepared once.
//! - `CROSS JOIN` is an ordinary inner join to PostgreSQL, while SQLite's planner keeps the order of tables around
//!   it. It stands wherever the left side must drive, so that plans don't depend on statistics.
//! - Paging after a place means starting *at* its successor: in byte order nothing lies between `x` and `x` followed
//!   by a zero byte. So a first page, which starts at the empty bytes, needs no statement of its own.

/// Rows that [`DOCUMENTS`] and [`BLOBS`] look for at once.
pub(crate) const LOOKUP_SLOTS: usize = 8;

/// Further index entries that [`SELECT`] and [`COUNT`] can ask for.
pub(crate) const ALSO_SLOTS: usize = 5;

/// $1 workspace; slots of (kind, id).
pub(crate) const DOCUMENTS: &str = "
    SELECT d.kind, d.id, d.version, d.body
    FROM (VALUES ($2, $3), ($4, $5), ($6, $7), ($8, $9), ($10, $11), ($12, $13), ($14, $15), ($16, $17)) given
    CROSS JOIN documents d
    WHERE d.workspace = $1 AND d.kind = given.column1 AND d.id = given.column2";

/// $1 workspace; slots of digests.
pub(crate) const BLOBS: &str = "
    SELECT b.digest, b.salt, b.bytes
    FROM (VALUES ($2), ($3), ($4), ($5), ($6), ($7), ($8), ($9)) given
    CROSS JOIN blobs b
    WHERE b.workspace = $1 AND b.digest = given.column1 AND b.salt IS NOT NULL AND b.bytes IS NOT NULL";

/// What [`SELECT`], [`SELECT_DESCENDING`] and [`COUNT`] find by: $1 workspace, $2 kind, $3 index, $4 value; slots of (index, value), an
/// empty index where unused.
macro_rules! matching {
    () => {
        "
    i.workspace = $1 AND i.kind = $2 AND i.name = $3 AND i.value = $4
    AND ($5 = '' OR EXISTS (SELECT 1 FROM index_entries a WHERE a.workspace = i.workspace AND a.kind = i.kind
        AND a.id = i.id AND a.name = $5 AND a.value = $6))
    AND ($7 = '' OR EXISTS (SELECT 1 FROM index_entries a WHERE a.workspace = i.workspace AND a.kind = i.kind
        AND a.id = i.id AND a.name = $7 AND a.value = $8))
    AND ($9 = '' OR EXISTS (SELECT 1 FROM index_entries a WHERE a.workspace = i.workspace AND a.kind = i.kind
        AND a.id = i.id AND a.name = $9 AND a.value = $10))
    AND ($11 = '' OR EXISTS (SELECT 1 FROM index_entries a WHERE a.workspace = i.workspace AND a.kind = i.kind
        AND a.id = i.id AND a.name = $11 AND a.value = $12))
    AND ($13 = '' OR EXISTS (SELECT 1 FROM index_entries a WHERE a.workspace = i.workspace AND a.kind = i.kind
        AND a.id = i.id AND a.name = $13 AND a.value = $14))"
    };
}

/// The rows that [`matching!`] finds. The document is looked up for each row answered, not joined: without statistics
/// PostgreSQL joins by kind.
macro_rules! found {
    () => {
        concat!(
            "
    SELECT i.sort, i.id,
        (SELECT d.version FROM documents d WHERE d.workspace = i.workspace AND d.kind = i.kind AND d.id = i.id),
        (SELECT d.body FROM documents d WHERE d.workspace = i.workspace AND d.kind = i.kind AND d.id = i.id)
    FROM index_entries i WHERE",
            matching!()
        )
    };
}

/// [`matching!`]; $15 and $16 the (sort, id) to start at, $17 limit.
pub(crate) const SELECT: &str = concat!(found!(), " AND (i.sort, i.id) >= ($15, $16) ORDER BY i.sort, i.id LIMIT $17");

/// [`matching!`]; $15 and $16 the (sort, id) before which to start, $17 limit.
pub(crate) const SELECT_DESCENDING: &str =
    concat!(found!(), " AND (i.sort, i.id) < ($15, $16) ORDER BY i.sort DESC, i.id DESC LIMIT $17");

/// [`matching!`].
pub(crate) const COUNT: &str = concat!("SELECT count(*) FROM index_entries i WHERE", matching!());

/// $1 workspace, $2 the first sort that is not due yet, $3, $4 and $5 the (sort, kind, id) to start after, $6 limit.
pub(crate) const DUE: &str = "
    SELECT sort, kind, id FROM index_entries
    WHERE workspace = $1 AND name = 'due' AND sort < $2 AND (sort, kind, id) > ($3, $4, $5)
    ORDER BY sort, kind, id LIMIT $6";

/// $1 workspace.
pub(crate) const NEXT_DUE: &str = "
    SELECT sort FROM index_entries WHERE workspace = $1 AND name = 'due' ORDER BY sort LIMIT 1";

/// $1 workspace, $2 journal.
pub(crate) const HEAD: &str = "
    SELECT epoch_id, head_sequence, head_hash, last_at FROM journals WHERE workspace = $1 AND name = $2";

/// $1 workspace, $2 journal, $3 the sequence before the first one wanted, $4 limit.
pub(crate) const ENTRIES: &str = "
    SELECT sequence, preimage, hash FROM entries
    WHERE workspace = $1 AND journal = $2 AND sequence > $3
    ORDER BY sequence LIMIT $4";

/// $1 workspace, $2 the receipt's name.
pub(crate) const RECEIPT: &str = "SELECT command, reply, at FROM receipts WHERE workspace = $1 AND name = $2";

/// $1 workspace, $2 and $3 the (kind, id) to start at, $4 limit.
pub(crate) const ALL_DOCUMENTS: &str = "
    SELECT kind, id, version, body FROM documents
    WHERE workspace = $1 AND (kind, id) >= ($2, $3)
    ORDER BY kind, id LIMIT $4";

/// $1 workspace, $2 kind, $3 id.
pub(crate) const INDEX_OF: &str = "
    SELECT name, value, sort FROM index_entries
    WHERE id = $3 AND workspace = $1 AND kind = $2";

/// The workspaces of the group that $1 belongs to.
pub(crate) const NEIGHBOURS: &str = "
    SELECT n.id FROM workspaces w CROSS JOIN workspaces n
    WHERE w.id = $1 AND n.lock_group = w.lock_group ORDER BY n.id";

/// The names of the journals of workspace $1.
pub(crate) const JOURNALS: &str = "SELECT name FROM journals WHERE workspace = $1";

/// $1 id, $2 group.
pub(crate) const OPEN_WORKSPACE: &str = "
    INSERT INTO workspaces (id, lock_group) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING";

/// $1 workspace, $2 name, $3 epoch, $4 the hash before the first entry.
pub(crate) const OPEN_JOURNAL: &str = "
    INSERT INTO journals (workspace, name, epoch_id, head_sequence, head_hash) VALUES ($1, $2, $3, 0, $4)
    ON CONFLICT (workspace, name) DO NOTHING";

/// The format of the tables, and the least writer.
pub(crate) const FORMAT: &str = "SELECT format, least_writer FROM bailiwick";

/// $1 the least writer from now on.
pub(crate) const RAISE_LEAST_WRITER: &str = "
    UPDATE bailiwick SET least_writer = $1 WHERE singleton = 1 AND least_writer < $1";

/// Gives up what a failed command wrote; the transaction goes on.
pub(crate) const UNDO: &str = "ROLLBACK TO SAVEPOINT command";

pub(crate) mod sqlite {
    //! What only SQLite is told.

    /// Starts a read; the moment it shows is that of its first statement.
    pub(crate) const BEGIN_READ: &str = "BEGIN DEFERRED";

    /// Starts a write: takes the one write lock of the file, sets the mark that [`UNDO`](super::UNDO) returns to, and
    /// answers the workspaces of group $1 with what is needed to write here.
    pub(crate) const BEGIN_WRITE: &str = "
        BEGIN IMMEDIATE;
        SAVEPOINT command;
        SELECT w.id, b.format, b.least_writer FROM bailiwick b CROSS JOIN workspaces w WHERE w.lock_group = $1";

    pub(crate) const COMMIT: &str = "COMMIT";

    pub(crate) const ROLLBACK: &str = "ROLLBACK";

    /// Changes whenever another connection has committed.
    pub(crate) const DATA_VERSION: &str = "PRAGMA data_version";

    /// How many rows of each table one run of [`WRITE`] takes. A longer command takes several runs.
    pub(crate) mod slots {
        pub(crate) const HEADS: usize = 2;
        pub(crate) const ENTRIES: usize = 4;
        pub(crate) const DOCUMENTS: usize = 4;
        pub(crate) const REMOVED: usize = 2;
        pub(crate) const INDEX: usize = 8;
        pub(crate) const BLOBS: usize = 4;
        pub(crate) const RECEIPTS: usize = 1;
    }

    /// Moves the mark that [`UNDO`](super::UNDO) returns to: what was written so far stands.
    macro_rules! mark {
        () => {
            "RELEASE command; SAVEPOINT command;"
        };
    }

    macro_rules! write_rows {
        () => {
            "
    UPDATE journals
    SET head_sequence = given.column2, head_hash = given.column3, last_at = coalesce(given.column4, last_at)
    FROM (VALUES (?, ?, ?, ?, ?, ?, ?), (?, ?, ?, ?, ?, ?, ?)) given
    WHERE workspace = given.column1 AND name = given.column5 AND head_sequence = given.column6 AND head_hash = given.column7
    RETURNING 1;
    INSERT INTO entries (workspace, journal, sequence, id, kind, entity_id, actor, occurred_at, preimage, hash)
    SELECT * FROM (VALUES
        (?, ?, ?, ?, ?, ?, ?, ?, ?, ?),
        (?, ?, ?, ?, ?, ?, ?, ?, ?, ?),
        (?, ?, ?, ?, ?, ?, ?, ?, ?, ?),
        (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)) given WHERE column1 IS NOT NULL;
    DELETE FROM documents WHERE (workspace, kind, id) IN (VALUES (?, ?, ?), (?, ?, ?));
    INSERT INTO documents (workspace, kind, id, version, body)
    SELECT * FROM (VALUES
        (?, ?, ?, ?, ?), (?, ?, ?, ?, ?), (?, ?, ?, ?, ?), (?, ?, ?, ?, ?)) given WHERE column1 IS NOT NULL
    ON CONFLICT (workspace, kind, id) DO UPDATE SET version = excluded.version, body = excluded.body;
    DELETE FROM index_entries WHERE (workspace, kind, name, value, sort, id) IN (VALUES
        (?, ?, ?, ?, ?, ?), (?, ?, ?, ?, ?, ?), (?, ?, ?, ?, ?, ?), (?, ?, ?, ?, ?, ?),
        (?, ?, ?, ?, ?, ?), (?, ?, ?, ?, ?, ?), (?, ?, ?, ?, ?, ?), (?, ?, ?, ?, ?, ?));
    INSERT INTO index_entries (workspace, kind, name, value, sort, id)
    SELECT * FROM (VALUES
        (?, ?, ?, ?, ?, ?), (?, ?, ?, ?, ?, ?), (?, ?, ?, ?, ?, ?), (?, ?, ?, ?, ?, ?),
        (?, ?, ?, ?, ?, ?), (?, ?, ?, ?, ?, ?), (?, ?, ?, ?, ?, ?), (?, ?, ?, ?, ?, ?)) given WHERE column1 IS NOT NULL
    ON CONFLICT DO NOTHING;
    INSERT INTO blobs (workspace, digest, salt, bytes)
    SELECT * FROM (VALUES (?, ?, ?, ?), (?, ?, ?, ?), (?, ?, ?, ?), (?, ?, ?, ?)) given WHERE column1 IS NOT NULL
    ON CONFLICT (workspace, digest) DO NOTHING;
    INSERT INTO receipts (workspace, name, command, reply, at)
    SELECT * FROM (VALUES (?, ?, ?, ?, ?)) given WHERE column1 IS NOT NULL;"
        };
    }

    /// Writes the rows of a command, after [`mark!`]. Answers one row for each head moved.
    pub(crate) const WRITE: &str = concat!(mark!(), write_rows!());

    /// Writes more rows of the same command.
    pub(crate) const WRITE_MORE: &str = write_rows!();
}

pub(crate) mod postgres {
    //! What only PostgreSQL is told.

    /// Starts a read; the moment it shows is that of its first statement.
    pub(crate) const BEGIN_READ: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

    /// Starts a write, and sets the mark that [`UNDO`](super::UNDO) returns to.
    pub(crate) const BEGIN_WRITE: &str = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SAVEPOINT command";

    /// Locks the workspaces of group $1, in the order of their ids, and answers what is needed to write here.
    ///
    /// Whoever waits here sees the workspaces that existed when it began to wait. None ever goes away, so any two
    /// such sets have the older one in common and still exclude each other.
    pub(crate) const LOCK: &str = "
        SELECT w.id, b.format, b.least_writer FROM bailiwick b CROSS JOIN workspaces w
        WHERE w.lock_group = $1 ORDER BY w.id FOR UPDATE OF w";

    /// Moves the mark that [`UNDO`](super::UNDO) returns to: what was written so far stands.
    pub(crate) const MARK: &str = "RELEASE SAVEPOINT command; SAVEPOINT command";

    /// Milliseconds since 1970 by the server's clock.
    pub(crate) const NOW: &str = "SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

    /// What every connection keeps to: $1 how long to wait for a lock.
    pub(crate) const SETTINGS: &str = "
        SELECT set_config('lock_timeout', $1, false), set_config('statement_timeout', '30s', false),
            set_config('idle_in_transaction_session_timeout', '60s', false), set_config('jit', 'off', false),
            set_config('synchronous_commit', CASE current_setting('synchronous_commit')
                WHEN 'off' THEN 'on' ELSE current_setting('synchronous_commit') END, false)";

    /// Lets one process after the other look for tables and make them.
    pub(crate) const LOCK_MIGRATION: &str = "SELECT pg_advisory_xact_lock(1111574860)";

    /// The tables of the schema that have names of ours. The catalogue is read, not `to_regclass`: that one answers
    /// from a cache which may not know yet what another process has just made.
    pub(crate) const FIND_TABLES: &str = "
        SELECT c.relname::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE n.nspname = current_schema() AND c.relname IN ('bailiwick', 'workspaces', 'journals', 'entries',
            'documents', 'index_entries', 'blobs', 'receipts') ORDER BY c.relname";

    /// The channel on which commits are told.
    pub(crate) const CHANNEL: &str = "bailiwick";

    /// What a notification of this schema says.
    pub(crate) const SCHEMA: &str = "SELECT current_schema()::text";

    /// Changes whenever a transaction that wrote has ended.
    pub(crate) const SNAPSHOT: &str = "SELECT pg_current_snapshot()::text";

    /// Writes a whole command in one statement and tells whoever listens. Answers how many heads were moved.
    ///
    /// Parameters: $1 workspace, then one array for each column of each table.
    pub(crate) const WRITE: &str = "
    WITH moved AS (
        UPDATE journals j SET head_sequence = h.sequence, head_hash = h.hash, last_at = coalesce(h.at, j.last_at)
        FROM unnest($2::bigint[], $3::bytea[], $4::bigint[], $5::text[], $6::bigint[], $7::bytea[])
            h (sequence, hash, at, name, old_sequence, old_hash)
        WHERE j.workspace = $1 AND j.name = h.name
            AND j.head_sequence = h.old_sequence AND j.head_hash = h.old_hash
        RETURNING 1
    ), appended AS (
        INSERT INTO entries (workspace, journal, sequence, id, kind, entity_id, actor, occurred_at, preimage, hash)
        SELECT $1, * FROM unnest($8::text[], $9::bigint[], $10::bytea[], $11::bytea[], $12::bytea[], $13::bytea[],
            $14::bytea[], $15::bytea[], $16::bytea[])
    ), removed AS (
        DELETE FROM documents d USING unnest($17::text[], $18::bytea[]) r (kind, id)
        WHERE d.workspace = $1 AND d.kind = r.kind AND d.id = r.id
    ), stored AS (
        INSERT INTO documents (workspace, kind, id, version, body)
        SELECT $1, * FROM unnest($19::text[], $20::bytea[], $21::bigint[], $22::bytea[])
        ON CONFLICT (workspace, kind, id) DO UPDATE SET version = excluded.version, body = excluded.body
    ), forgotten AS (
        DELETE FROM index_entries i
        USING unnest($23::text[], $24::text[], $25::bytea[], $26::bytea[], $27::bytea[]) r (kind, name, value, sort, id)
        WHERE i.workspace = $1 AND i.kind = r.kind AND i.name = r.name AND i.value = r.value
            AND i.sort = r.sort AND i.id = r.id
    ), indexed AS (
        INSERT INTO index_entries (workspace, kind, name, value, sort, id)
        SELECT $1, * FROM unnest($28::text[], $29::text[], $30::bytea[], $31::bytea[], $32::bytea[])
        ON CONFLICT DO NOTHING
    ), kept AS (
        INSERT INTO blobs (workspace, digest, salt, bytes)
        SELECT $1, * FROM unnest($33::bytea[], $34::bytea[], $35::bytea[])
        ON CONFLICT (workspace, digest) DO NOTHING
    ), answered AS (
        INSERT INTO receipts (workspace, name, command, reply, at)
        SELECT $1, * FROM unnest($36::bytea[], $37::bytea[], $38::bytea[], $39::bigint[])
    )
    SELECT count(*), pg_notify('bailiwick', current_schema()) IS NULL FROM moved";
}

#[cfg(test)]
mod tests {
    use sqlx::{AssertSqlSafe, Connection, Row, SqliteConnection, query, raw_sql};

    use super::*;

    /// A database with the tables and no statistics, as a new one is.
    async fn empty() -> SqliteConnection {
        let mut connection = SqliteConnection::connect("sqlite::memory:").await.unwrap();
        raw_sql(include_str!("migrations/sqlite/0001.sql")).execute(&mut connection).await.unwrap();
        connection
    }

    /// The steps by which SQLite would run each statement of a text.
    async fn plans(text: &str) -> Vec<String> {
        let mut connection = empty().await;
        let mut steps = Vec::new();
        for statement in text.split(';').filter(|statement| !statement.trim().is_empty()) {
            let explain = AssertSqlSafe(format!("EXPLAIN QUERY PLAN {statement}"));
            for row in query(explain).fetch_all(&mut connection).await.unwrap() {
                steps.push(row.get::<String, _>("detail"));
            }
        }
        steps
    }

    #[tokio::test]
    async fn no_statement_scans_a_table_or_sorts() {
        let reads = [
            DOCUMENTS,
            BLOBS,
            SELECT,
            COUNT,
            DUE,
            NEXT_DUE,
            HEAD,
            ENTRIES,
            RECEIPT,
            ALL_DOCUMENTS,
            INDEX_OF,
            NEIGHBOURS,
        ];
        let writes = [
            JOURNALS,
            OPEN_WORKSPACE,
            OPEN_JOURNAL,
            RAISE_LEAST_WRITER,
            sqlite::BEGIN_WRITE,
            sqlite::WRITE,
            sqlite::WRITE_MORE,
        ];
        for text in reads.into_iter().chain(writes) {
            for step in plans(text).await {
                // The rows given and the table of one row may be walked through.
                let is_given = step.contains("VALUES CLAUSE")
                    || ["SCAN b", "SCAN given", "SCAN CONSTANT ROW"].contains(&step.as_str());
                assert!(!step.contains("SCAN") || is_given, "{step} in {text}");
                assert!(!step.contains("TEMP B-TREE") && !step.contains("AUTOMATIC"), "{step} in {text}");
            }
        }
    }

    #[tokio::test]
    async fn selections_walk_the_index_and_look_further_entries_up_by_document() {
        let steps = plans(SELECT).await;
        let walk = "SEARCH i USING PRIMARY KEY (workspace=? AND kind=? AND name=? AND value=? AND (sort,id)>(?,?))";
        let further = "SEARCH a USING COVERING INDEX index_entries_by_document \
            (id=? AND workspace=? AND kind=? AND name=? AND value=?)";
        assert_eq!(steps.iter().filter(|step| *step == walk).count(), 1, "{steps:#?}");
        assert_eq!(steps.iter().filter(|step| *step == further).count(), ALSO_SLOTS, "{steps:#?}");
        let due = "SEARCH index_entries USING COVERING INDEX index_entries_due \
                   (workspace=? AND (sort,kind,id)>(?,?,?) AND sort<?)";
        assert_eq!(plans(DUE).await, [due]);
    }
}
