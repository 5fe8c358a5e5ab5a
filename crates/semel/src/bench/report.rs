//! What the bench found: for programs as JSON, for people as tables, with what was aimed for.

use std::fmt::Write as _;

use serde::Serialize;

use super::flows::Flowing;
use super::growth::Grown;
use super::items::Items;
use super::load::Measured;
use super::prove::Proved;
use super::sql::SqlLine;
use super::waits::Waits;
use super::writes::Writes;

/// One load, with what it is compared to.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Line {
    pub(super) work: &'static str,
    #[serde(flatten)]
    pub(super) measured: Measured,
    /// Durable writes a second over those of the reference at as many callers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) ratio: Option<f64>,
}

/// Flows under one load, beside a server written by hand.
#[derive(Clone, Debug, Serialize)]
pub(super) struct FlowLine {
    #[serde(skip)]
    pub(super) flowing: Flowing,
    pub(super) work: &'static str,
    #[serde(flatten)]
    pub(super) measured: Measured,
    /// Processor time for each, without that of the load and the destination.
    pub(super) cpu_us: f64,
    pub(super) reference: Measured,
    pub(super) reference_cpu_us: f64,
    /// Of the server written by hand.
    pub(super) ratio: f64,
}

/// Something aimed for.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Aim {
    pub(super) name: String,
    pub(super) wanted: f64,
    pub(super) reached: f64,
    pub(super) met: bool,
}

impl Aim {
    pub(super) fn at_least(name: String, wanted: f64, reached: f64) -> Aim {
        Aim {
            name,
            wanted,
            reached,
            met: reached >= wanted,
        }
    }

    pub(super) fn at_most(name: String, wanted: f64, reached: f64) -> Aim {
        Aim {
            name,
            wanted,
            reached,
            met: reached <= wanted,
        }
    }
}

/// The whole run.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Report {
    pub(super) version: &'static str,
    pub(super) store: &'static str,
    pub(super) cores: usize,
    pub(super) syncs_per_second: f64,
    /// Raw batched inserts of the same bytes (SQLite), or one transaction per claim (PostgreSQL).
    pub(super) ceiling: Vec<Measured>,
    pub(super) plain_http: Vec<Measured>,
    /// A bare handler over the same group commit.
    pub(super) reference_http: Vec<Measured>,
    pub(super) through_store: Vec<Line>,
    pub(super) through_http: Vec<Line>,
    /// Flows, each beside a server written by hand for the same work.
    pub(super) flows: Vec<FlowLine>,
    /// `sql` steps beside the transaction by hand.
    pub(super) sql: Vec<SqlLine>,
    /// One run over very many items.
    pub(super) for_each: Option<Items>,
    /// Very many runs that wait for callbacks.
    pub(super) wait: Option<Waits>,
    /// What a step of each class makes durable.
    pub(super) writes: Vec<Writes>,
    pub(super) growth: Vec<Grown>,
    /// A flow of five steps, proved.
    pub(super) proved: Vec<Proved>,
    pub(super) aims: Vec<Aim>,
}

/// The measurement at so many callers.
pub(super) fn at(callers: usize, measured: &[Measured]) -> Option<&Measured> {
    measured.iter().find(|m| m.callers == callers)
}

