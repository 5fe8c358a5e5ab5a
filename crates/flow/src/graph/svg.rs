//! The picture as SVG.

use std::fmt::Write as _;

use super::layout::{Card, Item, Picture};
use crate::model::Flow;

const MARGIN: f64 = 24.0;
const STYLE: &str = "
text{font:13px system-ui,sans-serif;fill:#1c2330}
.title{font-weight:600;font-size:14px}.kind{fill:#667085;font-size:12px}
.line{fill:#475467;font-family:ui-monospace,monospace;font-size:11px}
.card{fill:#fff;stroke:#d0d5dd;rx:8px}.trigger .card{fill:#eef4ff;stroke:#a4bcfd;rx:18px}
.undo .card{stroke-dasharray:4 3}
.gate .card{fill:#fffaeb;stroke:#dc6803;stroke-width:2;rx:0}
.frame{fill:none;stroke:#98a2b3;stroke-dasharray:6 4;rx:12px}
.arrow,.join{stroke:#667085;fill:none;stroke-width:1.4}.dashed{stroke-dasharray:4 3}
.chip{rx:4px}.pure{fill:#98a2b3}.read{fill:#2e90fa}.set{fill:#0e9384}.keyed{fill:#dc6803}.guarded{fill:#d92d20}
.chip-text{fill:#fff;font-size:10px;font-weight:600}
#head{fill:#667085}.back{fill:#fcfcfd}
@media (prefers-color-scheme:dark){text{fill:#f0f2f5}.kind{fill:#98a2b3}.line{fill:#cbd2dc}
.card{fill:#1d2433;stroke:#3b465c}.trigger .card{fill:#1e2a4a;stroke:#4667b8}
.gate .card{fill:#2d2413;stroke:#dc6803}.back{fill:#12161f}}
";

pub(super) fn draw(flow: &Flow, picture: &Picture) -> String {
    let (width, height) = (picture.width + 2.0 * MARGIN, picture.height + 2.0 * MARGIN);
    let mut out = String::new();
    let name = escaped(&flow.name.it);
    let _ = write!(
        out,
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0} {height:.0}" width="{width:.0}" height="{height:.0}" role="img" aria-label="The flow {name}"><title>{name}</title><style>{STYLE}</style>"#
    );
    out.push_str(r#"<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path id="head" d="M0,0L8,4L0,8z"/></marker></defs>"#);
    let _ = write!(
        out,
        r#"<rect class="back" width="100%" height="100%"/><g transform="translate({MARGIN},{MARGIN})">"#
    );
    for item in &picture.items {
        draw_item(&mut out, item);
    }
    out.push_str("</g></svg>\n");
    out
}

fn draw_item(out: &mut String, item: &Item) {
    let _ = match item {
        Item::Card(card, x, y, w, h) => {
            draw_card(out, card, [*x, *y, *w, *h]);
            Ok(())
        }
        Item::Frame(label, x, y, w, h) => write!(
            out,
            r#"<rect class="frame" x="{x:.1}" y="{y:.1}" width="{w:.1}" height="{h:.1}"/><text class="kind" x="{:.1}" y="{:.1}">{}</text>"#,
            x + 18.0,
            y + 22.0,
            escaped(label)
        ),
        Item::Arrow(a, b, c, d, dashed) => {
            let class = if *dashed { "arrow dashed" } else { "arrow" };
            let path = curve([*a, *b], [*c, *d]);
            write!(
                out,
                r#"<path class="{class}" d="{path}" marker-end="url(#tip)"/>"#
            )
        }
        Item::Line(a, b, c, d) => {
            let path = curve([*a, *b], [*c, *d]);
            write!(out, r#"<path class="join" d="{path}"/>"#)
        }
        Item::Label(label, x, y) => write!(
            out,
            r#"<text class="line" x="{x:.1}" y="{y:.1}" text-anchor="middle">{}</text>"#,
            escaped(label)
        ),
    };
}

/// Straight where it can be, else bent in the middle.
fn curve([a, b]: [f64; 2], [c, d]: [f64; 2]) -> String {
    if (a - c).abs() < 0.5 || (b - d).abs() < 0.5 {
        return format!("M{a:.1},{b:.1}L{c:.1},{d:.1}");
    }
    let middle = f64::midpoint(b, d);
    format!("M{a:.1},{b:.1}C{a:.1},{middle:.1} {c:.1},{middle:.1} {c:.1},{d:.1}")
}

fn draw_card(out: &mut String, card: &Card, [x, y, w, h]: [f64; 4]) {
    let class = match card.kind.as_str() {
        kind @ ("trigger" | "undo") => kind,
        "approve" => "gate",
        _ => "step",
    };
    let id = escaped(&card.id);
    let _ = write!(
        out,
        r#"<g class="{class}" data-step="{id}"><rect class="card" x="{x:.1}" y="{y:.1}" width="{w:.1}" height="{h:.1}"/><text class="title" x="{:.1}" y="{:.1}">{}</text>"#,
        x + 14.0,
        y + 24.0,
        escaped(&card.title)
    );
    if let Some(class) = card.class {
        let name = class.name();
        let chip = 56.0;
        let left = x + w - chip - 12.0;
        let _ = write!(
            out,
            r#"<rect class="chip {name}" x="{left:.1}" y="{:.1}" width="{chip}" height="17"/><text class="chip-text" x="{:.1}" y="{:.1}" text-anchor="middle">{name}</text><text class="kind" x="{:.1}" y="{:.1}" text-anchor="end">{}</text>"#,
            y + 11.0,
            left + chip / 2.0,
            y + 23.0,
            left - 8.0,
            y + 24.0,
            escaped(&card.kind)
        );
    }
    for (index, line) in card.lines.iter().enumerate() {
        let row = f64::from(u32::try_from(index).unwrap_or(0));
        let _ = write!(
            out,
            r#"<text class="line" x="{:.1}" y="{:.1}">{}</text>"#,
            x + 14.0,
            y + 42.0 + row * 17.0,
            escaped(line)
        );
    }
    out.push_str("</g>");
}

/// Text as XML and HTML take it, also between double quotes.
#[must_use]
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
