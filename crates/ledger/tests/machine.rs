//! The machine against an independent model: any interleaving of claims, settlements, lost
//! leases, decisions and sweeps, under any clock, keeps every promise (B5, B7, C2, C3, F2).

mod model;
mod picture;

use model::history::History;
use model::{invariants, live, plans};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use std::collections::BTreeSet;

/// One property per promise, so that a red one names what broke.
macro_rules! promises {
    ($($name:ident),* $(,)?) => {
        proptest! {
            #![proptest_config(ProptestConfig {
                cases: 3_000,
                failure_persistence: None,
                ..ProptestConfig::default()
            })]
            $(
                #[test]
                fn $name(plan in plans()) {
                    let kept = invariants::$name(&live(&plan));
                    prop_assert!(kept.is_ok(), "{}", kept.unwrap_err());
                }
            )*

            #[test]
            fn every_answer_follows_from_the_history(plan in plans()) {
                let mut history = History::default();
                for moment in live(&plan) {
                    let due = history.expect(&moment.command, moment.now);
                    prop_assert_eq!(moment.step.verdict, due, "{:#?}", moment);
                    let stands = moment
                        .after
                        .filter(|entry| !model::trace::forgotten(entry, moment.now))
                        .map(|entry| (entry.state, entry.attempt as usize));
                    let known = history.standing();
                    // What is forgotten the moment it is settled is still to be forgotten.
                    prop_assert!(stands == known || stands.is_none(), "{:?} {:#?}", known, moment);
                }
            }
        }
    };
}

promises![
    one_grant_without_an_outcome_rule_or_decision,
    a_stale_fence_changes_nothing,
    done_is_never_claimed,
    unknown_is_claimed_only_by_rule_or_person,
    review_is_left_only_by_a_person,
    a_claim_is_granted_or_refused,
    nothing_open_is_swept,
    only_what_is_past_memory_goes,
    the_same_words_again_change_nothing,
    attempts_grow_by_one_per_grant,
    a_write_is_asked_for_only_when_something_changed,
    every_move_is_explained,
    a_lapse_seen_early_or_late_is_the_same,
    the_machine_has_no_memory_of_its_own,
];

/// A property that never meets a case holds for nothing: the plans must reach everything.
#[test]
fn plans_reach_every_arrow_and_every_answer() {
    let mut runner = TestRunner::deterministic();
    let mut arrows = BTreeSet::new();
    let mut answers = BTreeSet::new();
    for _ in 0..3_000 {
        let plan = plans().new_tree(&mut runner).expect("a plan").current();
        for moment in live(&plan) {
            answers.insert(format!("{:?}", moment.step.verdict));
            let moves = moment.step.transitions.iter();
            arrows.extend(moves.map(|step| (step.from, step.cause.name(), step.to)));
        }
    }
    assert_eq!(arrows, BTreeSet::from(invariants::ARROWS));
    // Seventeen words, two of which also come as `again`.
    assert_eq!(answers.len(), 19, "{answers:?}");
}
