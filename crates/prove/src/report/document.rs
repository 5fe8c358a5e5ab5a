//! The report for programs.

use serde_json::{Value, json};

use super::{Found, Report, Tried};
use crate::examples::From;

impl Report {
    /// The report as one document: what `semel prove --json` prints.
    #[must_use]
    pub fn document(&self) -> Value {
        let cells = self.cells();
        let cells = cells.iter().map(|((step, family), (verdict, tries))| {
            json!({"step": **step, "family": family.name(), "verdict": verdict.name(), "tries": tries})
        });
        let findings = self.found();
        let findings = findings.iter().map(finding);
        let unreached = self.unreached();
        json!({
            "ok": self.holds(),
            "flow": self.flow().name.it,
            "events": self.tried.iter().map(event).collect::<Vec<_>>(),
            "cells": cells.collect::<Vec<_>>(),
            "findings": findings.collect::<Vec<_>>(),
            "unreached": unreached.iter().map(|step| &**step).collect::<Vec<_>>(),
            "schedules": self.schedules(),
            "left_out": self.left_out(),
            "faults": self.fired(),
            "crashes": self.crashes(),
            "seconds": self.took.as_secs_f64(),
        })
    }
}

fn finding(found: &Found<'_>) -> Value {
    let finding = found.finding;
    let story = finding.story.iter();
    let story = story.map(|line| json!({"at_ms": line.at, "what": line.what}));
    json!({
        "step": *finding.step,
        "family": found.family.name(),
        "verdict": finding.verdict.name(),
        "event": found.event.name,
        "schedule": finding.schedule.to_string(),
        "story": story.collect::<Vec<_>>(),
        "ended": finding.ended,
        "advice": finding.help,
    })
}

fn event(tried: &Tried) -> Value {
    let event = serde_json::from_str::<Value>(&tried.event.event.to_json());
    json!({
        "name": tried.event.name,
        "from": match tried.event.from {
            From::Given => "given",
            From::Example => "example",
            From::MadeUp => "made up",
        },
        "event": event.unwrap_or_default(),
        "schedules": tried.proof.schedules,
    })
}
