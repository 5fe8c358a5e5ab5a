//! The steps of a flow as a table: what a repeat of each does, and who sees to it.

use super::index::blocks;
use super::policy::{longest, retry_of, rounded, window};
use crate::model::{Action, Block, Class, Flow, Kind, OnUnknown, Step, Wait};
use crate::written;

/// What there is to know about a step before it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Its id.
    pub step: String,
    /// How many steps it is inside of.
    pub depth: usize,
    /// Whether it stands in `on_failure`.
    pub on_failure: bool,
    /// What it does: `http`, `set`, …
    pub kind: &'static str,
    /// What a repeat does.
    pub class: Class,
    /// Which action it is in the ledger; none if the ledger keeps nothing of it.
    pub scope: Option<String>,
    /// Its key as it is written; left out, what it is then.
    pub key: Option<String>,
    /// What keeps it from happening twice.
    pub guard: String,
    /// What happens when nobody knows whether it happened.
    pub on_unknown: String,
    /// What is repeated and what is not.
    pub retry: String,
}

/// A row for every step, in the order of the file.
#[must_use]
pub fn table(flow: &Flow) -> Vec<Row> {
    let mut rows = Vec::new();
    let key = written::flow_key(flow);
    Rows {
        flow,
        on_failure: false,
        table: &mut rows,
    }
    .block(&flow.steps, 0, &key);
    Rows {
        flow,
        on_failure: true,
        table: &mut rows,
    }
    .block(&flow.on_failure, 0, &key);
    rows
}

struct Rows<'r, 'f> {
    flow: &'f Flow,
    on_failure: bool,
    table: &'r mut Vec<Row>,
}

impl Rows<'_, '_> {
    fn block(&mut self, block: &Block, depth: usize, run: &str) {
        for step in block {
            self.table.push(self.row(step, depth, run));
            let inner = written::inner_key(step, run);
            for block in blocks(step) {
                self.block(block, depth + 1, &inner);
            }
        }
    }

    fn row(&self, step: &Step, depth: usize, run: &str) -> Row {
        let class = step.class();
        let gate = matches!(step.action, Action::Approve(_));
        let effect = class.has_effect() || gate;
        let key = match &step.action {
            Action::ForEach(each) => Some(written::template(&each.key)),
            Action::Lock { name, .. } => Some(written::template(name)),
            _ => effect.then(|| written::step_key(step, run)),
        };
        Row {
            step: step.id.it.clone(),
            depth,
            on_failure: self.on_failure,
            kind: kind(step),
            class,
            scope: effect.then(|| step.scope_name(self.flow)),
            key,
            guard: guard(step, class),
            on_unknown: on_unknown(step, class),
            retry: retry(self.flow, step, class),
        }
    }
}

fn kind(step: &Step) -> &'static str {
    match &step.action {
        Action::Act(act) => act.kind.name(),
        Action::Ensure(_) => "ensure",
        Action::Set(_) => "set",
        Action::Switch { .. } => "switch",
        Action::ForEach(_) => "for_each",
        Action::Parallel(_) => "parallel",
        Action::Call { .. } => "call",
        Action::Emit { .. } => "emit",
        Action::Lock { .. } => "lock",
        Action::Stop { .. } => "stop",
        Action::Fail { .. } => "fail",
        Action::Approve(_) => "approve",
        Action::Wait(_) => "wait",
    }
}

fn guard(step: &Step, class: Class) -> String {
    match (&step.action, class) {
        (Action::Act(act), Class::Keyed) if act.kind == Kind::Kv => {
            "the ledger, in the commit that writes the value".to_owned()
        }
        (Action::Ensure(_), _) => "the ledger, and `find`".to_owned(),
        (Action::ForEach(_), _) => "the ledger, item by item".to_owned(),
        (Action::Call { .. }, _) => "the ledger, by the called run's key".to_owned(),
        (Action::Approve(_), _) => "the ledger, by what is asked".to_owned(),
        (Action::Emit { .. }, _) => "told when the step is recorded as done".to_owned(),
        (Action::Wait(Wait::Callback(_)), _) => "the ledger, the first callback counts".to_owned(),
        (_, Class::Pure) => "none needed: touches nothing".to_owned(),
        (_, Class::Read) => "none needed: only looks".to_owned(),
        (_, Class::Set) => "none needed: a repeat is harmless".to_owned(),
        (Action::Act(act), Class::Keyed) => match window(act) {
            Some((header, window)) => format!("the destination, by {header} for {window}"),
            None => "the destination, by our key".to_owned(),
        },
        (Action::Act(act), Class::Guarded) if act.main_name().is_some() => {
            "the ledger, by what is asked".to_owned()
        }
        (_, Class::Keyed | Class::Guarded) => "the ledger".to_owned(),
    }
}

/// Whether something outside is called: of everything else the outcome is always known.
fn is_call(step: &Step) -> bool {
    matches!(&step.action, Action::Act(act) if act.kind != Kind::Kv)
}

fn on_unknown(step: &Step, class: Class) -> String {
    if matches!(step.action, Action::Ensure(_)) {
        return "found or created again".to_owned();
    }
    if !is_call(step) || class == Class::Pure {
        return "–".to_owned();
    }
    let rule = step.on_unknown.as_ref().map(|rule| rule.it);
    let then = match (rule, class) {
        (Some(OnUnknown::Skip), _) => "it is taken as done".to_owned(),
        (Some(OnUnknown::Ask), _) => "a person is asked".to_owned(),
        (None, Class::Guarded) if step.rule() == OnUnknown::Ask => "a person is asked".to_owned(),
        (_, Class::Keyed) => match &step.action {
            Action::Act(act) if window(act).is_some() => {
                let window = window(act).map_or_else(String::new, |(_, it)| it.to_string());
                format!("again with the same key for {window}, then a person is asked")
            }
            _ => "again with the same key".to_owned(),
        },
        _ => "it is done again".to_owned(),
    };
    match &step.lookup {
        Some(lookup) => format!(
            "looked up after {}; if that cannot tell, {then}",
            lookup.settle
        ),
        None => then,
    }
}

fn retry(flow: &Flow, step: &Step, class: Class) -> String {
    let calls = is_call(step) || matches!(step.action, Action::Ensure(_));
    if !calls || class == Class::Pure {
        return "–".to_owned();
    }
    let policy = retry_of(flow, step);
    if policy.max <= 1 {
        return "nothing: one attempt".to_owned();
    }
    let timeout = step.time_limit();
    let blind = class != Class::Guarded || step.rule() == OnUnknown::Retry;
    let what = if blind {
        "never sent, put off, unknown"
    } else {
        "never sent, put off; not unknown"
    };
    let longest = rounded(longest(&policy, timeout));
    format!("{what}: {} attempts within {longest}", policy.max)
}
