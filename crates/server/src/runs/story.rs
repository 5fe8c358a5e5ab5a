//! A run with its journal, read once for whoever shows it.
//!
//! Long values stay where they are: what is shown of them is their name, so that a page stays small
//! whatever a run has carried.

use std::sync::Arc;

use semel_engine::journal::{self, Happening, Kept, Opening};
use semel_engine::state::State;
use semel_ledger::{EffectId, Key, Scope, Time};
use semel_store::Store;
use semel_store::run::{Loaded, Run, RunId};

use crate::code::Code;
use crate::out::Object;
use crate::problem::Problem;
use crate::runs::missing;

/// A run and all that happened to it.
#[derive(Debug)]
pub(crate) struct Story {
    pub(crate) run: Run,
    /// In order, each with when it was written.
    pub(crate) happenings: Vec<(Time, Happening)>,
    /// The same, folded; long values are not in it.
    pub(crate) state: State,
}

/// An effect that a step of a run asked for or made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Touched {
    pub(crate) step: Arc<str>,
    pub(crate) effect: EffectId,
}

impl Story {
    /// The story of a run that must be there.
    pub(crate) async fn load(store: &Store, id: RunId) -> Result<Story, Problem> {
        let loaded = store.load_run(id).await?;
        Story::of(loaded.ok_or_else(|| missing(&id.text()))?)
    }

    /// The story of a run that was read.
    pub(crate) fn of(loaded: Loaded) -> Result<Story, Problem> {
        let mut happenings = Vec::new();
        for row in &loaded.journal {
            let read = journal::read(row.at, &row.row).map_err(|error| {
                tracing::error!(run = %loaded.run.id.text(), %error, "a journal cannot be read");
                unreadable(&error.to_string())
            })?;
            happenings.extend(read.into_iter().map(|it| (row.written_at, it)));
        }
        let mut state = match happenings.first() {
            Some((_, Happening::Opened(opening))) => State::opened((**opening).clone()),
            _ => return Err(unreadable("its journal has no opening")),
        };
        for (_, happening) in happenings.iter().skip(1) {
            state.apply(happening);
        }
        Ok(Story {
            run: loaded.run,
            happenings,
            state,
        })
    }

    pub(crate) fn opening(&self) -> &Opening {
        &self.state.opening
    }

    /// The result of a step as it is kept.
    pub(crate) fn result(&self, step: &str) -> Option<&Kept> {
        let again = self.opening().again.as_ref();
        let reused = again.into_iter().flat_map(|again| &again.reuse);
        let reused = reused.map(|(step, result)| (step, result));
        let done = self.happenings.iter().filter_map(|(_, it)| match it {
            Happening::Done(done) => Some((&done.step, &done.result)),
            _ => None,
        });
        let named = |(name, _): &(&Arc<str>, &Kept)| ***name == *step;
        reused.chain(done).rfind(named).map(|(_, result)| result)
    }

    /// What a step asked of the world, where the ledger keeps no entry for it.
    pub(crate) fn asked(&self, step: &str) -> Option<&Kept> {
        let mut latest = self.happenings.iter().rev();
        latest.find_map(|(_, it)| match it {
            Happening::Done(done) if *done.step == *step => done.input.as_ref(),
            _ => None,
        })
    }

    /// The effects that its steps asked for or made, in order, each once.
    pub(crate) fn effects(&self) -> Vec<Touched> {
        let mut all: Vec<Touched> = Vec::new();
        for (_, happening) in &self.happenings {
            let (step, scope, key) = match happening {
                Happening::Asked {
                    step, scope, key, ..
                }
                | Happening::Parked {
                    step,
                    effect: Some((scope, key)),
                    ..
                } => (step, scope, key),
                Happening::Done(done) => match &done.effect {
                    Some((scope, key)) => (&done.step, scope, key),
                    None => continue,
                },
                Happening::Requested(asked) => (&asked.step, &asked.scope, &asked.key),
                _ => continue,
            };
            let (Ok(scope), Ok(key)) = (Scope::new(scope), key.parse::<Key>()) else {
                continue;
            };
            let touched = Touched {
                step: Arc::clone(step),
                effect: EffectId::new(scope, key),
            };
            if !all.contains(&touched) {
                all.push(touched);
            }
        }
        all
    }
}

/// A run whose journal this version does not understand.
pub(crate) fn unreadable(why: &str) -> Problem {
    Problem::new(
        Code::RunUnreadable,
        format!("the run cannot be read: {why}"),
    )
}

/// Writes a value, or the name of the blob that has it, as `name` and `name_blob`.
pub(crate) fn write_kept(out: &mut Object, name: &str, kept: Option<&Kept>) {
    let blob = format!("{name}_blob");
    match kept {
        Some(Kept::Is(value)) => out.raw(name, &value.to_json()).raw(&blob, "null"),
        Some(Kept::Blob(kept)) => out.raw(name, "null").hex(&blob, &kept.hash),
        Some(Kept::Long(long)) => out.raw(name, "null").hex(&blob, &long.0.hash),
        None => out.raw(name, "null").raw(&blob, "null"),
    };
}
