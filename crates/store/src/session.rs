//! The port, once for both databases: what a desk asks becomes statements over a [`Link`].

use std::collections::HashMap;

use async_trait::async_trait;
use bailiwick_core::hash::Hash;
use bailiwick_core::heart::{Blob, Key, Order, Scope, Select, Stored};
use bailiwick_core::journal::Head;
use bailiwick_core::time::Millis;
use tokio::sync::watch;

use crate::link::{Link, Row, Value};
use crate::rows::{Rows, found_by, limit, limits, receipt_name};
use crate::{
    Commit, Due, FORMAT, JournalHead, NewWorkspace, Receipt, ReceiptKey, Snapshot, Store, StoreError, StoredEntry,
    Transaction, WRITER, sql,
};

/// A database that transactions can be opened on.
pub(crate) trait Backend: Send + Sync + 'static {
    /// Its transactions.
    type Link: Link;

    /// Opens a transaction for reading.
    fn read(&self) -> impl Future<Output = Result<Self::Link, StoreError>> + Send;

    /// Opens a transaction for writing that holds the lock of a group, and answers the group's workspaces: rows of
    /// (workspace, format, least writer).
    fn write(&self, group: Value<'_>) -> impl Future<Output = Result<(Self::Link, Vec<Row>), StoreError>> + Send;

    /// See [`Store::watch`].
    fn watch(&self) -> watch::Receiver<u64>;

    /// See [`Store::describe`].
    fn describe(&self) -> String;

    /// See [`Store::close`].
    fn close(&self) -> impl Future<Output = ()> + Send;
}

/// A store on a database.
pub(crate) struct Kept<B>(pub(crate) B);

#[async_trait]
impl<B: Backend> Store for Kept<B> {
    async fn open_workspace(&self, workspace: &NewWorkspace) -> Result<(), StoreError> {
        limit("workspace id", &workspace.id, limits::WORKSPACE)?;
        for journal in &workspace.journals {
            limit("journal name", &journal.name, limits::NAME)?;
        }
        if Session::new(self.0.read().await?).is_open(workspace).await? {
            return Ok(());
        }
        let mut session = self.lock(&workspace.group).await?;
        session.open(workspace).await?;
        session.link.commit().await
    }

    async fn begin(&self, group: &str) -> Result<Box<dyn Transaction>, StoreError> {
        let session = self.lock(group).await?;
        match session.locked.is_empty() {
            false => Ok(Box::new(session)),
            true => Err(StoreError::Missing(format!("lock group `{group}`"))),
        }
    }

    async fn snapshot(&self) -> Result<Box<dyn Snapshot>, StoreError> {
        Ok(Box::new(Session::new(self.0.read().await?)))
    }

    fn watch(&self) -> watch::Receiver<u64> {
        self.0.watch()
    }

    fn describe(&self) -> String {
        self.0.describe()
    }

    async fn close(&self) {
        self.0.close().await;
    }
}

impl<B: Backend> Kept<B> {
    async fn lock(&self, group: &str) -> Result<Session<B::Link>, StoreError> {
        let (link, rows) = self.0.write(Value::owned(found_by(group))).await?;
        let mut session = Session::new(link);
        for row in rows {
            let [workspace, format, least_writer] = row.columns()?;
            check_format(format.into_number()?, least_writer.into_number()?)?;
            session.locked.push(workspace.into_text()?);
        }
        Ok(session)
    }
}

/// An open transaction, for reading or for writing.
struct Session<L> {
    link: L,
    /// The workspaces that may be written, since their lock is held
    locked: Vec<String>,
    /// Whether a call failed, or was dropped, half-way. Some failures end a transaction in the database, and
    /// PostgreSQL then answers a commit as if all were well; so nothing more is asked of it.
    broken: bool,
}

impl<L: Link> Session<L> {
    fn new(link: L) -> Self {
        Self { link, locked: Vec::new(), broken: false }
    }

    async fn fetch(&mut self, sql: &'static str, values: Vec<Value<'_>>) -> Result<Vec<Row>, StoreError> {
        self.check()?;
        self.broken = true;
        let rows = self.link.fetch(sql, values).await?;
        self.broken = false;
        Ok(rows)
    }

    fn check(&self) -> Result<(), StoreError> {
        match self.broken {
            false => Ok(()),
            true => Err(StoreError::Unavailable(
                "an earlier call of this transaction failed, nothing of it was kept; begin another".into(),
            )),
        }
    }

