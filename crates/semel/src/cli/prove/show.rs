//! What was proved, at a terminal: a matrix, and a story for each thing that went wrong.

use std::path::Path;

use semel_prove::examples::{Event, From};
use semel_prove::report::{Found, Report, moment};
use semel_prove::{Schedule, Verdict};

use crate::term::{Paint, Tone, print_line, shown};

/// How wide a column of the matrix is.
const COLUMN: usize = 9;

/// A report with what was asked for.
pub(super) struct Told<'a> {
    pub(super) report: &'a Report,
    pub(super) file: &'a Path,
    pub(super) replay: Option<&'a Schedule>,
}

/// What a verdict means, and so its colour.
pub(super) fn tone(verdict: Verdict) -> Tone {
    match verdict {
        Verdict::Unreached | Verdict::Failed => Tone::Dim,
        Verdict::Once => Tone::Good,
        Verdict::Skipped | Verdict::Parked => Tone::Doubt,
        Verdict::Missing | Verdict::Twice(_) => Tone::Bad,
    }
}

/// How a story is told once more.
pub(super) fn again(file: &Path, event: &Event, schedule: &Schedule) -> String {
    let quoted = |text: &str| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_./,@:".contains(c);
        if !text.is_empty() && text.chars().all(plain) {
            text.to_owned()
        } else {
            format!("'{}'", text.replace('\'', r"'\''"))
        }
    };
    let file = quoted(&shown(&file.to_string_lossy()));
    let event = match event.from {
        From::MadeUp => String::new(),
        From::Example => format!(" --example {}", quoted(&shown(&event.name))),
        From::Given => format!(" --event {}", quoted(&shown(&event.name))),
    };
    format!("semel prove {file}{event} --replay {schedule}")
}

impl Told<'_> {
    pub(super) fn print(&self) {
        let paint = Paint::stdout();
        let name = shown(&self.report.flow().name.it).into_owned();
        let title = format!("{name} ({})", shown(&self.file.to_string_lossy()));
        print_line(&paint.on(Tone::Strong, &title));
        self.events(paint);
        self.matrix(paint);
        for found in self.report.found() {
            self.story(paint, &found);
        }
        for step in self.report.unreached() {
            print_line(&format!(
                "{}: no event leads there; give one that does under `examples`, or with --event",
                shown(&step)
            ));
        }
        self.summary(paint);
    }

    fn events(&self, paint: Paint) {
        let tried = self.report.tried();
        let made_up = tried.iter().find(|it| it.event.from == From::MadeUp);
        let line = match (made_up, tried) {
            (Some(tried), _) => format!("event made up: {}", shown(&tried.event.event.to_json())),
            (None, [one]) => format!("event: {}", shown(&one.event.name)),
            (None, all) => {
                let names: Vec<_> = all.iter().map(|it| shown(&it.event.name)).collect();
                format!("events: {}", names.join(", "))
            }
        };
        print_line(&paint.on(Tone::Dim, &line));
    }

    fn matrix(&self, paint: Paint) {
        let (steps, cells) = (self.report.steps(), self.report.cells());
        let families = self.report.families();
        let width = steps.iter().map(|(step, _)| step.chars().count()).max();
        let width = width.unwrap_or(0).max(4) + 2;
        let heads: String = families
            .iter()
            .map(|family| format!("{:>COLUMN$}", family.name().to_uppercase()))
            .collect();
        let head = format!("{:<width$}{:<COLUMN$}{heads}", "STEP", "CLASS");
        print_line("");
        print_line(&paint.on(Tone::Dim, head.trim_end()));
        for (step, class) in &steps {
            let mut line = format!("{:<width$}{:<COLUMN$}", shown(step), class.name());
            for family in &families {
                let cell = cells.get(&(step.clone(), *family));
                let (word, tone) = cell.map_or((String::new(), Tone::Dim), |(verdict, _)| {
                    (verdict.word(), tone(*verdict))
                });
                line += &" ".repeat(COLUMN.saturating_sub(word.chars().count()));
                line += &paint.on(tone, &word);
            }
            print_line(&line);
        }
        print_line("");
    }

    fn story(&self, paint: Paint, found: &Found<'_>) {
        let finding = found.finding;
        let step = shown(&finding.step);
        let mut title = format!("{step} {} ({})", found.said(), found.family.name());
        if self.report.tried().len() > 1 {
            title += &format!(" with {}", shown(&found.event.name));
        }
        print_line(&paint.on(Tone::Bad, &title));
        for line in &finding.story {
            print_line(&format!("  {:>10}  {}", moment(line.at), shown(&line.what)));
        }
        for ended in &finding.ended {
            let ended = shown(ended);
            print_line(&format!("  {:>10}  the run is {ended}", "in the end"));
        }
        print_line(&format!("  = help: {}", self.report.advice(found)));
        let again = again(self.file, found.event, &finding.schedule);
        print_line(&paint.on(Tone::Dim, &format!("  {again}")));
        print_line("");
    }

    fn summary(&self, paint: Paint) {
        let report = self.report;
        if let Some(schedule) = self.replay {
            if report.holds() {
                print_line(&format!("{schedule}: every effect was seen as it should"));
            }
            return;
        }
        let (tone, said) = verdict(report);
        print_line(&paint.on(tone, said));
        let seconds = report.took.as_secs_f64();
        say!(
            "semel: {} schedules, {} faults of which {} crashes happened, in {seconds:.1} s",
            report.schedules(),
            report.fired(),
            report.crashes()
        );
    }
}

/// The whole in one sentence.
pub(super) fn verdict(report: &Report) -> (Tone, &'static str) {
    let found = report.found();
    let twice = found
        .iter()
        .any(|it| matches!(it.finding.verdict, Verdict::Twice(_)));
    if found.is_empty() {
        let said = "every effect was seen once, or never twice with a person asked";
        (Tone::Good, said)
    } else if twice {
        (Tone::Bad, "the world would have seen something twice")
    } else {
        (Tone::Bad, "something would not have been done, and nobody asked")
    }
}
