//! The run of a `sync` tick: fetches a page, starts one run for each item, saves the cursor, all in
//! one commit, and goes on with the next page.
//!
//! An item whose key cannot be made is parked on its own: it neither holds back nor repeats the others.

use std::sync::Arc;

use semel_act::{Answer as Said, Outcome, Task, Untraced};
use semel_flow::Value;
use semel_flow::model::{Class, Sync, Trigger};
use semel_ledger::{Key, KeyError, Verdict};
use semel_store::run::{CursorChange, RunState, Start, StartOutcome};
use semel_store::{Answer, Change};

use super::book::Gone;
use super::{Active, More};
use crate::decide::{Rest, names};
use crate::engine::{Inner, fence};
use crate::journal::{Done, Ending, Failed, Happening, Headers, Kept, Origin};
use crate::resolve::DEFAULT_TIMEOUT;
use crate::retry::{self, Tried};
use crate::start::{Incoming, StartError};
use crate::state::Phase;

/// What the fetch is called in the run's history.
const FETCH: &str = "fetch";
/// The most items of one page.
const MAX_PAGE: usize = 10_000;

/// What a page said.
struct Page {
    items: Vec<Value>,
    cursor: Option<Value>,
    more: bool,
}

impl Active {
    pub(super) fn is_fetch(&self) -> bool {
        self.state.opening.by == Origin::Fetch
    }

    /// One page, or the end.
    pub(super) async fn fetch(&mut self, inner: &Arc<Inner>) -> Result<More, Gone> {
        let compiled = Arc::clone(&self.compiled);
        let sync = compiled
            .flow
            .triggers
            .iter()
            .find_map(|trigger| match trigger {
                Trigger::Sync(sync) => Some(sync),
                _ => None,
            });
        let Some(sync) = sync else {
            return self
                .end(
                    inner,
                    Ending::Failed,
                    "the flow has no `sync`".to_owned(),
                    &[],
                )
                .await;
        };
        if let Some(by) = self.state.cancelled.clone() {
            return self
                .end(inner, Ending::Cancelled, format!("cancelled by {by}"), &[])
                .await;
        }
        let now = inner.store.now();
        if inner.is_stopping() {
            return self
                .rest(
                    inner,
                    resting(RunState::Running, "stopped for now".to_owned(), now),
                )
                .await;
        }
        if let Some(Phase::Ready { at }) = self.state.phase(FETCH)
            && *at > now
        {
            let at = *at;
            return self
                .rest(
                    inner,
                    resting(RunState::Retrying, "the fetch failed".to_owned(), at),
                )
                .await;
        }
        let name = format!("sync/{}", compiled.flow.name.it);
        let was = inner.store.cursor(&name).await?;
        let cursor = was
            .as_deref()
            .and_then(|text| Value::read(text.as_bytes()).ok());
        match self.page(inner, sync, &cursor.unwrap_or(Value::Null)).await {
            Ok(page) => self.take_page(inner, sync, &name, was, page).await,
            Err(failure) => self.fetch_failed(inner, failure).await,
        }
    }

    async fn page(
        &mut self,
        inner: &Arc<Inner>,
        sync: &Sync,
        cursor: &Value,
    ) -> Result<Page, Failure> {
        let more = [("cursor", cursor.clone())];
        let input = {
            let scene = self.scene(inner.store.now());
            let input = sync
                .fetch
                .act
                .input
                .render(&names(&scene, &self.state, &more));
            input.map_err(|error| Failure::last(format!("fetch: {error}")))?
        };
        let task = Task {
            act: Arc::clone(&sync.fetch.act),
            input,
            class: Class::Read,
            scope: None,
            key: None,
            attempt: 1,
            timeout: DEFAULT_TIMEOUT,
        };
        match inner.perform.perform(&task, &Untraced).await {
            Outcome::Done(answer) => self.read_page(inner, sync, cursor, &answer),
            Outcome::Failed(failure) => Err(Failure {
                may_pass: failure.class.may_pass(),
                message: failure.message,
                asked: failure.retry_after,
            }),
            Outcome::Unknown { message, .. } => Err(Failure {
                message,
                may_pass: true,
                asked: None,
            }),
        }
    }

    fn read_page(
        &self,
        inner: &Inner,
        sync: &Sync,
        cursor: &Value,
        answer: &Said,
    ) -> Result<Page, Failure> {
        let scene = self.scene(inner.store.now());
        let mut said: Vec<(&str, Value)> = match &answer.names {
            Value::Map(members) => members
                .iter()
                .map(|(n, v)| (n.as_ref(), v.clone()))
                .collect(),
            _ => Vec::new(),
        };
        said.push(("cursor", cursor.clone()));
        let wrong = |field: &str, error: String| Failure::last(format!("{field}: {error}"));
        let items = {
            let names = names(&scene, &self.state, &said);
            match sync
                .items
                .eval(&names)
                .map_err(|e| wrong("items", e.to_string()))?
            {
                Value::List(items) => items.to_vec(),
                Value::Null => Vec::new(),
                other => return Err(wrong("items", format!("{} is no list", other.kind()))),
            }
        };
        if items.len() > MAX_PAGE {
            let count = items.len();
            return Err(Failure::last(format!(
                "a page has {count} items; the limit is {MAX_PAGE}"
            )));
        }
        said.push(("items", Value::list(items.clone())));
        let names = names(&scene, &self.state, &said);
        let next = match &sync.cursor {
            None => None,
            Some(expr) => match expr
                .eval(&names)
                .map_err(|e| wrong("cursor", e.to_string()))?
            {
                Value::Null => None,
                value => Some(value),
            },
        };
        let more = match &sync.more {
            Some(expr) => expr
                .holds(&names)
                .map_err(|e| wrong("more", e.to_string()))?,
            None => !items.is_empty() && next.as_ref().is_some_and(|next| next != cursor),
        };
        Ok(Page {
            items,
            cursor: next,
            more,
        })
    }

