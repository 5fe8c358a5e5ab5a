//! Where a run is worked on: claim → perform → settle → advance, until it rests or is over.
//!
//! Owns carrying out what [`decide`](crate::decide) asks for, and the order of things around a
//! crash: what an act leads to is durable before anything that builds on it begins. Decides
//! nothing itself.
//!
//! The invariant: between two commits a run has either nothing under way, or acts whose claims are
//! durable, or acts whose repeat is harmless.

mod acts;
mod book;
mod children;
mod claims;
mod ending;
mod events;
mod fetch;
mod gates;
mod inspect;
mod kv;
mod locks;
mod settling;
mod undo;
mod waits;

use std::collections::HashSet;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use semel_ledger::Time;
use semel_store::node::Membership;
use semel_store::run::{Mail, RunId, RunState};
use semel_store::store::random_bytes;
use tokio::sync::Notify;

use crate::decide::{Decision, Move, Rest, Scene, decide};
use crate::engine::{Fresh, Inner};
use crate::flows::Compiled;
use crate::journal::{Happening, Note};
use crate::load;
use crate::names::{Identity, Outer};
use crate::state::{Phase, State};
use crate::timers;
use crate::token::Links;

pub(crate) use acts::Came;
use book::{Book, Gone};
pub(crate) use settling::settle;

/// A run in this node's hands.
pub(crate) struct Active {
    pub(crate) id: RunId,
    pub(crate) compiled: Arc<Compiled>,
    pub(crate) identity: Identity,
    pub(crate) outer: Option<Arc<Outer>>,
    pub(crate) parent: Option<RunId>,
    /// Its lane has not let it in: it may only be ended.
    pub(crate) waits: bool,
    pub(crate) state: State,
    pub(crate) journal: Book,
    /// Random, with how often it was used.
    seed: ([u8; 8], AtomicU64),
    acting: HashSet<Arc<str>>,
    /// How links to it are made.
    links: Links,
    /// Mail that points at something which is to be looked at.
    post: Vec<Note>,
    /// The steps for which events from before were looked for since it was taken up.
    looked_back: HashSet<Arc<str>>,
    /// Those who wait for the event that started it are told with its next row.
    announced: bool,
    /// Behind a lock that is never contended: the acts can be moved between threads, not shared.
    under_way: Mutex<FuturesUnordered<Act>>,
}

/// An act that is polled by its run's task.
type Act = Pin<Box<dyn Future<Output = Came> + Send>>;

/// Whether there is more to do now.
enum More {
    Yes,
    No,
}

impl Active {
    pub(crate) fn new(
        id: RunId,
        compiled: Arc<Compiled>,
        identity: Identity,
        state: State,
        (member, links): (Membership, Links),
    ) -> Active {
        Active {
            id,
            compiled,
            identity,
            outer: None,
            parent: None,
            waits: false,
            state,
            journal: Book::new(member),
            seed: (random_bytes(), AtomicU64::new(0)),
            acting: HashSet::new(),
            links,
            post: Vec::new(),
            looked_back: HashSet::new(),
            announced: false,
            under_way: Mutex::default(),
        }
    }

    /// A run that this node has just started.
    pub(crate) fn fresh(fresh: Fresh, member: Membership, links: Links) -> Active {
        let identity = Identity {
            id: fresh.id.text().into(),
            key: fresh.key,
        };
        let at = fresh.opening.at;
        let state = State::opened(fresh.opening);
        let mut active = Active::new(fresh.id, fresh.compiled, identity, state, (member, links));
        active.journal.rows = 1;
        active.journal.last_row_at = at;
        active
    }

    /// Folds in what became true; it is written with the next commit.
    pub(crate) fn note(&mut self, happening: Happening) {
        if let Happening::Done(done) = &happening {
            self.journal.changes.extend(self.taken_back_by(&done.step));
        }
        self.state.apply(&happening);
        self.journal.pending.push(happening);
    }

