//! The promises, each over the moments of one life. A function returns `Err` with what broke it.

use super::trace::{Moment, forgotten};
use semel_ledger::{
    After, Claim, Command, Decision, Entry, Millis, OnUnknown, Outcome, Owner, State, Transition,
    Verdict,
};

type Kept = Result<(), String>;

fn broken(moment: &Moment) -> Kept {
    Err(format!("{moment:#?}"))
}

fn all(moments: &[Moment], keeps: impl Fn(&Moment) -> bool) -> Kept {
    match moments.iter().find(|moment| !keeps(moment)) {
        Some(moment) => broken(moment),
        None => Ok(()),
    }
}

/// What was claimed. A request claims without a rule or a lease.
fn claim_of(command: &Command) -> Option<Claim> {
    match command {
        Command::Claim(claim) | Command::Once(claim) => Some(*claim),
        Command::Request(request) => Some(Claim {
            fence: request.fence,
            owner: Owner::Client,
            fingerprint: Some(request.fingerprint),
            on_unknown: None,
            lease: Millis(0),
            remember: request.remember,
        }),
        _ => None,
    }
}

/// The rule that counts for a claim that meets an unknown outcome.
fn rule(moment: &Moment, granted: Option<&Claim>) -> OnUnknown {
    let mine = claim_of(&moment.command).and_then(|claim| claim.on_unknown);
    let earlier = granted.and_then(|claim| claim.on_unknown);
    mine.or(earlier).unwrap_or(OnUnknown::Ask)
}

/// The grant just given. A rule that it does not name is the one before it, while that is remembered.
fn grant(moment: &Moment, before: Option<Claim>) -> Option<Claim> {
    let before = before.filter(|_| moment.remembered().is_some());
    let claim = claim_of(&moment.command)?;
    let earlier = before.and_then(|claim| claim.on_unknown);
    Some(Claim {
        on_unknown: claim.on_unknown.or(earlier),
        ..claim
    })
}

/// Whether what was said between two grants permits the second.
fn permits(moment: &Moment) -> bool {
    let settled = moment.step.verdict == Verdict::Settled { again: false };
    let decided = moment.step.verdict == Verdict::Decided { again: false };
    match moment.command {
        Command::Settle { outcome, .. } => {
            settled && matches!(outcome, Outcome::Failed | Outcome::Released)
        }
        Command::Decide { decision, .. } => {
            decided && matches!(decision, Decision::Resend | Decision::Failed)
        }
        _ => false,
    }
}

pub(crate) fn one_grant_without_an_outcome_rule_or_decision(moments: &[Moment]) -> Kept {
    let mut granted: Option<Claim> = None;
    let mut permitted = true;
    for moment in moments {
        permitted |= permits(moment) || moment.remembered().is_none();
        if moment.is_new_grant() {
            let lost = moment.seen() == Some(State::Unknown);
            let by_rule = lost && rule(moment, granted.as_ref()) == OnUnknown::Retry;
            if !permitted && !by_rule {
                return broken(moment);
            }
            granted = grant(moment, granted);
            permitted = false;
        }
    }
    Ok(())
}

pub(crate) fn a_stale_fence_changes_nothing(moments: &[Moment]) -> Kept {
    let mut latest = None;
    for moment in moments {
        if moment.is_new_grant() {
            latest = claim_of(&moment.command).map(|claim| claim.fence);
        }
        let (Command::Heartbeat { fence, .. }
        | Command::Settle { fence, .. }
        | Command::Abandon { fence }) = moment.command
        else {
            continue;
        };
        let live = latest == Some(fence) && moment.seen() == Some(State::Claimed);
        // All that may change is that a lease that ran out is written down, whoever asks.
        let untouched = Moment::of(moment.before, Command::Lapse, moment.now).after;
        let refused = matches!(
            moment.step.verdict,
            Verdict::Stale | Verdict::Missing | Verdict::Settled { again: true }
        );
        let harmless = refused && moment.after == untouched;
        if !live && !harmless {
            return broken(moment);
        }
    }
    Ok(())
}

