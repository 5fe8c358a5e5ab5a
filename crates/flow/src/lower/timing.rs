//! When: cron and intervals.

use super::Lower;
use super::entry::Entry;
use super::scalar::spanned;
use crate::codes::{F009, F010, F016};
use crate::cron::{Cron, CronError, Shift};
use crate::diagnostic::{Diagnostic, Span, Spanned};
use crate::model::{Missed, Schedule, Timing};

impl Lower {
    pub(super) fn schedule(&mut self, entry: Entry<'_>) -> Option<Schedule> {
        let missed = match self.word(entry, "missed").map(|word| word.it) {
            Some("skip") => Missed::Skip,
            Some("all") => Missed::All,
            _ => Missed::Once,
        };
        let every = self.duration(entry, "every").map(Timing::Every);
        let timing = match self.cron(entry) {
            Some(cron) => Some(cron),
            None => every,
        };
        Some(Schedule {
            timing: timing?,
            missed,
        })
    }

    fn cron(&mut self, entry: Entry<'_>) -> Option<Timing> {
        let zone = self.text(entry, "zone");
        let slot = entry.slot("cron")?;
        let text = self.literal(slot)?;
        let zone = zone.unwrap_or_else(|| Spanned {
            it: "UTC".to_owned(),
            span: slot.name.span,
        });
        match Cron::parse(text, &zone.it) {
            Ok(cron) => self.warn_of_shifts(&cron, slot.node.span, &zone.it),
            Err(error) => {
                self.wrong_cron(&error, slot.node.span, &zone);
                return None;
            }
        }
        Some(Timing::Cron {
            cron: spanned(text, slot.node),
            zone,
        })
    }

    fn wrong_cron(&mut self, error: &CronError, at: Span, zone: &Spanned<String>) {
        let found = match error {
            CronError::Zone { near, .. } => {
                let label = "not in the time zone database";
                let found = Diagnostic::error(F010, zone.span, error.to_string(), label);
                match near {
                    Some(near) => found.help(format!("did you mean {near}?")),
                    None => found.help("write a name such as Europe/Berlin, or UTC"),
                }
            }
            CronError::Never => {
                let label = "no such day comes, in any year";
                Diagnostic::error(F009, at, error.to_string(), label)
            }
            CronError::Count { .. } | CronError::Field { .. } => {
                let label = "minute, hour, day of the month, month, day of the week";
                Diagnostic::error(F009, at, error.to_string(), label)
                    .help("every day at 06:30 is 30 6 * * *; on weekdays 30 6 * * MON-FRI")
            }
        };
        self.report(found);
    }

    fn warn_of_shifts(&mut self, cron: &Cron, at: Span, zone: &str) {
        let Some((shift, example)) = cron.shift() else {
            return;
        };
        let (what, policy) = match shift {
            Shift::Skipped => ("skips", "it fires then at the moment of the change"),
            Shift::Repeated => ("repeats", "it fires once, the first time"),
        };
        let title = format!("a clock change in {zone} {what} the scheduled time");
        let label = format!("such as {example}; {policy}");
        let found = Diagnostic::warning(F016, at, title, label);
        self.report(
            found.help("to be untouched by clock changes, choose another hour or zone: UTC"),
        );
    }
}
