//! What an approval counts for: exactly what was shown, in whichever run, and nothing that somebody else made up.

use std::sync::Arc;

use semel_engine::journal::Note;
use semel_engine::plan::What;
use semel_engine::token::{Links, TokenKey};
use semel_flow::Value;
use semel_ledger::json::Canonical;
use semel_ledger::{Claim, Command, Decision, Fence, Millis, Owner, State as EffectState, Verdict};
use semel_store::run::{RunId, RunState};
use semel_store::{Content, EffectChange};

use crate::asking::{DECIDED, answer, asked, gate, nodes, pay, record, result, told};
use crate::world::{Node, Reply};

/// Does a run again; gives it and what the plan said about the gate.
async fn again(node: &Node, run: RunId) -> (RunId, What) {
    let live = node.engine.flows().live();
    let release = live.flows.get("pay").cloned();
    let plan = node
        .engine
        .plan(run, release.clone())
        .await
        .expect("a plan");
    let what = plan.steps.iter().find(|step| &*step.step == "ok");
    let what = what.expect("the gate").what;
    let run = node.engine.rerun(run, release, &plan.hash, "ada").await;
    (run.expect("again"), what)
}

#[tokio::test]
async fn an_approval_is_found_again_for_exactly_what_was_approved() {
    for (node, _, _dir) in nodes().await {
        let flow = pay("");
        node.deploy(&flow).await;
        node.world
            .will("http://w/pay/true", &[Reply::Refused, Reply::Refused]);
        let run = asked(&node, r#"{"id":1}"#).await;
        let approved = gate(&node, run).await;
        answer(&node, run, &approved, Decision::Happened, "ann").await;
        node.until(run, &[RunState::Failed]).await;
        // The same request: nobody is asked again.
        let (second, what) = again(&node, run).await;
        node.until(second, &[RunState::Failed]).await;
        assert_eq!(what, What::Reuse);
        let expected = r#"{"approved":true,"by":["ann"],"note":"seen"}"#;
        assert_eq!(result(&node, second).await, expected);
        assert!(told(&node, second).await.contains("an approval of ann"));
        assert_eq!(record(&node, &approved).await.entry.attempt, 1);
        // An earlier step changed, and with it what is asked: that approval is void.
        let changed = flow.replace("http://w/price", "http://w/price2");
        node.deploy(&changed).await;
        node.world
            .will("http://w/price2", &[Reply::Ok(r#"{"sum":99}"#)]);
        let (third, what) = again(&node, second).await;
        assert_eq!(what, What::Ask);
        let waiting = node
            .until(third, &[RunState::Waiting, RunState::Done])
            .await;
        assert_eq!(waiting.run.state, RunState::Waiting);
        let anew = gate(&node, third).await;
        assert_ne!(anew.grant.key, approved.grant.key);
        assert_eq!(
            anew.shown.get("ask").map(Value::shown).as_deref(),
            Some("Pay 99?")
        );
        assert_eq!(record(&node, &anew).await.entry.state, EffectState::Review);
        answer(&node, third, &anew, Decision::Happened, "ann").await;
        node.done(third).await;
        assert_eq!(node.world.saw("http://w/pay/true"), 1);
    }
}

#[tokio::test]
async fn a_rejected_request_is_asked_again_by_a_rerun() {
    for (node, _, _dir) in nodes().await {
        node.deploy(&pay("")).await;
        let run = asked(&node, r#"{"id":1}"#).await;
        let first = gate(&node, run).await;
        answer(&node, run, &first, Decision::Failed, "ann").await;
        node.until(run, &[RunState::Failed]).await;
        let (second, what) = again(&node, run).await;
        assert_eq!(what, What::Ask);
        node.until(second, &[RunState::Waiting]).await;
        let anew = gate(&node, second).await;
        assert_eq!(anew.grant.key, first.grant.key);
        assert_eq!(record(&node, &anew).await.entry.attempt, 2);
        answer(&node, second, &anew, Decision::Happened, "ann").await;
        node.done(second).await;
    }
}

#[tokio::test]
async fn two_runs_that_ask_the_same_get_one_answer() {
    for (node, _, _dir) in nodes().await {
        node.deploy(
            &pay("")
                .replace("    approve:", "    key: shared\n    approve:")
                .replace("event.id }}'}", "1 }}'}"),
        )
        .await;
        let first = asked(&node, r#"{"id":1}"#).await;
        let second = asked(&node, r#"{"id":2}"#).await;
        let (mine, theirs) = (gate(&node, first).await, gate(&node, second).await);
        assert_eq!(mine.grant.key, theirs.grant.key);
        assert_eq!(record(&node, &mine).await.entry.attempt, 1);
        assert_eq!(
            answer(&node, first, &mine, Decision::Happened, "ann").await,
            DECIDED
        );
        node.done(first).await;
        // Its receipt names it to whoever answers; it is told then.
        let note = Note::Resume {
            by: "ann".into(),
            note: None,
        };
        node.engine.tell(second, &note).await.expect("told");
        node.done(second).await;
        assert_eq!(node.world.saw("http://w/pay/true"), 2);
    }
}

#[tokio::test]
async fn a_run_that_is_cancelled_asks_no_more() {
    for (node, _, _dir) in nodes().await {
        node.deploy(&pay("")).await;
        let run = asked(&node, r#"{"id":1}"#).await;
        let open = gate(&node, run).await;
        let note = Note::Cancel {
            by: "ada".into(),
            undo: false,
        };
        node.engine.tell(run, &note).await.expect("told");
        node.until(run, &[RunState::Cancelled]).await;
        assert_eq!(
            record(&node, &open).await.entry.state,
            EffectState::Released
        );
        let late = answer(&node, run, &open, Decision::Happened, "ann").await;
        assert_eq!(late, Verdict::NotOpen);
    }
}

#[tokio::test]
async fn links_are_handed_out_before_anybody_is_asked() {
    let (node, _) = Node::with_clock().await;
    node.deploy(
        "
name: pay
on: manual
key: pay/${{ event.id }}
steps:
  - {id: ann, http: {post: 'http://w/tell?${{ approvals.ok.ann }}'}}
  - {id: bob, http: {post: 'http://w/tell?${{ approvals.ok.bob }}'}}
  - {id: ok, approve: {by: [ann, group:finance], ask: 'May it?', timeout: 1h}}
",
    )
    .await;
    let run = node.start("pay", r#"{"id":1}"#).await.expect("first");
    node.until(run, &[RunState::Waiting]).await;
    let links = Links::new("http://here", Arc::new(TokenKey::new(&[7; 32])));
    for person in ["ann", "bob"] {
        let link = links.approval(run, "ok", person).expect("a link");
        assert_eq!(
            node.world.saw(&format!("http://w/tell?{link}")),
            1,
            "{person}"
        );
    }
}

/// Whoever may claim effects can put something under the key of a request; it is no answer.
#[tokio::test]
async fn what_somebody_else_put_there_is_no_approval() {
    for (node, _, _dir) in nodes().await {
        node.deploy(&pay("")).await;
        let run = asked(&node, r#"{"id":1}"#).await;
        let open = gate(&node, run).await;
        answer(&node, run, &open, Decision::Failed, "ann").await;
        node.until(run, &[RunState::Failed]).await;
        let rejected = record(&node, &open).await;
        let forged = Claim {
            fence: Fence([9; 16]),
            owner: Owner::Client,
            fingerprint: rejected.entry.fingerprint,
            on_unknown: None,
            lease: Millis(0),
            remember: Millis::days(1),
        };
        let forged = EffectChange {
            effect: rejected.effect.clone(),
            command: Command::Once(forged),
            content: Content {
                input: Some(Canonical::read(b"{}").expect("JSON")),
                result: Some(r#"{"approved":true,"by":["ann"],"note":null}"#.into()),
                ..Content::default()
            },
        };
        let forged = node.engine.store().step(forged).await.expect("written");
        assert_eq!(forged.verdict, Verdict::First);
        let (second, _) = again(&node, run).await;
        let over = node
            .until(second, &[RunState::Failed, RunState::Done])
            .await
            .run;
        let why = "ok: its key stands in the ledger for something that is no request";
        assert_eq!((over.state, &*over.why), (RunState::Failed, why));
        assert_eq!(node.world.saw("http://w/pay/true"), 0);
    }
}
