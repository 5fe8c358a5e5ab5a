//! Asking people for leave: one answer counts, a person's or that of their silence, whatever dies meanwhile.

use std::sync::Arc;

use semel_engine::journal::Note;
use semel_engine::load::fold;
use semel_engine::plan::What;
use semel_engine::state::{Gate, Phase};
use semel_engine::token::{Links, TokenKey};
use semel_flow::Value;
use semel_ledger::{
    Command, Decision, Digest, EffectId, Millis, Scope, State as EffectState, Time, Verdict,
};
use semel_store::run::{RunId, RunState};
use semel_store::{
    Answer, Change, Content, EffectChange, Location, ManualClock, Options, Record, Store,
};

use crate::world::{Node, Reply};

/// A payment that needs leave; what is asked depends on an earlier step.
fn pay(rules: &str) -> String {
    format!(
        "
name: pay
on: manual
key: pay/${{{{ event.id }}}}
retry: {{max: 1}}
steps:
  - {{id: price, http: {{get: 'http://w/price'}}, result: body.sum}}
  - id: ok
    approve:
      by: [ann, group:finance]
      ask: Pay ${{{{ steps.price.result }}}}?
      show: {{order: '${{{{ event.id }}}}'}}
      timeout: 48h
{rules}
  - {{id: pay, http: {{post: 'http://w/pay/${{{{ steps.ok.result.approved }}}}'}}}}
"
    )
}

const ESCALATE: &str =
    "      on_timeout: escalate\n      escalate: {by: [zoe], timeout: 24h, on_timeout: approve}";

/// A node on each kind of store, where time passes only when it is told to.
async fn nodes() -> Vec<(Node, Arc<ManualClock>, tempfile::TempDir)> {
    let mut nodes = Vec::new();
    for in_memory in [true, false] {
        let dir = tempfile::tempdir().expect("dir");
        let location = if in_memory {
            Location::Memory
        } else {
            Location::Sqlite(dir.path().join("semel.db"))
        };
        let clock = Arc::new(ManualClock::at(Time(1_767_225_600_000)));
        let options = Options {
            clock: Some(Arc::clone(&clock) as _),
            ..Options::default()
        };
        let store = Store::open(&location, options).await;
        let node = Node::on(Arc::new(store.expect("a store")), Arc::default(), None).await;
        nodes.push((node, clock, dir));
    }
    nodes
}

async fn asked(node: &Node, event: &str) -> RunId {
    node.world
        .will("http://w/price", &[Reply::Ok(r#"{"sum":10}"#)]);
    let run = node.start_by("pay", event, Some("max")).await;
    let run = run.expect("first");
    node.until(run, &[RunState::Waiting]).await;
    run
}

async fn gate(node: &Node, run: RunId) -> Gate {
    let loaded = node.engine.store().load_run(run).await.expect("readable");
    let folded = fold(node.engine.store(), &loaded.expect("a run").journal).await;
    match folded.expect("folded").state.phase("ok") {
        Some(Phase::Requested(gate)) => (**gate).clone(),
        other => panic!("{other:?}"),
    }
}

async fn record(node: &Node, gate: &Gate) -> Record {
    let scope = Scope::new(&gate.grant.scope).expect("a scope");
    let effect = EffectId::new(scope, gate.grant.key.parse().expect("a key"));
    let record = node.engine.store().load(&effect).await;
    record.expect("readable").expect("it is on record")
}

/// What is written when somebody answers; whoever waits is told in the same commit.
fn said(run: RunId, record: &Record, decision: Decision, by: &str, note: &str) -> Vec<Change> {
    let approved = decision == Decision::Happened;
    let result = approved.then(|| format!(r#"{{"approved":true,"by":["{by}"],"note":"{note}"}}"#));
    let command = Command::Decide {
        decision,
        attempt: Some(record.entry.attempt),
        digest: Digest::of_decision([Some(decision.name()), Some(by), Some(note)]),
    };
    let content = Content {
        result: result.map(Into::into),
        note: Some(note.into()),
        by: Some(by.into()),
        ..Content::default()
    };
    let decided = EffectChange {
        effect: record.effect.clone(),
        command,
        content,
    };
    let note = Note::Resume {
        by: by.into(),
        note: None,
    };
    let note = serde_json::to_string(&note).expect("JSON").into();
    vec![decided.into(), Change::Mail { run, note }]
}

async fn answer(node: &Node, run: RunId, gate: &Gate, decision: Decision, by: &str) -> Verdict {
    let changes = said(run, &record(node, gate).await, decision, by, "seen");
    let answers = node.engine.store().commit(changes).await.expect("written");
    node.engine.mail_came(run);
    node.engine.look();
    match answers.into_iter().next() {
        Some(Answer::Effect(answered)) => answered.verdict,
        other => panic!("{other:?}"),
    }
}

async fn result(node: &Node, run: RunId) -> String {
    let loaded = node.engine.store().load_run(run).await.expect("readable");
    let folded = fold(node.engine.store(), &loaded.expect("a run").journal).await;
    let state = folded.expect("folded").state;
    state.result("ok").map_or_else(String::new, Value::to_json)
}

/// The happenings of a run, as they are stored.
async fn told(node: &Node, run: RunId) -> String {
    let loaded = node.engine.store().load_run(run).await.expect("readable");
    let rows = loaded.expect("a run").journal;
    rows.iter().map(|row| &*row.row).collect()
}

const DECIDED: Verdict = Verdict::Decided { again: false };

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
        let mut moved = node.engine.follow();
        while !node
            .until(run, &[RunState::Waiting])
            .await
            .run
            .why
            .contains("zoe")
        {
            let _ = moved.recv().await;
        }
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
        let (third, _) = again(&node, second).await;
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
        let note = Note::Cancel { by: "ada".into() };
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
