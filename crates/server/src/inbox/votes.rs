//! Votes for a request that needs more than one yes.
//!
//! Each yes but the last is an effect of its own, in a slot; the last one is the decision itself. Slots
//! are filled in order, and a slot once. So whoever fills one has seen all before it, nobody has two,
//! and between the last vote and the decision there is nothing that could get lost.

use semel_ledger::{Claim, Command, EffectId, Fence, Key, Millis, Owner, Scope, Time, Verdict};
use semel_store::blob::hex;
use semel_store::store::random_bytes;
use semel_store::{Content, EffectChange, Record};

use crate::app::App;
use crate::inbox::answer::Said;
use crate::inbox::item::Item;
use crate::inbox::request::Request;
use crate::problem::Problem;

/// The scope of votes.
const SCOPE: &str = "approval";

/// One yes.
#[derive(Clone, Debug)]
pub(crate) struct Vote {
    pub(crate) by: Box<str>,
    pub(crate) at: Time,
    pub(crate) note: Option<Box<str>>,
}

impl Vote {
    fn read(record: Record) -> Vote {
        Vote {
            by: record.by.unwrap_or_default(),
            at: record.entry.claimed_at,
            note: record.note,
        }
    }
}

/// The votes that an item has so far, in order.
pub(crate) async fn cast(app: &App, item: &Item) -> Result<Vec<Vote>, Problem> {
    let slots = item.request.as_ref().map_or(0, slots);
    let mut votes = Vec::new();
    for slot in 1..=slots {
        let Some(record) = app.store.load(&place(item, slot)?).await? else {
            break;
        };
        votes.push(Vote::read(record));
    }
    Ok(votes)
}

/// How many votes there can be before the one that decides.
pub(crate) fn slots(request: &Request) -> u32 {
    request.needed.max(1) - 1
}

/// Puts a yes into a slot, if nobody was faster.
pub(crate) async fn vote(app: &App, item: &Item, slot: u32, said: &Said) -> Result<bool, Problem> {
    let (name, note) = (&said.person.name, said.note.clone());
    let until = item.request.as_ref().map_or(Time(0), Request::until);
    let open = until.since(app.store.now());
    let claim = Claim {
        fence: Fence(random_bytes()),
        owner: Owner::Client,
        fingerprint: None,
        on_unknown: None,
        lease: Millis::seconds(1),
        // Until the request is over, and then as long as what it led to is looked at.
        remember: Millis(open.0.saturating_add(item.record.entry.remember.0)),
    };
    let result = serde_json::json!({"by": name, "note": note}).to_string();
    let content = Content {
        result: Some(result.into()),
        note,
        by: Some(name.clone()),
        ..Content::default()
    };
    let change = EffectChange {
        effect: place(item, slot)?,
        command: Command::Once(claim),
        content,
    };
    let answered = app.store.step(change).await?;
    Ok(answered.verdict == Verdict::First)
}

/// The effect that stands for a slot: of this request, asked this often.
fn place(item: &Item, slot: u32) -> Result<EffectId, Problem> {
    let of = hex(&item.record.effect.hash());
    let parts = [of, item.record.entry.attempt.to_string(), slot.to_string()];
    Ok(EffectId::new(Scope::new(SCOPE)?, Key::from_parts(&parts)?))
}
