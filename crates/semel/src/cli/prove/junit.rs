//! What was proved, as CI servers read it: a suite for each flow, a case for each step and family.

use std::fmt::Write as _;

use semel_flow::graph::escaped;
use semel_prove::report::{Found, Report};
use semel_prove::{Family, Verdict};

use super::{Became, show};

pub(super) fn suites(all: &[Became]) -> String {
    let mut out = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"semel prove\">\n",
    );
    for became in all {
        match became {
            Became::Proved { file, report } => suite(&mut out, &file.to_string_lossy(), report),
            Became::Refused(file) => {
                let (name, told) = (escaped(&file.name()), escaped(&file.drawn(false)));
                let _ = writeln!(
                    out,
                    "  <testsuite name=\"{name}\" tests=\"1\" failures=\"1\" skipped=\"0\">\n    <testcase classname=\"{name}\" name=\"check\"><failure message=\"the checker found errors; nothing was tried\">{told}</failure></testcase>\n  </testsuite>"
                );
            }
        }
    }
    out.push_str("</testsuites>\n");
    out
}

fn suite(out: &mut String, file: &str, report: &Report) {
    let (steps, cells, families) = (report.steps(), report.cells(), report.families());
    let found = report.found();
    let (flow, file) = (escaped(&report.flow().name.it), escaped(file));
    let skipped = cells.values().filter(|(it, _)| is_skipped(*it)).count();
    let _ = writeln!(
        out,
        "  <testsuite name=\"{flow}\" file=\"{file}\" tests=\"{}\" failures=\"{}\" skipped=\"{skipped}\" time=\"{:.3}\">",
        cells.len(),
        cells.values().filter(|(it, _)| !it.is_good()).count(),
        report.took.as_secs_f64()
    );
    for (step, _) in &steps {
        for family in &families {
            let Some((verdict, tries)) = cells.get(&(step.clone(), *family)) else {
                continue;
            };
            let is_it = |it: &&Found<'_>| it.finding.step == *step && it.family == *family;
            let story = found.iter().find(is_it);
            let told = story.map(|it| told(&file, it));
            case(
                out,
                &format!("{flow}.{}", escaped(step)),
                *family,
                (*verdict, *tries),
                told,
            );
        }
    }
    out.push_str("  </testsuite>\n");
}

/// No event leads there: neither right nor wrong.
fn is_skipped(verdict: Verdict) -> bool {
    verdict == Verdict::Unreached
}

fn case(
    out: &mut String,
    class: &str,
    family: Family,
    (verdict, tries): (Verdict, usize),
    told: Option<String>,
) {
    let name = family.name();
    let _ = write!(out, "    <testcase classname=\"{class}\" name=\"{name}\">");
    if !verdict.is_good() {
        let _ = write!(
            out,
            "<failure message=\"{}\">{}</failure>",
            escaped(&verdict.name()),
            told.unwrap_or_default()
        );
    } else if is_skipped(verdict) {
        let _ = write!(out, "<skipped message=\"{}\"/>", verdict.meaning());
    } else {
        let said = escaped(&verdict.name());
        let _ = write!(out, "<system-out>{said} in {tries} tries</system-out>");
    }
    out.push_str("</testcase>\n");
}

/// The story as text.
fn told(file: &str, found: &Found<'_>) -> String {
    let finding = found.finding;
    let course = found.course();
    let mut lines: Vec<_> = course
        .map(|it| format!("{:>10}  {}", it.at, it.what))
        .collect();
    lines.push(format!("help: {}", finding.help));
    lines.push(show::again(file.as_ref(), found.event, &finding.schedule));
    let lines: Vec<_> = lines.iter().map(|line| escaped(line)).collect();
    lines.join("\n")
}