    async fn is_open(&mut self, workspace: &NewWorkspace) -> Result<bool, StoreError> {
        let mut open = Vec::new();
        for row in self.fetch(sql::JOURNALS, vec![Value::text(&workspace.id)]).await? {
            let [name] = row.columns()?;
            open.push(name.into_text()?);
        }
        Ok(!workspace.journals.is_empty() && workspace.journals.iter().all(|journal| open.contains(&journal.name)))
    }

    async fn open(&mut self, workspace: &NewWorkspace) -> Result<(), StoreError> {
        let id = Value::text(&workspace.id);
        self.fetch(sql::OPEN_WORKSPACE, vec![id.clone(), Value::owned(found_by(&workspace.group))]).await?;
        for journal in &workspace.journals {
            let (name, epoch) = (Value::name(&journal.name), Value::text(&journal.epoch_id));
            let values = vec![id.clone(), name, epoch, Value::bytes(&Head::GENESIS.hash)];
            self.fetch(sql::OPEN_JOURNAL, values).await?;
        }
        Ok(())
    }

    /// The workspaces that a selection looks in.
    async fn scope(&mut self, workspace: &str, scope: Scope) -> Result<Vec<String>, StoreError> {
        if scope == Scope::Workspace {
            return Ok(vec![workspace.into()]);
        }
        let rows = self.fetch(sql::NEIGHBOURS, vec![Value::text(workspace)]).await?;
        rows.into_iter().map(|row| row.columns().and_then(|[id]| id.into_text())).collect()
    }

    /// Why a head could not be moved.
    async fn conflict(&mut self, workspace: &str, rows: &[(String, u64)]) -> StoreError {
        for (journal, before) in rows {
            match self.head(workspace, journal).await {
                Ok(JournalHead { head, .. }) if head.sequence != *before => {
                    return StoreError::Conflict(format!(
                        "journal `{journal}` of workspace `{workspace}` ends with entry {}, but what was to be appended follows entry {before}",
                        head.sequence
                    ));
                }
                Ok(_) => {}
                Err(error) => return error,
            }
        }
        StoreError::Conflict(format!(
            "a journal of workspace `{workspace}` ends with another hash than the one to append to"
        ))
    }
}

/// Refuses a database that needs a newer Bailiwick than this one.
pub(crate) fn check_format(format: u64, least_writer: u64) -> Result<(), StoreError> {
    if format > FORMAT || least_writer > WRITER {
        return Err(StoreError::Foreign(format!(
            "the store has format {format} and asks for writer {least_writer} or newer, this Bailiwick knows format {FORMAT} and is writer {WRITER}; install a newer Bailiwick"
        )));
    }
    Ok(())
}

#[async_trait]
impl<L: Link> Snapshot for Session<L> {
    async fn now(&mut self) -> Result<Millis, StoreError> {
        self.check()?;
        self.broken = true;
        let now = self.link.now().await?;
        self.broken = false;
        Ok(now)
    }

    async fn documents(&mut self, workspace: &str, keys: &[Key]) -> Result<Vec<Option<Stored>>, StoreError> {
        let mut found = HashMap::new();
        for keys in keys.chunks(sql::LOOKUP_SLOTS) {
            let unused = [Value::name(""), Value::text("")];
            let wanted = keys.iter().map(|key| [Value::name(&key.kind), Value::text(&key.id)]);
            let slots = wanted.chain(std::iter::repeat(unused)).take(sql::LOOKUP_SLOTS).flatten();
            for row in
                self.fetch(sql::DOCUMENTS, std::iter::once(Value::text(workspace)).chain(slots).collect()).await?
            {
                let stored = stored(row)?;
                found.insert(stored.key.clone(), stored);
            }
        }
        // A key may be asked for twice.
        Ok(keys.iter().map(|key| found.get(key).cloned()).collect())
    }

    async fn select(&mut self, workspace: &str, select: &Select) -> Result<Vec<Stored>, StoreError> {
        let (statement, (sort, id)) = match (select.order, &select.after) {
            (Order::Ascending, Some((sort, id))) => (sql::SELECT, (Value::text(sort), successor(id))),
            (Order::Ascending, None) => (sql::SELECT, (Value::text(""), Value::text(""))),
            (Order::Descending, Some((sort, id))) => (sql::SELECT_DESCENDING, (Value::text(sort), Value::text(id))),
            (Order::Descending, None) => (sql::SELECT_DESCENDING, (after_every_text(), Value::text(""))),
        };
        let paging = [sort, id, Value::Integer(select.limit.into())];
        let mut found = Vec::new();
        let workspaces = self.scope(workspace, select.scope).await?;
        for workspace in &workspaces {
            let values = matching(workspace, select)?.into_iter().chain(paging.clone()).collect();
            for row in self.fetch(statement, values).await? {
                let [sort, id, version, body] = row.columns()?;
                let key = Key { kind: select.kind.into(), id: id.into_text()? };
                found.push((
                    sort.into_bytes()?,
                    Stored { key, version: version.into_number()?, body: body.into_bytes()? },
                ));
            }
        }
        if workspaces.len() > 1 {
            found.sort_by(|(a_sort, a), (b_sort, b)| (a_sort, &a.key.id).cmp(&(b_sort, &b.key.id)));
            if select.order == Order::Descending {
                found.reverse();
            }
        }
        let limit = usize::try_from(select.limit).unwrap_or(usize::MAX);
        Ok(found.into_iter().map(|(_, stored)| stored).take(limit).collect())
    }

