//! Whatever a file holds, reading it ends with a flow or with reasons, at places that exist.

use proptest::prelude::*;

use crate::survive::flow;

/// Pieces that mean something to YAML or to us.
const PIECES: [&str; 30] = [
    "\t",
    "\n",
    "  ",
    "- ",
    ": ",
    "{",
    "}",
    "[",
    "]",
    "\"",
    "'",
    "|",
    ">",
    "&a ",
    "*a",
    "!",
    "#",
    "---\n",
    "${{ ",
    " }}",
    "\u{feff}",
    "☃",
    "\u{202e}",
    "\0",
    "\r\n",
    "id: ",
    "steps:\n",
    "null",
    "99999999999999999999",
    "%",
];

fn sources() -> Vec<String> {
    let here = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut sources = crate::flows(&crate::root().join("examples"));
    sources.extend(crate::flows(&here.join("tests/bad_flows")));
    sources.into_iter().map(|(_, source)| source).collect()
}

#[derive(Clone, Debug)]
enum Change {
    Insert(prop::sample::Index, usize),
    Remove(prop::sample::Index, usize),
    Repeat(prop::sample::Index, usize),
    Cut(prop::sample::Index),
}

fn change() -> impl Strategy<Value = Change> {
    let at = any::<prop::sample::Index>;
    prop_oneof![
        4 => (at(), 0..PIECES.len()).prop_map(|(at, piece)| Change::Insert(at, piece)),
        3 => (at(), 1..30_usize).prop_map(|(at, length)| Change::Remove(at, length)),
        2 => (at(), 1..200_usize).prop_map(|(at, length)| Change::Repeat(at, length)),
        1 => at().prop_map(Change::Cut),
    ]
}

fn changed(mut source: String, changes: &[Change]) -> String {
    for change in changes {
        let place =
            |at: &prop::sample::Index| source.floor_char_boundary(at.index(source.len() + 1));
        match change {
            Change::Insert(at, piece) => source.insert_str(place(at), PIECES[*piece]),
            Change::Remove(at, length) => {
                let start = place(at);
                let end = source.floor_char_boundary((start + length).min(source.len()));
                source.replace_range(start..end.max(start), "");
            }
            Change::Repeat(at, length) => {
                let start = place(at);
                let end = source.floor_char_boundary((start + length).min(source.len()));
                let piece = source[start..end.max(start)].to_owned();
                source.insert_str(start, &piece);
            }
            Change::Cut(at) => source.truncate(place(at)),
        }
    }
    source
}

/// The worst that fits into a file: every line wrong, and the messages still come at once.
#[test]
fn a_file_of_nothing_but_problems_is_bounded() {
    let lines: Vec<_> = (0..9_000).map(|at| format!("wrong{at}: x")).collect();
    let source = lines.join("\n");
    flow(&source);
    assert_eq!(semel_flow::read(&source).diagnostics.len(), 1_000);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn changed_flows_are_read_to_the_end(
        source in prop::sample::select(sources()),
        changes in prop::collection::vec(change(), 1..6),
    ) {
        flow(&changed(source, &changes));
    }

    #[test]
    fn any_text_is_read_to_the_end(pieces in prop::collection::vec(0..PIECES.len(), 0..60)) {
        let source: String = pieces.into_iter().map(|piece| PIECES[piece]).collect();
        flow(&source);
    }
}
