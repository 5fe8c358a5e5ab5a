//! What was proved, as one page that needs nothing else: no script, no font, no picture from elsewhere.

use std::fmt::Write as _;
use std::path::Path;

use semel_flow::graph::{self, escaped};
use semel_prove::Verdict;
use semel_prove::examples::From;
use semel_prove::report::{Found, Report, Story, Tried};

use super::{Became, show};
use crate::term::Tone;

const STYLE: &str = include_str!("page.css");

pub(super) fn page(all: &[Became]) -> String {
    let name = |became: &Became| match became {
        Became::Proved { report, .. } => report.flow().name.it.clone(),
        Became::Refused(file) => file.name(),
    };
    let names: Vec<_> = all.iter().map(name).collect();
    let mut out = String::new();
    let _ = write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>Proof of {}</title>\n<style>\n{STYLE}</style>\n<main>\n",
        escaped(&names.join(", "))
    );
    for became in all {
        match became {
            Became::Proved { file, report } => Page { report, file }.write(&mut out),
            Became::Refused(file) => {
                let _ = write!(
                    out,
                    "<section>\n<h1>{}</h1>\n<p class=\"verdict bad\">The checker found errors; nothing was tried.</p>\n<pre class=\"story\">{}</pre>\n</section>\n",
                    escaped(&file.name()),
                    lines(&file.drawn(false))
                );
            }
        }
    }
    out.push_str("<footer>Made by <code>semel prove</code>: the real engine, simulated destinations, simulated time.</footer>\n</main>\n</html>\n");
    out
}

/// Text of several lines; a line break is none of the signs that must not be shown.
fn lines(text: &str) -> String {
    text.lines().map(escaped).collect::<Vec<_>>().join("\n")
}

/// Text in which what stands between backticks is code.
fn prose(text: &str) -> String {
    let mut out = String::new();
    for (at, part) in text.split('`').enumerate() {
        let part = escaped(part);
        if at % 2 == 1 {
            let _ = write!(out, "<code>{part}</code>");
        } else {
            out.push_str(&part);
        }
    }
    out
}

fn class(verdict: Verdict) -> &'static str {
    match show::tone(verdict) {
        Tone::Good => "good",
        Tone::Doubt => "doubt",
        Tone::Bad => "bad",
        Tone::Busy | Tone::Dim | Tone::Strong => "dim",
    }
}

struct Page<'a> {
    report: &'a Report,
    file: &'a Path,
}