    /// Takes mail in.
    pub(crate) fn read(&mut self, mail: &[Mail]) {
        for note in load::notes(mail) {
            match note {
                Note::Cancel { by, undo } => self.note(Happening::Cancelled { by, undo }),
                Note::Resume { by, note } => self.resume(&by, note.as_deref()),
                // Whoever loaded the run may have seen it already.
                Note::Child { step } if self.waits_at(&step) => {
                    self.note(Happening::Returned { step });
                }
                Note::Child { .. } => {}
                note @ (Note::Callback { .. } | Note::Heard { .. }) => self.post.push(note),
            }
        }
        let last = mail.last().map(|mail| mail.seq);
        self.journal.read_mail = last.max(self.journal.read_mail);
    }

    fn waits_at(&self, step: &str) -> bool {
        matches!(self.state.phase(step), Some(Phase::Spawned(_)))
    }

    /// Whatever waits for a person, or for its next attempt, is looked at now.
    fn resume(&mut self, by: &str, note: Option<&str>) {
        let waits = |phase: &Phase| {
            matches!(
                phase,
                Phase::Parked { .. } | Phase::Ready { .. } | Phase::Requested(_)
            )
        };
        let steps: Vec<Arc<str>> = self
            .state
            .steps
            .iter()
            .filter(|(_, step)| waits(&step.phase))
            .map(|(id, _)| Arc::clone(id))
            .collect();
        for step in steps {
            self.note(Happening::Resumed {
                step,
                by: by.into(),
                note: note.map(Into::into),
            });
        }
    }

    fn scene(&self, now: Time) -> Scene<'_> {
        Scene {
            flow: &self.compiled.flow,
            identity: &self.identity,
            outer: self.outer.as_ref(),
            now,
            seed: self.seed(),
            last_row_at: self.journal.last_row_at,
            links: &self.links,
        }
    }

    /// Another one each time.
    fn seed(&self) -> [u8; 16] {
        let (random, used) = &self.seed;
        let mut seed = [0; 16];
        seed[..8].copy_from_slice(random);
        seed[8..].copy_from_slice(&used.fetch_add(1, Ordering::Relaxed).to_le_bytes());
        seed
    }

    fn decide(&mut self, inner: &Inner, now: Time) -> Decision {
        let seed = self.seed();
        let scene = Scene {
            flow: &self.compiled.flow,
            identity: &self.identity,
            outer: self.outer.as_ref(),
            now,
            seed,
            last_row_at: self.journal.last_row_at,
            links: &self.links,
        };
        decide(&scene, &*inner.perform, &mut self.state, &self.acting)
    }
}

/// Works on a run until it rests, is over, or is no longer this node's.
pub(crate) async fn work(inner: &Arc<Inner>, mut run: Box<Active>, called: &Notify) {
    loop {
        match run.go_on(inner, called).await {
            Ok(More::Yes) => {}
            Ok(More::No) => return,
            Err(gone) => {
                tracing::warn!(run = %run.identity.id, %gone, "let go of a run");
                return;
            }
        }
    }
}

impl Active {
    async fn go_on(&mut self, inner: &Arc<Inner>, called: &Notify) -> Result<More, Gone> {
        // Before the next step, not only while one is waited for: acts may follow without a pause.
        if has_mail(called).await {
            self.fetch_mail(inner).await;
        }
        self.open_post(inner).await?;
        self.look_back(inner).await?;
        self.announce_start(inner).await?;
        let now = inner.store.now();
        if self.waits && self.state.cancelled.is_none() {
            let rest = Rest {
                state: RunState::Queued,
                why: "waits for its turn".to_owned(),
                wake: None,
            };
            return self.rest(inner, rest).await;
        }
        if self.is_fetch() {
            return self.fetch(inner).await;
        }
        let Decision {
            happenings,
            contents,
            mut moves,
            rest,
        } = self.decide(inner, now);
        self.journal.pending.extend(happenings);
        self.journal.contents.extend(contents);
        if inner.is_stopping() && !matches!(moves.as_slice(), [Move::End { .. }]) {
            moves.clear();
        }
        if moves.is_empty() && self.acting.is_empty() {
            let rest = if inner.is_stopping() && rest.wake.is_none() {
                Rest {
                    wake: Some(now),
                    ..rest
                }
            } else {
                rest
            };
            return self.rest(inner, rest).await;
        }
        if moves.is_empty() {
            self.wait(inner, called, rest.wake).await?;
            return Ok(More::Yes);
        }
        self.carry_out(inner, moves).await
    }