fn thousands(number: f64) -> String {
    let digits = format!("{number:.0}");
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn row(name: &str, measured: &Measured, ratio: Option<f64>) -> String {
    let ratio = ratio.map_or_else(String::new, |ratio| format!("{:>4.0}%", ratio * 100.0));
    format!(
        "  {name:<16} {:>4} callers {:>9}/s   p50 {:>9} µs   p99 {:>9} µs   {:>4.0} MB  {ratio}\n",
        measured.callers,
        thousands(measured.per_second),
        thousands(measured.p50_us),
        thousands(measured.p99_us),
        measured.memory_mb,
    )
}

impl Report {
    /// As tables.
    pub(super) fn text(&self) -> String {
        let mut text = format!(
            "semel {} on {} cores, store: {}\n\nThis disk: {} syncs a second\n",
            self.version,
            self.cores,
            self.store,
            thousands(self.syncs_per_second)
        );
        let ceiling = if self.store == "postgres" {
            "one transaction per claim"
        } else {
            "raw batched inserts"
        };
        section(
            &mut text,
            &format!("The ceiling: {ceiling}"),
            "",
            &self.ceiling,
        );
        section(&mut text, "Plain HTTP answers", "", &self.plain_http);
        section(
            &mut text,
            "A bare handler over the same group commit",
            "",
            &self.reference_http,
        );
        let title = "Through the store (last column: durable writes, of the ceiling)";
        lines(&mut text, title, &self.through_store);
        let title = "Through HTTP (last column: of the bare handler)";
        lines(&mut text, title, &self.through_http);
        if !self.flows.is_empty() {
            text.push_str("\nFlows (last column: of a server written by hand for the same work)\n");
        }
        for line in &self.flows {
            text.push_str(&row(line.work, &line.measured, Some(line.ratio)));
            let (own, by_hand) = (line.cpu_us, line.reference_cpu_us);
            let _ = writeln!(
                text,
                "    processor time each, without load and destination: {own:.0} µs; by hand {by_hand:.0} µs"
            );
        }
        self.kinds(&mut text);
        if !self.growth.is_empty() {
            text.push_str("\nClaims as the ledger grows\n");
        }
        for grown in &self.growth {
            text.push_str(&row(
                &format!("{} entries", thousands(super::load::to_f64(grown.entries))),
                &grown.claim,
                None,
            ));
        }
        text.push_str("\nAims\n");
        for aim in &self.aims {
            let mark = if aim.met { "✓" } else { "✗" };
            let _ = writeln!(
                text,
                "  {mark} {:<66} {:>6.2}  (aim {:.2})",
                aim.name, aim.reached, aim.wanted
            );
        }
        text
    }
}

impl Report {
    /// What is measured of kinds and classes of steps.
    fn kinds(&self, text: &mut String) {
        if let Some(line) = self.sql.first() {
            let _ = write!(
                text,
                "\nSQL on {} (last column: of the transaction by hand)\n",
                line.database
            );
        }
        for line in &self.sql {
            text.push_str(&row(line.work, &line.measured, Some(line.ratio)));
        }
        if let Some(found) = &self.for_each {
            let [early, late] = found.memory_mb;
            let _ = write!(
                text,
                "\nOne run over {} items, a keyed step each\n  {:>9} items/s   {early:.0} MB at a tenth, {late:.0} MB at the end\n",
                thousands(super::load::to_f64(found.count)),
                thousands(found.per_second),
            );
        }
        if let Some(found) = &self.wait {
            let [before, all] = found.memory_mb;
            let _ = write!(
                text,
                "\n{} callbacks, all waited for at once\n  {:>9} armed/s   {:>9} answered/s   {before:.0} MB before, {all:.0} MB when all wait\n",
                thousands(super::load::to_f64(found.runs)),
                thousands(found.armed_per_second),
                thousands(found.answered_per_second),
            );
        }
        if !self.writes.is_empty() {
            text.push_str("\nDurable writes of a step, eight in a row\n");
        }
        for Writes {
            class,
            effects,
            commits,
        } in &self.writes
        {
            let _ = writeln!(
                text,
                "  {class:<8} {effects:>5.2} in the ledger   {commits:>5.2} commits"
            );
        }
        if !self.proved.is_empty() {
            text.push_str("\nA flow of five steps, proved\n");
        }
        for proved in &self.proved {
            let _ = writeln!(
                text,
                "  depth {}   {:>9} schedules   {:>9}/s   {:>6.2} s   {} crashes",
                proved.depth,
                thousands(super::load::to_f64(proved.schedules as u64)),
                thousands(proved.per_second),
                proved.seconds,
                thousands(super::load::to_f64(proved.crashes as u64)),
            );
        }
    }
}

fn lines(text: &mut String, title: &str, lines: &[Line]) {
    if !lines.is_empty() {
        let _ = write!(text, "\n{title}\n");
    }
    for line in lines {
        text.push_str(&row(line.work, &line.measured, line.ratio));
    }
}

fn section(text: &mut String, title: &str, name: &str, measured: &[Measured]) {
    if measured.is_empty() {
        return;
    }
    let _ = write!(text, "\n{title}\n");
    for one in measured {
        text.push_str(&row(name, one, None));
    }
}
