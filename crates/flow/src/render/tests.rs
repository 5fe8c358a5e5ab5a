use super::*;
use crate::codes::{F003, F013};

fn plain(source: &str, found: &[Diagnostic]) -> String {
    let style = Style {
        file: "flow.yaml",
        colours: false,
        width: None,
    };
    render(source, found, style)
}

#[test]
fn a_message_is_drawn_with_its_lines() {
    let source = "name: x\nkye: a\nkey: b\n";
    let found = Diagnostic::error(
        F003,
        Span { start: 8, end: 11 },
        "no field `kye`",
        "unknown",
    )
    .also(Span { start: 15, end: 18 }, "there already")
    .help("did you mean `key`?");
    insta::assert_snapshot!(plain(source, &[found]), @r"
    error[F003]: no field `kye`
     --> flow.yaml:2:1
      |
    2 | kye: a
      | ^^^ unknown
    3 | key: b
      | --- there already
      |
      = help: did you mean `key`?
    ");
}

#[test]
fn colours_come_only_when_asked_for() {
    let found = [Diagnostic::error(F003, Span { start: 0, end: 1 }, "a", "b")];
    assert!(!plain("x", &found).contains('\u{1b}'));
    let style = Style {
        file: "f",
        colours: true,
        width: None,
    };
    assert!(render("x", &found, style).contains("\u{1b}["));
}

#[test]
fn nothing_deceptive_reaches_the_terminal() {
    let evil = "\u{1b}[31m\u{202e}\u{7}\u{9b}\u{200b}\r\u{2028}\u{e0041}";
    let source = format!("a: {evil}\n");
    let end = source.len() - 1;
    let mut found = Diagnostic::error(F003, Span { start: 3, end }, evil, evil);
    found = found.also(Span { start: 0, end: 1 }, evil).help(evil);
    let style = Style {
        file: evil,
        colours: false,
        width: None,
    };
    let text = render(&source, &[found], style);
    let shown = |c: char| c == '\n' || !c.is_control();
    assert!(text.chars().all(shown), "{text:?}");
    for hidden in ['\u{202e}', '\u{200b}', '\u{2028}', '\u{e0041}'] {
        assert!(!text.contains(hidden), "{text:?}");
    }
    assert!(text.contains(r"\u{1b}[31m\u{202e}\u{7}\u{9b}"), "{text}");
}

#[test]
fn carets_stand_under_what_they_mean_after_signs_that_were_written_out() {
    let source = "\u{feff}a: \u{1b}\r\nb: \u{1b}bad\r\n";
    let start = source.find("bad").expect("bad");
    let at = Span {
        start,
        end: start + 3,
    };
    let text = plain(source, &[Diagnostic::error(F003, at, "t", "l")]);
    let mut lines = text.lines().skip_while(|line| !line.starts_with("2 |"));
    let (code, carets) = (lines.next().expect("code"), lines.next().expect("carets"));
    assert_eq!(code, r"2 | b: \u{1b}bad");
    assert_eq!(code.find("bad"), carets.find("^^^"), "{text}");
}

#[test]
fn a_secret_in_clear_is_not_repeated_by_any_message() {
    let source = "a: c4n4ry\nb: 1\n";
    let found = [
        Diagnostic::error(F013, Span { start: 3, end: 9 }, "t", "l"),
        Diagnostic::error(F003, Span { start: 0, end: 1 }, "t", "l"),
    ];
    let text = plain(source, &found);
    assert!(!text.contains("c4n4ry"), "{text}");
    assert!(!to_json(source, &found, "f").to_string().contains("c4n4ry"));
}

#[test]
fn only_so_many_are_drawn_and_the_rest_is_counted() {
    let found = vec![Diagnostic::error(F003, Span { start: 0, end: 1 }, "t", "l"); MAX_DRAWN + 7];
    let text = plain("x", &found);
    assert_eq!(text.matches("error[F003]").count(), MAX_DRAWN);
    assert!(text.ends_with("… and 7 more\n\n"), "{text}");
}

#[test]
fn places_are_counted_in_characters_from_one() {
    let source = "\u{feff}aé☃\nb\r\nc";
    for (needle, expected) in [("a", (1, 1)), ("☃", (1, 3)), ("b", (2, 1)), ("c", (3, 1))] {
        let offset = source.find(needle).expect(needle);
        assert_eq!(line_column(source, offset), expected, "{needle}");
    }
    assert_eq!(
        line_column(source, 1_000),
        (3, 2),
        "beyond the end is the end"
    );
}

#[test]
fn programs_get_the_same_as_people() {
    let source = "name: x\nkye: a\n";
    let found = [Diagnostic::warning(F003, Span { start: 8, end: 11 }, "t", "l").help("h")];
    insta::assert_json_snapshot!(to_json(source, &found, "f.yaml"), @r#"
    [
      {
        "also": [],
        "at": {
          "column": 1,
          "end": 11,
          "end_column": 4,
          "end_line": 2,
          "file": "f.yaml",
          "line": 2,
          "start": 8
        },
        "code": "F003",
        "help": [
          "h"
        ],
        "label": "l",
        "level": "warning",
        "title": "t"
      }
    ]
    "#);
}

#[test]
fn counts_are_spelled_out() {
    let at = Span { start: 0, end: 0 };
    let error = || Diagnostic::error(F003, at, "t", "l");
    let warning = Diagnostic::warning(F003, at, "t", "l");
    assert_eq!(summary(&[]), "no problems");
    assert_eq!(summary(&[error()]), "1 error");
    assert_eq!(summary(&[error(), warning, error()]), "2 errors, 1 warning");
}