    async fn take_page(
        &mut self,
        inner: &Arc<Inner>,
        sync: &Sync,
        name: &str,
        was: Option<Box<str>>,
        page: Page,
    ) -> Result<More, Gone> {
        let before = self.journal.changes.len();
        if let Some(cursor) = &page.cursor {
            self.journal.changes.push(Change::Cursor(CursorChange {
                name: name.into(),
                was,
                becomes: cursor.to_json().into(),
            }));
        }
        let skip = self.journal.changes.len();
        let count = page.items.len();
        for item in page.items {
            match self.item(inner, sync, item) {
                Ok(start) => self.journal.changes.push(Change::Start(Box::new(start))),
                Err(error) => tracing::error!(%error, "an item cannot be started"),
            }
        }
        let mut contents = Vec::new();
        let result = Value::map([(
            "items",
            Value::Int(i64::try_from(count).unwrap_or(i64::MAX)),
        )]);
        let kept = Kept::new(result, &mut contents);
        self.note(Happening::Done(Box::new(Done {
            attempt: Some(1),
            ..Done::plain(FETCH.into(), kept)
        })));
        let answers = self.flush(inner).await?;
        let started = answers
            .iter()
            .skip(before.max(skip))
            .filter(|answer| is_new(answer))
            .count();
        inner.has_started(&self.compiled.flow);
        tracing::debug!(flow = %self.compiled.flow.name.it, items = count, started, "fetched a page");
        if page.more {
            return Ok(More::Yes);
        }
        self.end(
            inner,
            Ending::Done,
            format!("fetched; {started} of the last {count} items were new"),
            &[],
        )
        .await
    }

    /// One item's run; parked if it has no key.
    fn item(&self, inner: &Arc<Inner>, sync: &Sync, item: Value) -> Result<Start, StartError> {
        let now = inner.store.now();
        let key = {
            let scene = self.scene(now);
            let more = [("item", item.clone())];
            sync.key.key(&names(&scene, &self.state, &more))
        };
        let unkeyed = unkeyed(&item)?;
        let incoming = Incoming {
            compiled: &self.compiled,
            id: inner.store.new_run_id(),
            by: Origin::Sync,
            event: item,
            canonical: None,
            raw: None,
            headers: Headers::new(),
            at: self.state.opening.at,
            from: Some(self.identity.id.as_ref().into()),
            key: None,
            own_key: None,
            begin: false,
            remember: inner.settings.remember,
            now,
            fence: fence(),
        };
        let key = match key {
            Ok(key) => key,
            Err(fault) => return incoming.into_parked(unkeyed, &format!("key: {fault}")),
        };
        match incoming.lane() {
            Ok(_) => Incoming {
                key: Some(key),
                ..incoming
            }
            .into_start(),
            Err(error) => incoming.into_parked(key, &error.to_string()),
        }
    }

    async fn fetch_failed(&mut self, inner: &Arc<Inner>, failure: Failure) -> Result<More, Gone> {
        let now = inner.store.now();
        let known = self.state.steps.get(FETCH);
        let attempts = known.map_or(0, |step| step.attempts) + 1;
        let first_at = known.and_then(|step| step.first_at).unwrap_or(now);
        let tried = Tried {
            attempts,
            first_at,
            asked: failure.asked,
        };
        let policy = self.compiled.flow.retry.unwrap_or_default();
        let random = u64::from_le_bytes(semel_store::store::random_bytes());
        let again_at = retry::next(&policy, tried, now, random).filter(|_| failure.may_pass);
        self.note(Happening::Failed(Box::new(Failed {
            step: FETCH.into(),
            attempt: attempts,
            class: if failure.may_pass {
                semel_act::FailureClass::Transient
            } else {
                semel_act::FailureClass::Refused
            },
            message: failure.message.as_str().into(),
            at: now,
            again_at,
            maybe: false,
            usage: None,
        })));
        match again_at {
            Some(at) => {
                self.rest(inner, resting(RunState::Retrying, failure.message, at))
                    .await
            }
            None => {
                self.end(
                    inner,
                    Ending::Failed,
                    format!("fetch: {}", failure.message),
                    &[],
                )
                .await
            }
        }
    }
}

/// Why a page could not be had.
struct Failure {
    message: String,
    may_pass: bool,
    asked: Option<semel_ledger::Millis>,
}

impl Failure {
    fn last(message: String) -> Failure {
        Failure {
            message,
            may_pass: false,
            asked: None,
        }
    }
}

fn resting(state: RunState, why: String, wake: semel_ledger::Time) -> Rest {
    Rest {
        state,
        why,
        wake: Some(wake),
    }
}

fn is_new(answer: &Answer) -> bool {
    let Answer::Started(started) = answer else {
        return false;
    };
    let verdict = started.answered.as_ref().map(|answered| answered.verdict);
    matches!(started.outcome, StartOutcome::Started { .. }) || verdict == Some(Verdict::First)
}

/// What an item without a key is filed under: the same item again is the same.
fn unkeyed(item: &Value) -> Result<Key, KeyError> {
    let hash = blake3::hash(item.to_json().as_bytes()).to_hex();
    Key::from_parts(&["without-key", &hash[..32]])
}
