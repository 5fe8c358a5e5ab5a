//! A JSON value as tables, with every digit of its numbers.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use crate::html::Html;

/// Deeper than this a value is shown as it is written.
const DEEPEST: usize = 8;

/// Writes a value.
pub(super) fn write(html: &mut Html, value: &RawValue) {
    at_depth(html, value, 0);
}

fn at_depth(html: &mut Html, value: &RawValue, depth: usize) {
    let text = value.get();
    match text.as_bytes().first() {
        Some(b'{' | b'[') if depth >= DEEPEST => {
            html.markup("<code>").text(text).markup("</code>");
        }
        Some(b'{') => object(html, text, depth),
        Some(b'[') => list(html, text, depth),
        Some(b'"') => {
            let text: String = serde_json::from_str(text).unwrap_or_default();
            if text.is_empty() {
                html.markup("<i>empty text</i>");
            } else {
                html.text(&text);
            }
        }
        Some(b'n') => {
            html.markup("<i>nothing</i>");
        }
        Some(b't') => {
            html.markup("yes");
        }
        Some(b'f') => {
            html.markup("no");
        }
        _ => {
            html.markup("<span class=\"number\">")
                .text(text)
                .markup("</span>");
        }
    }
}

fn object(html: &mut Html, text: &str, depth: usize) {
    let members: BTreeMap<String, Box<RawValue>> = serde_json::from_str(text).unwrap_or_default();
    if members.is_empty() {
        html.markup("<i>empty</i>");
        return;
    }
    html.markup("<table class=\"tree\">\n");
    for (name, value) in &members {
        html.markup("<tr><th scope=\"row\">")
            .text(name)
            .markup("</th><td>");
        at_depth(html, value, depth + 1);
        html.markup("</td></tr>\n");
    }
    html.markup("</table>");
}

fn list(html: &mut Html, text: &str, depth: usize) {
    let items: Vec<Box<RawValue>> = serde_json::from_str(text).unwrap_or_default();
    if items.is_empty() {
        html.markup("<i>empty list</i>");
        return;
    }
    html.markup("<ol>\n");
    for item in &items {
        html.markup("<li>");
        at_depth(html, item, depth + 1);
        html.markup("</li>\n");
    }
    html.markup("</ol>");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(json: &str) -> String {
        let mut html = Html::default();
        write(&mut html, &RawValue::from_string(json.to_owned()).unwrap());
        html.into_string().replace('\n', "")
    }

    #[test]
    fn values_are_shown_whole_and_as_text() {
        for (json, shown) in [
            ("null", "<i>nothing</i>"),
            ("true", "yes"),
            (
                "9007199254740993",
                "<span class=\"number\">9007199254740993</span>",
            ),
            (
                "0.10000000000000000001",
                "<span class=\"number\">0.10000000000000000001</span>",
            ),
            ("\"<b>\\u0000\"", "&lt;b&gt;\\u{0}"),
            ("\"\"", "<i>empty text</i>"),
            ("[]", "<i>empty list</i>"),
            ("{}", "<i>empty</i>"),
            (
                "[\"a\",1]",
                "<ol><li>a</li><li><span class=\"number\">1</span></li></ol>",
            ),
            (
                "{\"<i>\":{\"b\":false}}",
                "<table class=\"tree\"><tr><th scope=\"row\">&lt;i&gt;</th><td><table class=\"tree\"><tr><th scope=\"row\">b</th><td>no</td></tr></table></td></tr></table>",
            ),
        ] {
            assert_eq!(written(json), shown);
        }
        let deep = format!("{}<{}", "[".repeat(20), "]".repeat(20)).replace('<', "\"<\"");
        assert!(written(&deep).contains("<code>[[["));
        assert!(!written(&deep).contains("\"<\""));
    }
}