pub(crate) fn done_is_never_claimed(moments: &[Moment]) -> Kept {
    all(moments, |moment| match moment.seen() {
        Some(State::Done) => moment.after.is_some_and(|entry| {
            let undone = entry.state == State::Undone;
            entry.state == State::Done || undone && matches!(moment.command, Command::Undo { .. })
        }),
        Some(State::Undone) => moment
            .after
            .is_some_and(|entry| entry.state == State::Undone),
        _ => true,
    })
}

pub(crate) fn unknown_is_claimed_only_by_rule_or_person(moments: &[Moment]) -> Kept {
    let mut granted: Option<Claim> = None;
    for moment in moments {
        let acted = moment.is_new_grant();
        let seen = moment.seen();
        let by_rule = rule(moment, granted.as_ref()) == OnUnknown::Retry;
        if acted && (seen == Some(State::Review) || seen == Some(State::Unknown) && !by_rule) {
            return broken(moment);
        }
        if acted {
            granted = grant(moment, granted);
        }
    }
    Ok(())
}

pub(crate) fn review_is_left_only_by_a_person(moments: &[Moment]) -> Kept {
    all(moments, |moment| {
        let person = matches!(moment.command, Command::Decide { .. });
        moment.seen() != Some(State::Review) || person || moment.after == moment.before
    })
}

pub(crate) fn a_claim_is_granted_or_refused(moments: &[Moment]) -> Kept {
    all(moments, |moment| {
        let Some(claim) = claim_of(&moment.command) else {
            return !moment.step.verdict.is_refusal() && !moment.step.verdict.is_grant();
        };
        let (word, state) = match moment.command {
            Command::Once(_) => (Verdict::First, State::Done),
            Command::Request(_) => (Verdict::Asked, State::Review),
            _ => (Verdict::Granted, State::Claimed),
        };
        let after = moment.after.map(|entry| (entry.fence, entry.state));
        if moment.step.verdict.is_refusal() || moment.step.verdict == Verdict::Stale {
            // Whoever is refused holds nothing afterwards.
            let before = moment.before.map(|entry| (entry.fence, entry.attempt));
            before == moment.after.map(|entry| (entry.fence, entry.attempt))
        } else {
            moment.step.verdict == word && after == Some((claim.fence, state))
        }
    })
}

pub(crate) fn nothing_open_is_swept(moments: &[Moment]) -> Kept {
    all(moments, |moment| {
        let open = moment.seen().is_some_and(State::is_open);
        let buried = moment.after.is_none_or(|entry| entry.tombstone);
        let swept = matches!(moment.command, Command::Sweep { .. });
        let moved = moment.after.map(|entry| entry.state) != moment.seen();
        !(open && swept && (buried || moved))
    })
}

pub(crate) fn only_what_is_past_memory_goes(moments: &[Moment]) -> Kept {
    all(moments, |moment| {
        let past = moment.before.map(|entry| forgotten(&entry, moment.now));
        match moment.step.after {
            After::Gone => matches!(moment.command, Command::Sweep { .. }) && past == Some(true),
            After::Fresh(_) => past != Some(false),
            After::Put(_) => past == Some(false),
            After::Same => true,
        }
    })
}

pub(crate) fn the_same_words_again_change_nothing(moments: &[Moment]) -> Kept {
    all(moments, |moment| {
        let repeat = match moment.step.verdict {
            Verdict::Settled { .. } => Verdict::Settled { again: true },
            Verdict::Decided { .. } => Verdict::Decided { again: true },
            Verdict::Granted => Verdict::Granted,
            Verdict::First => Verdict::First,
            Verdict::Asked => Verdict::Asked,
            _ => return true,
        };
        let again = Moment::of(moment.after, moment.command, moment.now);
        let over = again.seen().is_none() || again.seen() == Some(State::Unknown);
        let lost = repeat == Verdict::Granted && over || again.remembered().is_none();
        lost || again.step.verdict == repeat
            && again.step.after == After::Same
            && again.step.transitions.is_empty()
    })
}

pub(crate) fn attempts_grow_by_one_per_grant(moments: &[Moment]) -> Kept {
    all(moments, |moment| {
        let before = moment.remembered().map_or(0, |entry| entry.attempt);
        let after = moment.after.map_or(0, |entry| entry.attempt);
        let fresh = matches!(moment.step.after, After::Fresh(_));
        match moment.command {
            _ if moment.is_new_grant() => after == before + 1,
            Command::Import { .. } if fresh => after == 0,
            _ => moment.after.is_none() || after == moment.before.map_or(0, |entry| entry.attempt),
        }
    })
}

