//! A payment that needs leave, and people who answer.

use std::sync::Arc;

use semel_engine::journal::Note;
use semel_engine::load::fold;
use semel_engine::state::{Gate, Phase};
use semel_flow::Value;
use semel_ledger::{Command, Decision, Digest, EffectId, Scope, Time, Verdict};
use semel_store::run::{RunId, RunState};
use semel_store::{
    Answer, Change, Content, EffectChange, Location, ManualClock, Options, Record, Store,
};

use crate::world::{Node, Reply};

/// A payment that needs leave; what is asked depends on an earlier step.
pub(crate) fn pay(rules: &str) -> String {
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

pub(crate) const ESCALATE: &str =
    "      on_timeout: escalate\n      escalate: {by: [zoe], timeout: 24h, on_timeout: approve}";

/// A node on each kind of store, where time passes only when it is told to.
pub(crate) async fn nodes() -> Vec<(Node, Arc<ManualClock>, tempfile::TempDir)> {
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

pub(crate) async fn asked(node: &Node, event: &str) -> RunId {
    node.world
        .will("http://w/price", &[Reply::Ok(r#"{"sum":10}"#)]);
    let run = node.start_by("pay", event, Some("max")).await;
    let run = run.expect("first");
    node.until(run, &[RunState::Waiting]).await;
    run
}

pub(crate) async fn gate(node: &Node, run: RunId) -> Gate {
    let loaded = node.engine.store().load_run(run).await.expect("readable");
    let folded = fold(node.engine.store(), &loaded.expect("a run").journal).await;
    match folded.expect("folded").state.phase("ok") {
        Some(Phase::Requested(gate)) => (**gate).clone(),
        other => panic!("{other:?}"),
    }
}

pub(crate) async fn record(node: &Node, gate: &Gate) -> Record {
    let scope = Scope::new(&gate.grant.scope).expect("a scope");
    let effect = EffectId::new(scope, gate.grant.key.parse().expect("a key"));
    let record = node.engine.store().load(&effect).await;
    record.expect("readable").expect("it is on record")
}

/// What is written when somebody answers; whoever waits is told in the same commit.
pub(crate) fn said(
    run: RunId,
    record: &Record,
    decision: Decision,
    by: &str,
    note: &str,
) -> Vec<Change> {
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

pub(crate) async fn answer(
    node: &Node,
    run: RunId,
    gate: &Gate,
    decision: Decision,
    by: &str,
) -> Verdict {
    let changes = said(run, &record(node, gate).await, decision, by, "seen");
    let answers = node.engine.store().commit(changes).await.expect("written");
    node.engine.mail_came(run);
    node.engine.look();
    match answers.into_iter().next() {
        Some(Answer::Effect(answered)) => answered.verdict,
        other => panic!("{other:?}"),
    }
}

pub(crate) async fn result(node: &Node, run: RunId) -> String {
    let loaded = node.engine.store().load_run(run).await.expect("readable");
    let folded = fold(node.engine.store(), &loaded.expect("a run").journal).await;
    let state = folded.expect("folded").state;
    state.result("ok").map_or_else(String::new, Value::to_json)
}

/// The happenings of a run, as they are stored.
pub(crate) async fn told(node: &Node, run: RunId) -> String {
    let loaded = node.engine.store().load_run(run).await.expect("readable");
    let rows = loaded.expect("a run").journal;
    rows.iter().map(|row| &*row.row).collect()
}

pub(crate) const DECIDED: Verdict = Verdict::Decided { again: false };
