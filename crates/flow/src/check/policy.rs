//! Policies that do not fit what they are for: retention, windows, retries, claimed classes.
//!
//! Owns the codes `K009`, `K010` and `C011` to `C013`. Whether a repeat is safe comes from the class;
//! when to repeat comes from `retry`. Here both are held against each other, with the numbers.

use semel_ledger::Millis;

use crate::codes::{C011, C012, C013, K009, K010};
use crate::diagnostic::{Diagnostic, Level};
use crate::model::{Act, Action, Class, Flow, OnUnknown, Retry, Step, Trigger};

/// Keys that are forgotten before the sender gives up.
pub(super) fn check_memory(flow: &Flow) -> Vec<Diagnostic> {
    let Some(remember) = &flow.remember else {
        return Vec::new();
    };
    let hooks = flow.triggers.iter().filter_map(|trigger| match trigger {
        Trigger::Webhook(hook) => Some(&hook.verify.preset),
        _ => None,
    });
    let shorter = hooks.filter_map(|preset| {
        let horizon = preset.it.retry_horizon()?;
        (remember.it < horizon).then(|| {
            let name = preset.it.name();
            let title = format!("keys are remembered for less time than {name} sends again");
            let label = format!(
                "{}: what comes again after that starts a second run",
                remember.it
            );
            Diagnostic::warning(K009, remember.span, title, label)
                .also(preset.span, format!("sends again for up to {horizon}"))
                .help(format!("write remember: {horizon} or more"))
        })
    });
    shorter.collect()
}

/// What does not fit in a step.
pub(super) fn check_step(flow: &Flow, step: &Step) -> Vec<Diagnostic> {
    let found = [
        forgotten(flow, step),
        repeated(step),
        doubled(step),
        claimed(step),
    ];
    found.into_iter().flatten().collect()
}

/// The policy that applies to a step.
pub(super) fn retry_of(flow: &Flow, step: &Step) -> Retry {
    step.retry.or(flow.retry).unwrap_or_default()
}

/// The header and the window of a destination that dedupes on our key.
pub(crate) fn window(act: &Act) -> Option<(&str, Millis)> {
    let idempotency = act.member("idempotency")?;
    let header = idempotency.member("header")?.constant()?;
    let window = idempotency.member("window")?.constant()?.parse().ok()?;
    Some((header, window))
}

/// The longest time from the first attempt to the last: every pause at its longest, every attempt
/// until its timeout.
pub(super) fn longest(retry: &Retry, timeout: Millis) -> Millis {
    let mut pause = retry.first.0.min(retry.cap.0);
    let mut all = timeout.0;
    for _ in 1..retry.max {
        all = all.saturating_add(pause).saturating_add(timeout.0);
        pause = pause.saturating_mul(2).min(retry.cap.0);
    }
    match retry.within {
        Some(within) => Millis(all.min(within.0.saturating_add(timeout.0))),
        None => Millis(all),
    }
}

fn forgotten(flow: &Flow, step: &Step) -> Option<Diagnostic> {
    let Action::Act(act) = &step.action else {
        return None;
    };
    if step.class() != Class::Keyed {
        return None;
    }
    let (_, window) = window(act)?;
    let retry = retry_of(flow, step);
    let longest = longest(&retry, step.time_limit());
    if longest <= window {
        return None;
    }
    let at = if retry.span == crate::diagnostic::Span::default() {
        step.id.span
    } else {
        retry.span
    };
    let title = "the destination forgets the key before the retries end";
    let label = format!(
        "{} attempts may take {}; the key is remembered for {window}",
        retry.max,
        rounded(longest)
    );
    let found = Diagnostic::warning(K010, at, title, label);
    Some(
        found
            .also(act.span, format!("its window is {window}"))
            .help(format!("end them in time: retry: {{within: {window}}}"))
            .help("what is unknown after that is looked up if there is a `lookup`, else a person is asked"),
    )
}

/// What `retry` means on a guarded step.
fn repeated(step: &Step) -> Option<Diagnostic> {
    let retry = step.retry.as_ref()?;
    if step.class() != Class::Guarded
        || step.lookup.is_some()
        || matches!(step.action, Action::Ensure(_))
        || step.rule() != OnUnknown::Ask
    {
        return None;
    }
    let title = format!("`retry` does not repeat all failures of `{}`", step.id.it);
    let label = "repeats what was never sent or was put off (429, 503); not what may have happened";
    let mut found = Diagnostic::warning(C011, retry.span, title, label);
    found.level = Level::Note;
    Some(
        found
            .help("when the answer is lost a person is asked")
            .help("`lookup` finds out whether it happened; `idempotency` lets the destination drop repeats")
            .help("on_unknown: retry repeats it blindly: it may then happen twice"),
    )
}

fn doubled(step: &Step) -> Option<Diagnostic> {
    let rule = step.on_unknown.as_ref()?;
    let usual = matches!(&step.action, Action::Act(act) if act.usual_rule() == rule.it);
    if rule.it != OnUnknown::Retry || step.class() != Class::Guarded || usual {
        return None;
    }
    let title = format!("`{}` may happen twice", step.id.it);
    let label = "when the answer is lost it is done again, though it may have been done";
    let found = Diagnostic::warning(C012, rule.span, title, label);
    Some(if step.lookup.is_some() {
        found.help("`lookup` is asked first; this holds where it cannot tell. `ask` is safer")
    } else {
        found
            .help("`lookup` finds out whether it happened; `idempotency` lets the destination drop repeats")
            .help("on_unknown: ask lets a person decide")
    })
}

/// A class that promises more than the kind of step does.
fn claimed(step: &Step) -> Option<Diagnostic> {
    let effect = step.effect.as_ref()?;
    let Action::Act(act) = &step.action else {
        return None;
    };
    let own = act.class();
    if effect.it >= own {
        return None;
    }
    let what = match act.constant("method") {
        Some(method) => format!("a {method}"),
        None => format!("`{}`", step.id.it),
    };
    let title = format!("{what} is taken for `{}`", effect.it.name());
    let label = match effect.it {
        Class::Keyed => "nothing tells the destination our key".to_owned(),
        _ => format!(
            "it would be repeated freely; by its kind it is `{}`",
            own.name()
        ),
    };
    let found = Diagnostic::warning(C013, effect.span, title, label).also(act.span, "this request");
    Some(match effect.it {
        Class::Keyed => {
            found.help("write idempotency: {header: Idempotency-Key, window: 24h} under `http`")
        }
        _ => found.help(format!(
            "right only if a repeat changes nothing; else leave `effect` out: it is `{}`",
            own.name()
        )),
    })
}

/// Without the milliseconds that nobody wrote.
pub(super) fn rounded(span: Millis) -> Millis {
    match span.0 {
        0..60_000 => span,
        60_000..3_600_000 => Millis(span.0.div_ceil(1_000) * 1_000),
        _ => Millis(span.0.div_ceil(60_000) * 60_000),
    }
}
