//! What was proved, for people and for programs: a matrix, and a story for each thing that went wrong.

use std::path::Path;
use std::time::Duration;

use semel_flow::model::{Class, OnUnknown, Step};
use semel_prove::{Family, Finding, Proof, Schedule, Stage, Verdict};
use serde_json::{Value, json};

use crate::term::{Paint, Tone, print_line, shown};

/// A proof with all that is told about it.
pub(super) struct Told<'a> {
    pub(super) proof: &'a Proof,
    pub(super) stage: &'a Stage,
    pub(super) file: &'a Path,
    pub(super) made_up: bool,
    pub(super) replay: Option<&'a Schedule>,
    pub(super) took: Duration,
}

fn word(verdict: Verdict) -> (String, Tone) {
    match verdict {
        Verdict::Unreached => ("–".to_owned(), Tone::Dim),
        Verdict::Once => ("once".to_owned(), Tone::Good),
        Verdict::Skipped => ("skipped".to_owned(), Tone::Doubt),
        Verdict::Parked => ("asks".to_owned(), Tone::Doubt),
        Verdict::Missing => ("MISSING".to_owned(), Tone::Bad),
        Verdict::Twice(more) => (format!("{}×", more + 1), Tone::Bad),
    }
}

impl Told<'_> {
    /// For programs.
    pub(super) fn document(&self) -> Value {
        let proof = self.proof;
        let cells = proof.cells.iter().map(|((step, family), (verdict, tries))| {
            json!({"step": **step, "family": family.name(), "verdict": name(*verdict), "tries": tries})
        });
        let findings = proof.findings.iter().map(|((_, family), finding)| {
            let story = finding
                .story
                .iter()
                .map(|line| json!({"at_ms": line.at, "what": line.what}));
            json!({
                "step": *finding.step,
                "family": family.name(),
                "verdict": name(finding.verdict),
                "schedule": finding.schedule.to_string(),
                "story": story.collect::<Vec<_>>(),
                "ended": finding.ended,
                "advice": self.advice(finding),
            })
        });
        let event = self
            .stage
            .events()
            .iter()
            .map(|event| serde_json::from_str::<Value>(&event.to_json()).unwrap_or_default());
        json!({
            "ok": proof.holds(),
            "file": self.file,
            "flow": self.stage.flow().name.it,
            "events": event.collect::<Vec<_>>(),
            "cells": cells.collect::<Vec<_>>(),
            "findings": findings.collect::<Vec<_>>(),
            "unreached": proof.unreached.iter().map(|step| &**step).collect::<Vec<_>>(),
            "schedules": proof.schedules,
            "faults": proof.fired,
            "crashes": proof.crashes,
            "seconds": self.took.as_secs_f64(),
        })
    }

    /// For people.
    pub(super) fn print(&self) {
        let paint = Paint::stdout();
        let title = format!(
            "{} ({})",
            shown(&self.stage.flow().name.it),
            self.file.display()
        );
        print_line(&paint.on(Tone::Strong, &title));
        if self.made_up {
            let event = self.stage.events().first().map(semel_flow::Value::to_json);
            let event = event.unwrap_or_default();
            print_line(&paint.on(Tone::Dim, &format!("event made up: {}", shown(&event))));
        }
        self.matrix(paint);
        for ((_, family), finding) in &self.proof.findings {
            self.story(paint, *family, finding);
        }
        for step in &self.proof.unreached {
            print_line(&format!(
                "{}: not reached by this event; give one that does with --event",
                shown(step)
            ));
        }
        self.summary(paint);
    }

    fn matrix(&self, paint: Paint) {
        let width = self
            .proof
            .steps
            .iter()
            .map(|(step, _)| step.chars().count())
            .max();
        let width = width.unwrap_or(0).max(4) + 2;
        let families = Family::ALL.iter().filter(|family| {
            let mut keys = self.proof.cells.keys();
            keys.any(|(_, tried)| tried == *family)
        });
        let families: Vec<&Family> = families.collect();
        let heads = families
            .iter()
            .map(|family| format!("{:>9}", family.name().to_uppercase()));
        let head = format!(
            "{:<width$}{:<9}{}",
            "STEP",
            "CLASS",
            heads.collect::<String>()
        );
        print_line("");
        print_line(&paint.on(Tone::Dim, head.trim_end()));
        for (step, class) in &self.proof.steps {
            let mut line = format!("{:<width$}{:<9}", shown(step), class.name());
            for family in &families {
                let cell = self
                    .proof
                    .cells
                    .get(&(std::sync::Arc::clone(step), **family));
                let (word, tone) =
                    cell.map_or((String::new(), Tone::Dim), |(verdict, _)| word(*verdict));
                line += &" ".repeat(9usize.saturating_sub(word.chars().count()));
                line += &paint.on(tone, &word);
            }
            print_line(&line);
        }
        print_line("");
    }

    fn story(&self, paint: Paint, family: Family, finding: &Finding) {
        let said = match finding.verdict {
            Verdict::Twice(more) => format!("seen {} times", more + 1),
            _ => "not seen, and nobody is asked".to_owned(),
        };
        let title = format!("{} {said} ({})", shown(&finding.step), family.name());
        print_line(&paint.on(Tone::Bad, &title));
        for line in &finding.story {
            print_line(&format!("  {:>10}  {}", moment(line.at), shown(&line.what)));
        }
        for ended in &finding.ended {
            print_line(&format!(
                "  {:>10}  the run is {}",
                "in the end",
                shown(ended)
            ));
        }
        print_line(&format!("  = help: {}", self.advice(finding)));
        print_line(&paint.on(
            Tone::Dim,
            &format!(
                "  semel prove {} --replay {}",
                self.file.display(),
                finding.schedule
            ),
        ));
        print_line("");
    }

    /// What to change in the file.
    fn advice(&self, finding: &Finding) -> String {
        let step = semel_prove::stage::step(self.stage.flow(), &finding.step);
        let Some(step) = step else {
            let advice = "the same event must give the same key: see what `key` is made of";
            return advice.to_owned();
        };
        match finding.verdict {
            Verdict::Twice(_) => twice(step),
            _ => "this is an error of Semel, not of the flow: please report it with the file"
                .to_owned(),
        }
    }

    fn summary(&self, paint: Paint) {
        let proof = self.proof;
        if let Some(schedule) = self.replay {
            if proof.holds() {
                print_line(&format!("{schedule}: every effect was seen as it should"));
            }
            return;
        }
        let (tone, said) = if proof.holds() {
            (
                Tone::Good,
                "every effect was seen once, or never twice with a person asked",
            )
        } else {
            (Tone::Bad, "the world would have seen something twice")
        };
        print_line(&paint.on(tone, said));
        let seconds = self.took.as_secs_f64();
        say!(
            "semel: {} schedules, {} faults of which {} crashes happened, in {seconds:.1} s",
            proof.schedules,
            proof.fired,
            proof.crashes
        );
    }
}