    async fn count(&mut self, workspace: &str, select: &Select) -> Result<u64, StoreError> {
        let mut sum = 0;
        for workspace in self.scope(workspace, select.scope).await? {
            for row in self.fetch(sql::COUNT, matching(&workspace, select)?).await? {
                let [count] = row.columns()?;
                sum += count.into_number()?;
            }
        }
        Ok(sum)
    }

    async fn due(
        &mut self,
        workspace: &str,
        before: &str,
        after: Option<&Due>,
        limit: u32,
    ) -> Result<Vec<Due>, StoreError> {
        // Nothing sorts before three empty names.
        let (at, kind, id) = after.map_or(("", "", ""), |after| (&after.at, &after.key.kind, &after.key.id));
        let values = vec![
            Value::text(workspace),
            Value::text(before),
            Value::text(at),
            Value::name(kind),
            Value::text(id),
            Value::Integer(limit.into()),
        ];
        let due = |row: Row| {
            let [at, kind, id] = row.columns()?;
            Ok(Due { at: at.into_text()?, key: Key { kind: kind.into_text()?, id: id.into_text()? } })
        };
        self.fetch(sql::DUE, values).await?.into_iter().map(due).collect()
    }

    async fn next_due(&mut self, workspace: &str) -> Result<Option<String>, StoreError> {
        let rows = self.fetch(sql::NEXT_DUE, vec![Value::text(workspace)]).await?;
        rows.into_iter().next().map(|row| row.columns().and_then(|[sort]| sort.into_text())).transpose()
    }

    async fn head(&mut self, workspace: &str, journal: &str) -> Result<JournalHead, StoreError> {
        let rows = self.fetch(sql::HEAD, vec![Value::text(workspace), Value::name(journal)]).await?;
        let row = rows.into_iter().next().ok_or_else(|| no_journal(workspace, journal))?;
        let [epoch_id, sequence, hash, last_at] = row.columns()?;
        Ok(JournalHead {
            epoch_id: epoch_id.into_text()?,
            head: Head { sequence: sequence.into_number()?, hash: hash.into_hash()? },
            last_at: last_at.into_millis()?,
        })
    }

    async fn entries(
        &mut self,
        workspace: &str,
        journal: &str,
        after: u64,
        limit: u32,
    ) -> Result<Vec<StoredEntry>, StoreError> {
        // Nothing comes after a sequence that is too large to be stored.
        let after = Value::number(after).unwrap_or(Value::Integer(i64::MAX));
        let values = vec![Value::text(workspace), Value::name(journal), after, Value::Integer(limit.into())];
        let rows = self.fetch(sql::ENTRIES, values).await?;
        if rows.is_empty() {
            self.head(workspace, journal).await?;
        }
        rows.into_iter()
            .map(|row| {
                let [sequence, preimage, hash] = row.columns()?;
                let (sequence, preimage) = (sequence.into_number()?, preimage.into_bytes()?);
                Ok(StoredEntry { sequence, preimage, hash: hash.into_hash()? })
            })
            .collect()
    }

    async fn blobs(&mut self, workspace: &str, digests: &[Hash]) -> Result<Vec<Option<Blob>>, StoreError> {
        let mut found = HashMap::new();
        for digests in digests.chunks(sql::LOOKUP_SLOTS) {
            let wanted = digests.iter().map(|digest| Value::bytes(digest));
            let slots = wanted.chain(std::iter::repeat(Value::text(""))).take(sql::LOOKUP_SLOTS);
            for row in self.fetch(sql::BLOBS, std::iter::once(Value::text(workspace)).chain(slots).collect()).await? {
                let [digest, salt, bytes] = row.columns()?;
                let digest = digest.into_hash()?;
                found.insert(digest, Blob { digest, salt: salt.into_array()?, bytes: bytes.into_bytes()? });
            }
        }
        Ok(digests.iter().map(|digest| found.get(digest).cloned()).collect())
    }