    async fn carry_out(&mut self, inner: &Arc<Inner>, moves: Vec<Move>) -> Result<More, Gone> {
        let mut claims = Vec::new();
        for next in moves {
            match next {
                Move::Claim(call) => claims.push(*call),
                Move::Perform(call) => self.perform(inner, *call).await?,
                Move::Ask(call) => self.ask(inner, *call),
                Move::Update(call) => self.update(inner, *call),
                Move::Inspect { step, grant } => self.inspect(inner, &step, &grant).await?,
                Move::Conclude {
                    step,
                    effect,
                    happened,
                    result,
                } => {
                    self.conclude(inner, &step, effect, happened, result)
                        .await?;
                }
                Move::Forgotten { call, since, .. } => self.forgotten(inner, &call, since).await?,
                Move::Lock {
                    step,
                    effect,
                    fence,
                } => self.lock(inner, &step, effect, fence).await?,
                Move::Unlock { step, grant } => self.unlock(&step, &grant),
                Move::Spawn { step } => self.spawn(inner, &step).await?,
                Move::Collect { step } => self.collect(inner, &step).await?,
                Move::Settle { step, effect } => self.find_out(inner, &step, effect).await?,
                Move::Kv { call, asked } => self.kv(inner, &call, asked).await?,
                Move::End { how, why, held } => return self.end(inner, how, why, &held).await,
                Move::Listen { step, until } => self.listen(inner, &step, until).await?,
                Move::Expire { step } => self.expire(inner, &step).await?,
                Move::Request(rounds) => self.ask_for_leave(inner, rounds).await?,
                Move::Answer { step } => self.answer(inner, &step).await?,
                Move::Announce { step } => self.announce(inner, &step).await?,
            }
        }
        if !claims.is_empty() {
            self.claim(inner, claims).await?;
        }
        Ok(More::Yes)
    }

    /// Waits for an act to end, for mail, or for the time at which another branch goes on. What happened is durable
    /// before the wait, and what was read before anything leaves that it may be in.
    async fn wait(
        &mut self,
        inner: &Arc<Inner>,
        called: &Notify,
        wake: Option<Time>,
    ) -> Result<(), Gone> {
        if self.must_flush(inner.store.now()) {
            self.flush(inner).await?;
        }
        let wake = wake.into_iter().chain(self.flush_at()).min();
        let under_way = self.under_way.get_mut();
        let under_way = under_way.unwrap_or_else(PoisonError::into_inner);
        tokio::select! {
            biased;
            came = under_way.next() => {
                if let Some(came) = came {
                    self.came(inner, came);
                }
            }
            () = called.notified() => self.fetch_mail(inner).await,
            () = timers::until(inner, wake) => {}
        }
        Ok(())
    }

    async fn fetch_mail(&mut self, inner: &Arc<Inner>) {
        match inner.store.load_run(self.id).await {
            Ok(Some(loaded)) => {
                let seen = self.journal.read_mail.unwrap_or(0);
                let fresh: Vec<Mail> = loaded.mail.into_iter().filter(|m| m.seq > seen).collect();
                self.read(&fresh);
            }
            Ok(None) => {}
            Err(error) => {
                tracing::warn!(%error, "mail could not be read; it is when the run rests");
            }
        }
    }
}

/// Whether mail came since it was last looked for.
async fn has_mail(called: &Notify) -> bool {
    tokio::select! {
        biased;
        () = called.notified() => true,
        () = std::future::ready(()) => false,
    }
}
