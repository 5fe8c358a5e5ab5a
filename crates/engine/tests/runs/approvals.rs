//! Asking people for leave: one answer counts, a person's or that of their silence, whatever dies meanwhile.

use semel_ledger::{Decision, Millis, State as EffectState, Verdict};
use semel_store::run::RunState;

use crate::asking::{
    DECIDED, ESCALATE, answer, asked, gate, nodes, pay, record, result, said, told,
};
use crate::world::Node;

#[tokio::test]
async fn a_yes_lets_the_run_go_on_and_people_see_what_was_asked() {
    for (node, _, _dir) in nodes().await {
        node.deploy(&pay("")).await;
        let run = asked(&node, r#"{"id":1}"#).await;
        let waiting = node.until(run, &[RunState::Waiting]).await.run;
        let why = "ok: waits for 1 of ann, group:finance until 2026-01-03T00:00:00Z";
        assert_eq!(&*waiting.why, why);
        let gate = gate(&node, run).await;
        let open = record(&node, &gate).await;
        assert_eq!(open.entry.state, EffectState::Review);
        assert_eq!(open.by.as_deref(), Some(&*run.text()));
        let input = node.engine.store().text(open.input.as_ref().expect("kept"));
        let input = input.await.expect("readable").expect("text");
        let run_id = run.text();
        assert_eq!(
            &*input,
            format!(
                r#"{{"approve":{{"allow_maker":false,"ask":"Pay 10?","by":["ann","group:finance"],"flow":"pay","maker":"max","needed":1,"round":1,"run":"{run_id}","show":{{"order":1}},"step":"ok","until":1767398400000}}}}"#
            )
        );
        assert!(open.effect.key.as_str().starts_with("pay/1/ok/"));
        assert_eq!(
            answer(&node, run, &gate, Decision::Happened, "ann").await,
            DECIDED
        );
        node.done(run).await;
        let expected = r#"{"approved":true,"by":["ann"],"note":"seen"}"#;
        assert_eq!(result(&node, run).await, expected);
        assert_eq!(node.world.saw("http://w/pay/true"), 1);
        assert!(told(&node, run).await.contains("approved by ann"));
    }
}

#[tokio::test]
async fn a_no_fails_stops_or_is_seen_by_later_steps() {
    for (rule, state, why, paid) in [
        ("fail", RunState::Failed, "ok: rejected by ann: seen", 0),
        ("stop", RunState::Done, "rejected by ann: seen", 0),
        ("go_on", RunState::Done, "done", 1),
    ] {
        for (node, _, _dir) in nodes().await {
            node.deploy(&pay(&format!("      on_reject: {rule}"))).await;
            let run = asked(&node, r#"{"id":1}"#).await;
            let gate = gate(&node, run).await;
            answer(&node, run, &gate, Decision::Failed, "ann").await;
            let over = node
                .until(run, &[RunState::Done, RunState::Failed])
                .await
                .run;
            assert_eq!((over.state, &*over.why), (state, why), "{rule}");
            assert_eq!(node.world.saw("http://w/pay/false"), paid);
            assert_eq!(node.world.saw("http://w/pay/true"), 0);
            if paid == 1 {
                let expected = r#"{"approved":false,"by":["ann"],"note":"seen"}"#;
                assert_eq!(result(&node, run).await, expected);
            }
        }
    }
}

#[tokio::test]
async fn silence_counts_as_the_file_says_and_whoever_comes_late_changes_nothing() {
    for (rule, state, why) in [
        ("approve", RunState::Done, "done"),
        (
            "reject",
            RunState::Failed,
            "ok: rejected by timeout: nobody answered within 2d",
        ),
    ] {
        for (node, clock, _dir) in nodes().await {
            node.deploy(&pay(&format!("      on_timeout: {rule}")))
                .await;
            let run = asked(&node, r#"{"id":1}"#).await;
            let gate = gate(&node, run).await;
            clock.advance(Millis::days(2));
            node.engine.look();
            let over = node
                .until(run, &[RunState::Done, RunState::Failed])
                .await
                .run;
            assert_eq!((over.state, &*over.why), (state, why));
            for late in [Decision::Happened, Decision::Failed] {
                let verdict = answer(&node, run, &gate, late, "ann").await;
                assert_eq!(verdict, Verdict::NotOpen, "{rule}");
            }
            let paid = u32::from(rule == "approve");
            assert_eq!(node.world.saw("http://w/pay/true"), paid);
        }
    }
}

/// The answer is on record before the time is over, although nobody looked at it until after.
#[tokio::test]
async fn a_person_who_was_faster_than_the_time_counts() {
    for (node, clock, _dir) in nodes().await {
        node.deploy(&pay("      on_timeout: reject")).await;
        let run = asked(&node, r#"{"id":1}"#).await;
        let gate = gate(&node, run).await;
        let open = record(&node, &gate).await;
        let (store, world) = node.kill();
        clock.advance(Millis(2 * 86_400_000 - 1));
        let changes = said(run, &open, Decision::Happened, "ann", "just so");
        store
            .commit_as(store.member().expect("a member"), changes)
            .await
            .expect("written");
        clock.advance(Millis::days(9));
        let node = Node::on(store, world, None).await;
        node.done(run).await;
        assert_eq!(node.world.saw("http://w/pay/true"), 1);
        assert!(told(&node, run).await.contains("approved by ann"));
    }
}

#[tokio::test]
async fn others_are_asked_when_nobody_answered_and_the_first_ones_can_no_longer() {
    for (node, clock, _dir) in nodes().await {
        node.deploy(&pay(ESCALATE)).await;
        let run = asked(&node, r#"{"id":1}"#).await;
        let first = gate(&node, run).await;
        clock.advance(Millis::days(2));
        node.engine.look();
        node.waits_saying(run, "zoe").await;
        let second = gate(&node, run).await;
        assert_eq!((first.round, second.round), (1, 2));
        assert_ne!(first.grant.key, second.grant.key);
        assert!(second.grant.key.ends_with("/2"), "{}", second.grant.key);
        let late = answer(&node, run, &first, Decision::Happened, "ann").await;
        assert_eq!(late, Verdict::NotOpen);
        assert_eq!(
            answer(&node, run, &second, Decision::Happened, "zoe").await,
            DECIDED
        );
        node.done(run).await;
        assert_eq!(node.world.saw("http://w/pay/true"), 1);
        assert!(result(&node, run).await.contains("zoe"));
    }
}

/// The node decides by its rule, and dies before it has written what follows.
#[tokio::test]
async fn a_node_that_dies_behind_its_own_decision_is_followed_by_one_that_finds_it() {
    for (rules, decision, end) in [
        ("      on_timeout: approve", Decision::Happened, "done"),
        (
            "      on_timeout: reject",
            Decision::Failed,
            "ok: rejected by timeout: late",
        ),
        (
            ESCALATE,
            Decision::Resend,
            "ok: waits for 1 of zoe until 2026-01-04T00:00:00Z",
        ),
    ] {
        for (node, clock, _dir) in nodes().await {
            node.deploy(&pay(rules)).await;
            let run = asked(&node, r#"{"id":1}"#).await;
            let open = record(&node, &gate(&node, run).await).await;
            let (store, world) = node.kill();
            clock.advance(Millis::days(2));
            let mut changes = said(run, &open, decision, "timeout", "late");
            changes.truncate(1);
            store
                .commit_as(store.member().expect("a member"), changes)
                .await
                .expect("written");
            let node = Node::on(store, world, None).await;
            let mut moved = node.engine.follow();
            loop {
                let states = [RunState::Done, RunState::Failed, RunState::Waiting];
                if &*node.until(run, &states).await.run.why == end {
                    break;
                }
                let _ = moved.recv().await;
            }
        }
    }
}

#[tokio::test]
async fn a_request_survives_any_number_of_kills_and_is_asked_once() {
    for (node, clock, _dir) in nodes().await {
        node.deploy(&pay("")).await;
        let run = asked(&node, r#"{"id":1}"#).await;
        let first = gate(&node, run).await;
        let mut node = node;
        for _ in 0..3 {
            let (store, world) = node.kill();
            clock.advance(Millis::seconds(60));
            node = Node::on(store, world, None).await;
            node.until(run, &[RunState::Waiting]).await;
        }
        let again = gate(&node, run).await;
        assert_eq!((&again.grant, again.until), (&first.grant, first.until));
        assert_eq!(record(&node, &again).await.entry.attempt, 1);
        answer(&node, run, &again, Decision::Happened, "ann").await;
        node.done(run).await;
        assert_eq!(node.world.saw("http://w/price"), 1);
        assert_eq!(node.world.saw("http://w/pay/true"), 1);
    }
}
