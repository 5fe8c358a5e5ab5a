use super::*;

fn tree(source: &str) -> Node {
    let (node, found) = parse(source);
    assert!(found.is_empty(), "{source:?}: {found:?}");
    node.expect("a node")
}

fn fault(source: &str) -> Diagnostic {
    let (node, mut found) = parse(source);
    assert!(node.is_none(), "{source:.60}");
    found.pop().expect("a reason")
}

/// Every node below, itself first.
fn every<'n>(node: &'n Node, visit: &mut dyn FnMut(&'n Node)) {
    visit(node);
    match &node.kind {
        Kind::List(items) => items.iter().for_each(|item| every(item, visit)),
        Kind::Map(entries) => entries.iter().for_each(|(_, value)| every(value, visit)),
        _ => {}
    }
}

#[test]
fn plain_scalars_are_what_json_calls_them() {
    for (text, expected) in [
        ("1", "number 1"),
        ("-0", "number -0"),
        ("1.50", "number 1.50"),
        ("1e3", "number 1e3"),
        (
            "123456789012345678901234567890",
            "number 123456789012345678901234567890",
        ),
        ("01234", "text 01234"),
        ("+1", "text +1"),
        ("0x1f", "text 0x1f"),
        ("1_000", "text 1_000"),
        (".5", "text .5"),
        (".inf", "text .inf"),
        ("12:30", "text 12:30"),
        ("2026-01-01", "text 2026-01-01"),
        ("yes", "text yes"),
        ("off", "text off"),
        ("on", "text on"),
        ("y", "text y"),
        ("NO", "text NO"),
        ("true", "bool true"),
        ("True", "bool true"),
        ("FALSE", "bool false"),
        ("null", "null"),
        ("~", "null"),
        ("", "null"),
        ("'1'", "text 1"),
        ("\"true\"", "text true"),
        ("\"\"", "text "),
        ("!!str 1", "text 1"),
    ] {
        let shown = match tree(&format!("a: {text}"))
            .get("a")
            .expect("a")
            .kind
            .clone()
        {
            Kind::Null => "null".to_owned(),
            Kind::Bool(it) => format!("bool {it}"),
            Kind::Number(it) => format!("number {it}"),
            Kind::Text(it) => format!("text {it}"),
            other => panic!("{text}: {other:?}"),
        };
        assert_eq!(shown, expected, "{text}");
    }
}

#[test]
fn keys_are_text() {
    let node = tree("on: 1\nyes: 2\n200: 3\ntrue: 4\n\"a b\": 5");
    let Kind::Map(entries) = &node.kind else {
        panic!("{node:?}");
    };
    let keys: Vec<_> = entries.iter().map(|(key, _)| key.it.as_str()).collect();
    assert_eq!(keys, ["on", "yes", "200", "true", "a b"]);
}

#[test]
fn places_are_those_of_the_bytes() {
    let source = "\u{feff}# é\na: plain ☃ text  # no\nb: 'it''s'\nc: \"q ☃\"\nd: \"a\\tb\"\ne: |\n  lit\nf: two\n  lines\n";
    let node = tree(source);
    for (name, slice, exact) in [
        ("a", "plain ☃ text", true),
        ("b", "it''s", false),
        ("c", "q ☃", true),
        ("d", "a\\tb", false),
        ("e", "lit", false),
        ("f", "two\n  lines", false),
    ] {
        let value = node.get(name).expect(name);
        assert_eq!(&source[value.span.start..value.span.end], slice, "{name}");
        assert_eq!(value.exact, exact, "{name}");
    }
    every(&node, &mut |node| {
        let slice = source.get(node.span.start..node.span.end);
        assert!(slice.is_some(), "{node:?}");
        assert!(!node.exact || slice == node.scalar(), "{node:?}");
    });
}

#[test]
fn a_value_that_is_left_out_is_where_its_name_is() {
    let node = tree("a:\nb: 1");
    assert_eq!(node.get("a").expect("a").span, Span { start: 0, end: 1 });
}

#[test]
fn collections_end_where_their_last_part_does() {
    let source = "a:\n  - b: 1\n    c: {d: 2}\n\n# later\ne: 3\n";
    let node = tree(source);
    let list = node.get("a").expect("a");
    let slice = &source[list.span.start..list.span.end];
    assert!(slice.ends_with("c: {d: 2}"), "{slice:?}");
}

#[test]
fn budgets_are_kept() {
    let long = format!("a: {}", "x".repeat(MAX_FILE_BYTES));
    assert!(fault(&long).title.contains(&MAX_FILE_BYTES.to_string()));
    tree(&format!("a: {}", "x".repeat(MAX_FILE_BYTES - 3)));

    let items = |count: usize| format!("[{}]", vec!["1"; count].join(","));
    tree(&items(MAX_NODES - 1));
    assert!(fault(&items(MAX_NODES)).title.contains("nodes"));

    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    tree(&nested(MAX_DEPTH));
    assert!(fault(&nested(MAX_DEPTH + 1)).title.contains("nested"));
}

/// Each alias adds one level to the one before, so none of them is deep where it is written.
#[test]
fn aliases_cannot_be_stacked_beyond_the_depth() {
    let chain = |length: usize| {
        let link = |at: usize| format!("n{}: &n{} [*n{at}]\n", at + 1, at + 1);
        let links: String = (0..length).map(link).collect();
        format!("n0: &n0 [x]\n{links}")
    };
    // The map, then one list for each link; the scalar is a level too.
    tree(&chain(MAX_DEPTH - 3));
    assert!(fault(&chain(MAX_DEPTH)).title.contains("nested"));
}

#[test]
fn an_alias_costs_what_it_stands_for() {
    let list = format!("a: &a [{}]\n", vec!["1"; 1000].join(","));
    let uses = |count: usize| {
        let uses: Vec<_> = (0..count).map(|at| format!("b{at}: *a")).collect();
        uses.join(
            "
",
        )
    };
    tree(&format!("{list}{}", uses(18)));
    let found = fault(&format!("{list}{}", uses(19)));
    assert!(found.title.contains("aliases"), "{}", found.title);
}