fn name(verdict: Verdict) -> String {
    match verdict {
        Verdict::Unreached => "unreached".to_owned(),
        Verdict::Once => "once".to_owned(),
        Verdict::Skipped => "skipped".to_owned(),
        Verdict::Parked => "parked".to_owned(),
        Verdict::Missing => "missing".to_owned(),
        Verdict::Twice(more) => format!("seen {} times", more + 1),
    }
}

fn twice(step: &Step) -> String {
    let retries = step
        .on_unknown
        .as_ref()
        .is_some_and(|rule| rule.it == OnUnknown::Retry);
    match (step.class(), retries) {
        (Class::Guarded, true) => "`on_unknown: retry` repeats what may have happened: write `ask`, or say how to find out with `lookup`, or let the destination dedupe with `idempotency`".to_owned(),
        (Class::Keyed, _) => "the destination has forgotten the key by then: a longer `idempotency.window` if it has one, or `retry.within` that ends before it".to_owned(),
        _ => "its key is not the same for the same work: write one that comes from the event alone".to_owned(),
    }
}

fn moment(millis: i64) -> String {
    let seconds = millis / 1000;
    match seconds {
        0 => format!("{millis} ms"),
        1..=119 => format!("{seconds} s"),
        120..=7199 => format!("{} min", seconds / 60),
        _ => format!("{} h", seconds / 3600),
    }
}
