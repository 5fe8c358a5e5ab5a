//! The picture at the top of the machine, walked arrow by arrow, and the words for everything.

use crate::model::{Moment, invariants::ARROWS};
use semel_ledger::{
    After, Cause, Claim, Command, Decision, Digest, Entry, Fence, Fingerprint, Millis, OnUnknown,
    Outcome, Owner, Request, State, Time, Verdict,
};
use std::collections::BTreeSet;

const NOW: Time = Time(10);
const FENCE: Fence = Fence([1; 16]);
const DIGEST: Digest = Digest([3; 16]);

fn asking(fence: Fence, on_unknown: Option<OnUnknown>) -> Claim {
    Claim {
        fence,
        owner: Owner::Client,
        fingerprint: None,
        on_unknown,
        lease: Millis(100),
        remember: Millis(1_000),
    }
}

fn claim(rule: OnUnknown) -> Command {
    Command::Claim(asking(Fence([9; 16]), Some(rule)))
}

fn once(rule: OnUnknown) -> Command {
    Command::Once(asking(Fence([9; 16]), Some(rule)))
}

fn request(fence: Fence, shown: u8) -> Command {
    Command::Request(Request {
        fence,
        fingerprint: Fingerprint([shown; 32]),
        remember: Millis(1_000),
    })
}

fn settle(outcome: Outcome) -> Command {
    Command::Settle {
        fence: FENCE,
        outcome,
        digest: DIGEST,
    }
}

fn decide(decision: Decision) -> Command {
    Command::Decide {
        decision,
        attempt: None,
        digest: Digest([4; 16]),
    }
}

/// An entry brought to a state by the machine itself.
fn standing(state: State) -> Option<Entry> {
    let then = match state {
        State::Claimed => vec![],
        State::Done => vec![settle(Outcome::Done)],
        State::Failed => vec![settle(Outcome::Failed)],
        State::Released => vec![settle(Outcome::Released)],
        State::Unknown => vec![settle(Outcome::Unknown)],
        State::Review => vec![settle(Outcome::Unknown), claim(OnUnknown::Ask)],
        State::Undone => vec![settle(Outcome::Done), Command::Undo { digest: DIGEST }],
    };
    let first = Command::Claim(asking(FENCE, None));
    let entry = std::iter::once(first)
        .chain(then)
        .fold(None, |entry, command| Moment::of(entry, command, NOW).after);
    assert_eq!(entry.map(|entry| entry.state), Some(state));
    entry
}

/// The command that walks an arrow.
fn walk(from: State, cause: &str, to: State) -> (Command, Time) {
    let command = match cause {
        "failed" => settle(Outcome::Failed),
        "released" => settle(Outcome::Released),
        "answer_lost" => settle(Outcome::Unknown),
        "lease_ran_out" => return (Command::Lapse, Time(110)),
        "owner_died" => Command::Abandon { fence: FENCE },
        "claimed_again" if to == State::Done => once(OnUnknown::Retry),
        "claimed_again" => claim(OnUnknown::Retry),
        "skipped" => claim(OnUnknown::Skip),
        "asked" => claim(OnUnknown::Ask),
        "decided_happened" => decide(Decision::Happened),
        "decided_failed" => decide(Decision::Failed),
        "decided_resend" => decide(Decision::Resend),
        "undone" => Command::Undo { digest: DIGEST },
        "requested" => request(Fence([9; 16]), 1),
        "imported" => Command::Import {
            at: NOW,
            remember: Millis::days(30),
        },
        _ => panic!("no command walks {from:?} --{cause}--> {to:?}"),
    };
    (command, NOW)
}

#[test]
fn every_arrow_can_be_walked() {
    for (from, cause, to) in ARROWS {
        let (command, now) = walk(from, cause, to);
        let moment = Moment::of(standing(from), command, now);
        let moves: Vec<_> = moment.step.transitions.iter().collect();
        assert_eq!(moves.len(), 1, "{from:?} --{cause}--> {to:?}: {moment:#?}");
        let walked = (moves[0].from, moves[0].cause.name(), moves[0].to);
        assert_eq!(walked, (from, cause, to));
        assert_eq!(moment.after.map(|entry| entry.state), Some(to));
    }
}

#[test]
fn every_cause_has_its_arrow() {
    for cause in Cause::ALL {
        let drawn = ARROWS.iter().any(|(_, name, _)| *name == cause.name());
        assert!(drawn, "{cause:?} is in no arrow");
    }
}