pub(crate) fn a_write_is_asked_for_only_when_something_changed(moments: &[Moment]) -> Kept {
    all(moments, |moment| match moment.step.after {
        After::Same => moment.step.transitions.is_empty(),
        After::Put(entry) => moment.before != Some(entry),
        After::Fresh(_) => true,
        After::Gone => moment.before.is_some(),
    })
}

pub(crate) fn every_move_is_explained(moments: &[Moment]) -> Kept {
    all(moments, |moment| {
        let moves = &moment.step.transitions;
        let from = moment.remembered().map(|entry| entry.state);
        let to = moment.after.map(|entry| entry.state);
        let chained = moves.windows(2).all(|pair| pair[0].to == pair[1].from);
        let (Some(first), Some(last)) = (moves.first(), moves.last()) else {
            let settled = matches!(
                moment.command,
                Command::Settle {
                    outcome: Outcome::Done,
                    ..
                }
            );
            let done = settled && (from, to) == (Some(State::Claimed), Some(State::Done));
            return from.is_none() || from == to || done;
        };
        let ends = Some(first.from) == from && Some(last.to) == to;
        let attempt = moment.after.map(|entry| entry.attempt) == Some(last.attempt);
        chained && ends && attempt && moves.iter().all(is_in_the_picture)
    })
}

/// The arrows of the picture at the top of the machine, by name.
pub(crate) const ARROWS: [(State, &str, State); 24] = {
    use State::{Claimed, Done, Failed, Released, Review, Undone, Unknown};
    [
        (Claimed, "failed", Failed),
        (Claimed, "released", Released),
        (Claimed, "answer_lost", Unknown),
        (Claimed, "lease_ran_out", Unknown),
        (Claimed, "owner_died", Unknown),
        (Failed, "claimed_again", Claimed),
        (Failed, "claimed_again", Done),
        (Released, "claimed_again", Claimed),
        (Released, "claimed_again", Done),
        (Unknown, "claimed_again", Claimed),
        (Unknown, "claimed_again", Done),
        (Unknown, "skipped", Done),
        (Unknown, "asked", Review),
        (Unknown, "decided_happened", Done),
        (Unknown, "decided_failed", Failed),
        (Unknown, "decided_resend", Released),
        (Review, "decided_happened", Done),
        (Review, "decided_failed", Failed),
        (Review, "decided_resend", Released),
        (Done, "undone", Undone),
        (Failed, "imported", Done),
        (Released, "imported", Done),
        (Failed, "requested", Review),
        (Released, "requested", Review),
    ]
};

fn is_in_the_picture(step: &Transition) -> bool {
    ARROWS.contains(&(step.from, step.cause.name(), step.to))
}

/// Writing a lapse down the moment it happens leads to the same answers as noticing it late.
pub(crate) fn a_lapse_seen_early_or_late_is_the_same(moments: &[Moment]) -> Kept {
    let mut early = None;
    for moment in moments {
        let over = early.map_or(moment.now, |entry: Entry| entry.lease_until);
        let lapse = Moment::of(early, Command::Lapse, over.min(moment.now));
        let then = Moment::of(lapse.after, moment.command, moment.now);
        early = then.after;
        let mut moves = lapse.step.transitions;
        moves.extend(then.step.transitions);
        // A duty that finds nothing left to do says so; every other answer is the same.
        let swept = lapse.step.verdict == Verdict::Swept && then.step.verdict == Verdict::Kept;
        let verdict = if swept {
            Verdict::Swept
        } else {
            then.step.verdict
        };
        let same = verdict == moment.step.verdict && moves == moment.step.transitions;
        if !same || early != moment.after {
            return broken(moment);
        }
    }
    Ok(())
}

pub(crate) fn the_machine_has_no_memory_of_its_own(moments: &[Moment]) -> Kept {
    all(moments, |moment| {
        let again = Moment::of(moment.before, moment.command, moment.now);
        again.step == moment.step
    })
}