impl Page<'_> {
    fn write(&self, out: &mut String) {
        let (report, flow) = (self.report, self.report.flow());
        let _ = write!(
            out,
            "<section>\n<h1>{} <small>{}</small></h1>\n",
            escaped(&flow.name.it),
            escaped(&self.file.to_string_lossy())
        );
        if let Some(description) = &flow.description {
            let _ = writeln!(out, "<p class=\"about\">{}</p>", escaped(description));
        }
        let (tone, said) = show::verdict(report);
        let class = if tone == Tone::Good { "good" } else { "bad" };
        let _ = writeln!(out, "<p class=\"verdict {class}\">{}</p>", sentence(said));
        self.counts(out);
        self.matrix(out);
        self.legend(out);
        for story in report.stories() {
            self.story(out, &story);
        }
        self.events(out);
        self.picture(out);
        out.push_str("</section>\n");
    }

    fn counts(&self, out: &mut String) {
        let report = self.report;
        out.push_str("<dl class=\"counts\">");
        let counts = [
            (report.schedules(), "schedules tried"),
            (report.fired(), "faults that happened"),
            (report.crashes(), "of them crashes"),
            (report.tried().len(), "events"),
        ];
        for (count, what) in counts {
            let what = if count == 1 {
                what.trim_end_matches('s')
            } else {
                what
            };
            let _ = write!(out, "<div><dd>{count}</dd><dt>{what}</dt></div>");
        }
        let _ = writeln!(
            out,
            "<div><dt>in</dt><dd>{:.1} s</dd></div></dl>",
            report.took.as_secs_f64()
        );
    }

    fn matrix(&self, out: &mut String) {
        let (cells, families) = (self.report.cells(), self.report.families());
        out.push_str("<div class=\"wide\"><table class=\"matrix\"><thead><tr><th scope=\"col\">step</th><th scope=\"col\">class</th>");
        for family in &families {
            let (name, about) = (family.name(), family.about());
            let _ = write!(out, "<th scope=\"col\" title=\"{about}\">{name}</th>");
        }
        out.push_str("</tr></thead>\n<tbody>\n");
        let found = self.report.found();
        for (step, of) in self.report.steps() {
            let (name, of) = (escaped(&step), of.name());
            let _ = write!(
                out,
                "<tr><th scope=\"row\">{name}</th><td class=\"of\"><span class=\"chip\">{of}</span></td>"
            );
            for family in &families {
                let Some((verdict, tries)) = cells.get(&(step.clone(), *family)) else {
                    out.push_str("<td></td>");
                    continue;
                };
                let is_it = |it: &Found<'_>| it.finding.step == step && it.family == *family;
                let word = verdict.word();
                let word = if found.iter().any(is_it) {
                    let story = self.anchor(&step, family.name());
                    format!("<a href=\"#{story}\">{word}</a>")
                } else {
                    word
                };
                let _ = write!(
                    out,
                    "<td class=\"cell {}\" title=\"{tries} tries: {}\">{word}</td>",
                    class(*verdict),
                    verdict.meaning()
                );
            }
            out.push_str("</tr>\n");
        }
        out.push_str("</tbody></table></div>\n");
    }

    /// Where a story stands on the page.
    fn anchor(&self, step: &str, family: &str) -> String {
        escaped(&format!("{}/{step}/{family}", self.report.flow().name.it)).replace(' ', "-")
    }

    /// What the words in the matrix mean, of those that are there.
    fn legend(&self, out: &mut String) {
        let mut seen: Vec<Verdict> = self.report.cells().values().map(|(it, _)| *it).collect();
        seen.sort_unstable();
        seen.dedup_by_key(|verdict| verdict.meaning());
        out.push_str("<ul class=\"legend\">");
        for verdict in seen {
            let (class, word) = (class(verdict), verdict.word());
            let _ = write!(
                out,
                "<li><b class=\"{class}\">{word}</b> {}</li>",
                verdict.meaning()
            );
        }
        out.push_str("</ul>\n");
    }

    /// The shortest story is told; what leads to the same can be opened.
    fn story(&self, out: &mut String, story: &Story<'_>) {
        let finding = story.told.finding;
        let _ = write!(
            out,
            "<article id=\"{}\">\n<h2>{}</h2>\n",
            self.anchor(&finding.step, story.told.family.name()),
            self.title(&story.told)
        );
        self.course(out, &story.told);
        let _ = writeln!(out, "<p class=\"help\">{}</p>", prose(&finding.help));
        for also in &story.also {
            let _ = writeln!(
                out,
                "<details id=\"{}\"><summary>{}</summary>",
                self.anchor(&also.finding.step, also.family.name()),
                self.title(also)
            );
            self.course(out, also);
            out.push_str("</details>\n");
        }
        out.push_str("</article>\n");
    }

    fn title(&self, found: &Found<'_>) -> String {
        let with = match self.report.tried().len() {
            1 => String::new(),
            _ => format!(", with {}", escaped(&found.event.name)),
        };
        let (step, said) = (escaped(&found.finding.step), found.said());
        let (family, about) = (found.family.name(), found.family.about());
        format!("<b>{step}</b> {said} <small>{family}: {about}{with}</small>")
    }

    /// What went on, line by line.
    fn course(&self, out: &mut String, found: &Found<'_>) {
        let finding = found.finding;
        out.push_str("<ol>\n");
        for line in found.course() {
            let class = if line.is_seen { " class=\"seen\"" } else { "" };
            let (at, what) = (line.at, escaped(&line.what));
            let _ = writeln!(out, "<li{class}><time>{at}</time><span>{what}</span></li>");
        }
        let again = show::again(self.file, found.event, &finding.schedule);
        let _ = writeln!(out, "</ol>\n<pre>{}</pre>", escaped(&again));
    }

    fn events(&self, out: &mut String) {
        for step in self.report.unreached() {
            let step = escaped(&step);
            let _ = writeln!(
                out,
                "<p class=\"note\"><b>{step}</b>: no event leads there. Give one that does under <code>examples</code>.</p>"
            );
        }
        out.push_str("<h2>Tried with</h2>\n");
        for Tried { event, proof, .. } in self.report.tried() {
            let from = match event.from {
                From::Given => "as given",
                From::Example => "an example in the file",
                From::MadeUp => "made up from what the flow reads",
            };
            let name = escaped(&event.name);
            let json = serde_json::from_str::<serde_json::Value>(&event.event.to_json());
            let json = json.and_then(|json| serde_json::to_string_pretty(&json));
            let _ = writeln!(
                out,
                "<details><summary>{name} <small>{from}, {} schedules</small></summary><pre>{}</pre></details>",
                proof.schedules,
                lines(&json.unwrap_or_default())
            );
        }
    }

    /// As a picture of its own, so that its styles and the page's do not meet.
    fn picture(&self, out: &mut String) {
        let flow = self.report.flow();
        let mut data = String::new();
        for byte in graph::svg(flow).bytes() {
            match byte {
                b'a'..=b'z'
                | b'A'..=b'Z'
                | b'0'..=b'9'
                | b'-'
                | b'.'
                | b'_'
                | b'/'
                | b':'
                | b'=' => {
                    data.push(char::from(byte));
                }
                other => {
                    let _ = write!(data, "%{other:02X}");
                }
            }
        }
        let name = escaped(&flow.name.it);
        let _ = write!(
            out,
            "<h2>The flow</h2>\n<div class=\"wide\"><img alt=\"The flow {name}\" src=\"data:image/svg+xml,{data}\"></div>\n"
        );
    }
}

/// With a capital letter and a full stop.
fn sentence(text: &str) -> String {
    let mut signs = text.chars();
    let first = signs.next().map(|c| c.to_uppercase().to_string());
    format!("{}{}.", first.unwrap_or_default(), escaped(signs.as_str()))
}