#[test]
fn the_arrows_without_a_cause_can_be_walked() {
    let first = Moment::of(None, claim(OnUnknown::Ask), NOW);
    assert!(matches!(first.step.after, After::Fresh(entry) if entry.state == State::Claimed));
    let first = Moment::of(None, once(OnUnknown::Ask), NOW);
    assert!(matches!(first.step.after, After::Fresh(entry) if entry.state == State::Done));
    let import = Command::Import {
        at: Time(1),
        remember: Millis(1_000),
    };
    let first = Moment::of(None, import, NOW);
    assert!(matches!(first.step.after, After::Fresh(entry) if entry.state == State::Done));
    let first = Moment::of(None, request(FENCE, 1), NOW);
    assert!(matches!(first.step.after, After::Fresh(entry) if entry.state == State::Review));
    let done = Moment::of(standing(State::Claimed), settle(Outcome::Done), NOW);
    assert_eq!(done.after.map(|entry| entry.state), Some(State::Done));
    assert!(done.step.transitions.is_empty());
}

/// An approval counts for exactly what was shown, and an open request is not asked twice.
#[test]
fn a_request_is_answered_for_what_it_shows() {
    let asked = Moment::of(None, request(FENCE, 1), NOW).after;
    let verdict = |entry, command| Moment::of(entry, command, NOW).step.verdict;
    let (other, again) = (Fence([8; 16]), request(FENCE, 1));
    assert_eq!(verdict(asked, again), Verdict::Asked);
    assert_eq!(verdict(asked, request(other, 1)), Verdict::Unknown);
    assert_eq!(verdict(asked, request(other, 2)), Verdict::Conflict);
    assert_eq!(verdict(asked, claim(OnUnknown::Retry)), Verdict::Unknown);
    let approved = Moment::of(asked, decide(Decision::Happened), NOW).after;
    assert_eq!(verdict(approved, again), Verdict::Done);
    assert_eq!(verdict(approved, request(other, 1)), Verdict::Done);
    assert_eq!(verdict(approved, request(other, 2)), Verdict::Conflict);
    // What was done without a word on its input was not approved.
    let elsewhere = standing(State::Done);
    assert_eq!(verdict(elsewhere, request(other, 1)), Verdict::Conflict);
    let rejected = Moment::of(asked, decide(Decision::Failed), NOW).after;
    assert_eq!(verdict(rejected, again), Verdict::Stale);
    assert_eq!(verdict(rejected, request(other, 2)), Verdict::Asked);
}

#[test]
fn what_is_settled_becomes_a_tombstone_and_is_then_forgotten() {
    let sweep = Command::Sweep { keep: Millis(500) };
    for state in State::ALL {
        let entry = standing(state);
        let kept = Moment::of(entry, sweep, Time(100));
        assert_eq!(kept.step.after, After::Same, "{state:?}");
        let buried = Moment::of(entry, sweep, Time(600));
        let tombstone = buried.after.is_some_and(|entry| entry.tombstone);
        assert_eq!(tombstone, !state.is_open(), "{state:?}");
        let gone = Moment::of(buried.after, sweep, Time(2_000));
        assert_eq!(gone.after.is_none(), !state.is_open(), "{state:?}");
    }
}

/// Each has a name of its own, and the name leads back to it.
fn assert_named<T: Copy + PartialEq + std::fmt::Debug>(
    all: &[T],
    name: impl Fn(T) -> &'static str,
    named: impl Fn(&str) -> Option<T>,
) {
    let words: BTreeSet<_> = all.iter().map(|one| name(*one)).collect();
    assert_eq!(words.len(), all.len(), "{all:?} share a name: {words:?}");
    for one in all {
        assert_eq!(named(name(*one)), Some(*one));
    }
    assert_eq!(named("no such name"), None);
}

#[test]
fn names_are_unique_and_lead_back() {
    use OnUnknown::{Ask, Retry, Skip};
    let outcomes = [
        Outcome::Done,
        Outcome::Failed,
        Outcome::Unknown,
        Outcome::Released,
    ];
    let decisions = [Decision::Happened, Decision::Resend, Decision::Failed];
    assert_named(&State::ALL, State::name, State::named);
    assert_named(&outcomes, Outcome::name, Outcome::named);
    assert_named(&decisions, Decision::name, Decision::named);
    assert_named(&[Ask, Retry, Skip], OnUnknown::name, OnUnknown::named);
    let cause = |name: &str| Cause::ALL.into_iter().find(|cause| cause.name() == name);
    assert_named(&Cause::ALL, Cause::name, cause);
}
