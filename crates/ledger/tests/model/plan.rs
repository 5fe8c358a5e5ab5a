//! Plans: sequences of things that clients, owners, people and clocks may do to one effect.
//!
//! A plan is drawn before anything happens, so it names grants by how long ago they were asked
//! for; [`Plan::commands`] turns that into fences. Each new claim brings a fence of its own, as
//! the machine demands; only the same claim sent again brings the same one.

use proptest::prelude::*;
use proptest::sample::select;
use semel_ledger::{
    Claim, Command, Decision, Digest, Fence, Fingerprint, Millis, OnUnknown, Outcome, Owner,
    Process, Request, Time,
};

/// What somebody does.
#[derive(Clone, Copy, Debug)]
enum Deed {
    Claim(Claim),
    Once(Claim),
    /// The same claim (or question) as that many claims ago.
    Resend(usize),
    Heartbeat(usize, Millis),
    Settle(usize, Outcome, u8),
    Abandon(usize),
    Lapse,
    /// Of any attempt, or of the one with that number.
    Decide(Decision, u8, Option<u32>),
    Undo(u8),
    Import(i64, Millis),
    Sweep(Millis),
    Request(Request),
}

/// Deeds, each with how far the clock moved before it.
#[derive(Clone, Debug)]
pub(crate) struct Plan(Vec<(i64, Deed)>);

impl Plan {
    /// The commands of the plan, each with its time.
    pub(crate) fn commands(&self) -> Vec<(Time, Command)> {
        let mut now = Time(1_000);
        let mut asked: Vec<Command> = Vec::new();
        let mut commands = Vec::new();
        for (moved, deed) in &self.0 {
            now = Time(now.0 + moved);
            let command = command(deed, &asked, now);
            if matches!(deed, Deed::Claim(_) | Deed::Once(_) | Deed::Request(_)) {
                asked.push(command);
            }
            commands.push((now, command));
        }
        commands
    }
}

fn command(deed: &Deed, asked: &[Command], now: Time) -> Command {
    let fence = |ago: usize| earlier(asked, ago).unwrap_or(Fence([0xFF; 16]));
    match *deed {
        Deed::Claim(claim) => Command::Claim(Claim {
            fence: numbered(asked.len()),
            ..claim
        }),
        Deed::Once(claim) => Command::Once(Claim {
            fence: numbered(asked.len()),
            ..claim
        }),
        Deed::Request(request) => Command::Request(Request {
            fence: numbered(asked.len()),
            ..request
        }),
        Deed::Resend(ago) => match asked.len().checked_sub(ago + 1) {
            Some(index) => asked[index],
            None => Command::Lapse,
        },
        Deed::Heartbeat(ago, lease) => Command::Heartbeat {
            fence: fence(ago),
            lease,
        },
        Deed::Settle(ago, outcome, words) => Command::Settle {
            fence: fence(ago),
            outcome,
            digest: said(outcome.name(), words),
        },
        Deed::Abandon(ago) => Command::Abandon { fence: fence(ago) },
        Deed::Lapse => Command::Lapse,
        Deed::Decide(decision, words, attempt) => Command::Decide {
            decision,
            attempt,
            digest: Digest::of_decision([Some(decision.name()), Some(words.to_string().as_str())]),
        },
        Deed::Undo(words) => Command::Undo {
            digest: said("undo", words),
        },
        Deed::Import(ago, remember) => Command::Import {
            at: Time(now.0 - ago),
            remember,
        },
        Deed::Sweep(keep) => Command::Sweep { keep },
    }
}

fn earlier(asked: &[Command], ago: usize) -> Option<Fence> {
    match asked.get(asked.len().checked_sub(ago + 1)?)? {
        Command::Claim(claim) | Command::Once(claim) => Some(claim.fence),
        Command::Request(request) => Some(request.fence),
        _ => None,
    }
}

fn numbered(number: usize) -> Fence {
    let mut fence = [0; 16];
    fence[..8].copy_from_slice(&(number as u64 + 1).to_le_bytes());
    Fence(fence)
}

/// All that was said: what kind of thing, in which words.
fn said(kind: &str, words: u8) -> Digest {
    Digest::of_settlement([Some(kind), Some(words.to_string().as_str())])
}

/// Any plan of up to sixty deeds.
pub(crate) fn plans() -> impl Strategy<Value = Plan> {
    prop::collection::vec((clock(), deeds()), 0..60).prop_map(Plan)
}

fn clock() -> impl Strategy<Value = i64> {
    prop_oneof![
        4 => Just(0),
        8 => 1..15i64,
        3 => 15..80i64,
        1 => 80..400i64,
        2 => -12..0i64,
    ]
}

fn deeds() -> impl Strategy<Value = Deed> {
    let words = || 0..2u8;
    let outcomes = select(vec![
        Outcome::Done,
        Outcome::Failed,
        Outcome::Unknown,
        Outcome::Released,
    ]);
    let decisions = select(vec![Decision::Happened, Decision::Resend, Decision::Failed]);
    let attempts = select(vec![None, None, Some(1), Some(1), Some(2), Some(3)]);
    prop_oneof![
        10 => claims().prop_map(Deed::Claim),
        2 => claims().prop_map(Deed::Once),
        3 => ago().prop_map(Deed::Resend),
        3 => (ago(), spans(80)).prop_map(|(ago, lease)| Deed::Heartbeat(ago, lease)),
        8 => (ago(), outcomes, words()).prop_map(|(ago, how, words)| Deed::Settle(ago, how, words)),
        2 => ago().prop_map(Deed::Abandon),
        2 => Just(Deed::Lapse),
        5 => (decisions, words(), attempts).prop_map(|(how, words, of)| Deed::Decide(how, words, of)),
        1 => words().prop_map(Deed::Undo),
        1 => (0..500i64, spans(400)).prop_map(|(ago, remember)| Deed::Import(ago, remember)),
        3 => spans(200).prop_map(Deed::Sweep),
        3 => requests().prop_map(Deed::Request),
    ]
}

/// Mostly the latest claim, sometimes an older one, sometimes one that never was.
fn ago() -> impl Strategy<Value = usize> {
    prop_oneof![6 => Just(0), 2 => 1..4usize, 1 => 4..60usize]
}

fn spans(most: u64) -> impl Strategy<Value = Millis> {
    (0..most).prop_map(Millis)
}

fn claims() -> impl Strategy<Value = Claim> {
    let owners = select(vec![
        Owner::Client,
        Owner::Client,
        Owner::Process(Process {
            machine: [7; 16],
            pid: 4242,
            started: 99,
        }),
        Owner::Node { node: 1, epoch: 3 },
    ]);
    let rules = select(vec![
        None,
        Some(OnUnknown::Ask),
        Some(OnUnknown::Retry),
        Some(OnUnknown::Skip),
    ]);
    let inputs = select(vec![None, None, Some(1u8), Some(1), Some(2)]);
    let remembers = prop_oneof![spans(60), Just(Millis::days(30))];
    (owners, rules, inputs, spans(80), remembers).prop_map(
        |(owner, on_unknown, input, lease, remember)| Claim {
            fence: Fence::default(),
            owner,
            fingerprint: input.map(|byte| Fingerprint([byte; 32])),
            on_unknown,
            lease,
            remember,
        },
    )
}

fn requests() -> impl Strategy<Value = Request> {
    let shown = select(vec![1u8, 1, 2]);
    let remembers = prop_oneof![spans(60), Just(Millis::days(30))];
    (shown, remembers).prop_map(|(shown, remember)| Request {
        fence: Fence::default(),
        fingerprint: Fingerprint([shown; 32]),
        remember,
    })
}
