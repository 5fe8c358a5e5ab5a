//! What a claim brings, read from a request: shared by guard and once.

use semel_ledger::json::Canonical;
use semel_ledger::{Claim, Fence, Fingerprint, Millis, OnUnknown, Owner, Process};
use semel_store::Content;
use semel_store::store::random_bytes;

use crate::app::Settings;
use crate::auth::Caller;
use crate::fields::Fields;
use crate::problem::Problem;

/// How long a claim may hold without a heartbeat.
pub(crate) const LEASE: (Millis, Millis) = (Millis::seconds(1), Millis::days(7));
/// How long a claim holds if it does not say.
pub(crate) const DEFAULT_LEASE: Millis = Millis::seconds(60);
/// How long an effect may protect.
pub(crate) const REMEMBER: (Millis, Millis) = (Millis::seconds(1), semel_ledger::time::LONGEST);
/// The rules for an unknown outcome.
const RULES: [&str; 3] = ["ask", "retry", "skip"];

/// A claim and the texts that come with it.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) claim: Claim,
    pub(crate) content: Content,
}

impl Asked {
    /// A claim that says nothing but its key.
    pub(crate) fn plain(settings: &Settings, caller: &Caller) -> Asked {
        Asked {
            claim: Claim {
                fence: Fence(random_bytes()),
                owner: Owner::Client,
                fingerprint: None,
                on_unknown: None,
                lease: DEFAULT_LEASE,
                remember: settings.remember,
            },
            content: Content {
                by: Some((*caller.name).into()),
                ..Content::default()
            },
        }
    }

    /// Takes over what the request says.
    pub(crate) fn read(&mut self, fields: &Fields<'_>) -> Result<(), Problem> {
        let Asked { claim, content } = self;
        if let Some(input) = fields.any("input") {
            let input = Canonical::trusted(input.into());
            claim.fingerprint = Some(Fingerprint::of(&input));
            content.input = Some(input);
        }
        if let Some(lease) = fields.span("lease", LEASE.0, LEASE.1)? {
            claim.lease = lease;
        }
        if let Some(remember) = fields.span("remember", REMEMBER.0, REMEMBER.1)? {
            claim.remember = remember;
        }
        claim.on_unknown = fields.word("on_unknown", OnUnknown::named, &RULES)?;
        if let Some(owner) = fields.name("owner")? {
            content.by = Some(owner);
        }
        if let Some(fence) = own_token(fields)? {
            claim.fence = fence;
        }
        if let Some(process) = fields.object("process", "process.")? {
            claim.owner = Owner::Process(read_process(&process)?);
        }
        Ok(())
    }
}

/// The caller's own name for this claim.
fn own_token(fields: &Fields<'_>) -> Result<Option<Fence>, Problem> {
    let token = fields.hex("token")?.map(Fence);
    // Imported effects carry this one, and nobody may speak as their claimant.
    if token == Some(Fence::default()) {
        return Err(fields.invalid("token", "must be random, not all zeros"));
    }
    Ok(token)
}

/// The token of the claim that the request speaks for.
pub(crate) fn read_token(fields: &Fields<'_>) -> Result<Fence, Problem> {
    let token = fields.hex("token")?.map(Fence);
    fields.need("token", token)
}

/// A process, as its owner names itself.
pub(crate) fn read_process(fields: &Fields<'_>) -> Result<Process, Problem> {
    fields.only(&["machine", "pid", "started"])?;
    let machine = fields.hex("machine")?;
    let (pid, started) = (fields.number("pid")?, fields.number("started")?);
    // What is stored is signed.
    if started.is_some_and(|started: u64| i64::try_from(started).is_err()) {
        return Err(fields.invalid("started", "is too large"));
    }
    Ok(Process {
        machine: fields.need("machine", machine)?,
        pid: fields.need("pid", pid)?,
        started: fields.need("started", started)?,
    })
}