    async fn receipt(&mut self, workspace: &str, key: &ReceiptKey) -> Result<Option<Receipt>, StoreError> {
        let values = vec![Value::text(workspace), Value::owned(receipt_name(key).into())];
        let Some(row) = self.fetch(sql::RECEIPT, values).await?.into_iter().next() else { return Ok(None) };
        let [command, reply, at] = row.columns()?;
        let at = at.into_millis()?.ok_or_else(|| StoreError::Damaged("a receipt has no time".into()))?;
        Ok(Some(Receipt { command: command.into_hash()?, reply: reply.into_bytes()?, at }))
    }

    async fn index_of(&mut self, workspace: &str, key: &Key) -> Result<Vec<(String, Vec<u8>, String)>, StoreError> {
        let values = vec![Value::text(workspace), Value::name(&key.kind), Value::text(&key.id)];
        let entry = |row: Row| {
            let [name, value, sort] = row.columns()?;
            Ok((name.into_text()?, value.into_bytes()?, sort.into_text()?))
        };
        self.fetch(sql::INDEX_OF, values).await?.into_iter().map(entry).collect()
    }

    async fn all_documents(
        &mut self,
        workspace: &str,
        after: Option<&Key>,
        limit: u32,
    ) -> Result<Vec<Stored>, StoreError> {
        let (kind, id) = match after {
            Some(key) => (Value::name(&key.kind), successor(&key.id)),
            None => (Value::name(""), Value::text("")),
        };
        let values = vec![Value::text(workspace), kind, id, Value::Integer(limit.into())];
        self.fetch(sql::ALL_DOCUMENTS, values).await?.into_iter().map(stored).collect()
    }
}

#[async_trait]
impl<L: Link> Transaction for Session<L> {
    async fn write(&mut self, workspace: &str, commit: &Commit) -> Result<(), StoreError> {
        self.check()?;
        if !self.locked.iter().any(|locked| locked == workspace) {
            return Err(StoreError::Missing(format!(
                "workspace `{workspace}` in the group that this transaction locked"
            )));
        }
        let rows = Rows::of(workspace, commit)?;
        let heads = rows.heads();
        self.broken = true;
        let written = self.link.write(rows).await;
        let conflict = match written {
            Ok(moved) if moved == heads.len() => {
                self.broken = false;
                return Ok(());
            }
            Ok(_) => None,
            Err(error) => Some(error),
        };
        // Should this fail too, the transaction stays broken and the first error says more.
        self.broken = self.link.undo().await.is_err();
        match conflict {
            Some(error) => Err(error),
            None => Err(self.conflict(workspace, &heads).await),
        }
    }

    async fn refuse_older_writers(&mut self) -> Result<(), StoreError> {
        let writer = Value::number(WRITER).unwrap_or(Value::Null);
        self.fetch(sql::RAISE_LEAST_WRITER, vec![writer]).await.map(|_| ())
    }

    async fn commit(self: Box<Self>) -> Result<(), StoreError> {
        self.check()?;
        self.link.commit().await
    }
}

/// The parameters by which [`sql::SELECT`] and [`sql::COUNT`] find.
fn matching<'a>(workspace: &'a str, select: &'a Select) -> Result<Vec<Value<'a>>, StoreError> {
    if select.also.len() > sql::ALSO_SLOTS {
        return Err(StoreError::Limit(format!(
            "a selection asks for {} further index entries, at most {} are accepted",
            select.also.len(),
            sql::ALSO_SLOTS
        )));
    }
    let by = [
        Value::text(workspace),
        Value::name(select.kind),
        Value::name(select.index),
        Value::owned(found_by(&select.value)),
    ];
    let also = select.also.iter().map(|(name, value)| [Value::name(name), Value::owned(found_by(value))]);
    let unused = [Value::name(""), Value::text("")];
    Ok(by.into_iter().chain(also.chain(std::iter::repeat(unused)).take(sql::ALSO_SLOTS).flatten()).collect())
}

/// What comes next after an id in byte order.
fn successor(id: &str) -> Value<'static> {
    Value::owned(id.bytes().chain([0]).collect())
}

/// What comes after every text in byte order: a byte that no UTF-8 has.
fn after_every_text() -> Value<'static> {
    Value::owned([0xff].into())
}

fn stored(row: Row) -> Result<Stored, StoreError> {
    let [kind, id, version, body] = row.columns()?;
    let key = Key { kind: kind.into_text()?, id: id.into_text()? };
    Ok(Stored { key, version: version.into_number()?, body: body.into_bytes()? })
}

fn no_journal(workspace: &str, journal: &str) -> StoreError {
    StoreError::Missing(format!("journal `{journal}` of workspace `{workspace}`"))
}
