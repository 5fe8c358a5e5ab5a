//! Whatever the text: no panic, no endless work, and every message points into it.

use proptest::prelude::*;

use super::*;

const SEEDS: [&str; 10] = [
    "event.items.filter(i, i.qty > 0).map(i, {\"id\": i.id, 'n': i.qty * 2 + 1})",
    "default(event.customer.phone, \"+\" + string(-1)) + r\"\\d\" + '''x'y'''",
    "has(event.id) && !(event.amount / 100.0 >= 1e-3 || n % 2 == 1) ? [1, 2][0] : -0x1F",
    "formatTime(now() + duration(\"1h30m\"), '%Y-%m-%d', \"Europe/Vienna\")",
    "hash(event, [null, true, .5, 7u]) + toJson(parseJson('{\"a\": [1]}').a)",
    "\"grüße\".substring(1, 3).replace('ü', \"\\u00fc\").split('').reverse().join('-')",
    "event.customer.`e-mail`.matches('^[a-z]+(x|y)*$') // so be it",
    "sort(distinct(flatten([event.tags, ['z']]))).slice(1, 9) == ['b', 'z']",
    "round(event.price * 3, 1) + min([1, 2.5]) - abs(-3) in values({'a': 4})",
    "base64Decode(base64Encode(urlEncode('a b'))) + hexDecode(hexEncode(uuid())) + secrets.KEY",
];

const WORDS: [&str; 40] = [
    "event", ".", "items", "[", "]", "(", ")", "{", "}", ",", ":", "?", "+", "-", "*", "/", "%",
    "!", "&&", "||", "==", "<", "in", "0", "1.5", "\"a\"", "'", "\"\"\"", "\\", "r'", "map", "has",
    "size", "default", "matches", "secrets", "n", "`", "ü", "\n",
];

/// Reads, and if that works evaluates; checks what can be checked of any text.
fn survive(source: &str) {
    match Expr::parse(source, whole(source)) {
        Ok(expr) => {
            within(expr.ast(), whole(source));
            if let Err(error) = expr.eval(&World::new()) {
                assert!(error.span.end <= source.len(), "{source:?}: {error:?}");
                assert!(
                    source.is_char_boundary(error.span.start),
                    "{source:?}: {error:?}"
                );
                assert!(!error.message.is_empty());
            }
        }
        Err(diagnostic) => {
            let at = diagnostic.at;
            assert!(
                at.start <= at.end && at.end <= source.len(),
                "{source:?}: {diagnostic:?}"
            );
            let ends = source.is_char_boundary(at.start) && source.is_char_boundary(at.end);
            assert!(ends, "{source:?}: {diagnostic:?}");
        }
    }
}

/// Every part stands within what it is a part of.
fn within(ast: &ast::Ast, outer: Span) {
    let (start, end) = (ast.span.start, ast.span.end);
    assert!(
        outer.start <= start && start < end && end <= outer.end,
        "{ast:?} in {outer:?}"
    );
    for part in ast.parts() {
        within(part, ast.span);
    }
}

#[test]
fn what_once_went_wrong_is_survived() {
    for source in ["//車", "a +\u{3000}", "車", "a?1:".repeat(90).as_str()] {
        survive(source);
    }
}

/// A seed, cut and pasted.
fn mutated() -> impl Strategy<Value = String> {
    let seed = prop::sample::select(&SEEDS[..]);
    let edit = (
        any::<prop::sample::Index>(),
        0..12_usize,
        prop::sample::select(&WORDS[..]),
    );
    (seed, prop::collection::vec(edit, 1..6)).prop_map(|(seed, edits)| {
        let mut chars: Vec<char> = seed.chars().collect();
        for (at, cut, word) in edits {
            let start = at.index(chars.len() + 1);
            let end = (start + cut).min(chars.len());
            chars.splice(start..end, word.chars());
        }
        chars.into_iter().collect()
    })
}

#[test]
fn the_seeds_themselves_have_values() {
    for seed in SEEDS {
        let value = eval(seed);
        assert!(value.is_ok() || seed.contains("price"), "{seed}: {value:?}");
        survive(seed);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2048, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_survived(source in "\\PC{0,60}") {
        survive(&source);
    }

    #[test]
    fn any_words_are_survived(words in prop::collection::vec(prop::sample::select(&WORDS[..]), 0..40)) {
        survive(&words.concat());
        survive(&words.join(" "));
    }

    #[test]
    fn changed_expressions_are_survived(source in mutated()) {
        survive(&source);
    }

    #[test]
    fn templates_are_survived(source in mutated(), around in "[${} a]{0,8}") {
        let text = format!("{around}${{{{{source}}}}}{around}");
        if let Ok(template) = Template::parse(&text, whole(&text), true) {
            let _ = template.render(&World::new());
            let _ = template.key(&World::new());
        }
    }

    /// The value of a template's text is what a single pass gives, however it looks.
    #[test]
    fn text_without_an_opening_is_left_alone(text in "[^$]{0,40}") {
        let template = Template::parse(&text, whole(&text), true).expect("plain");
        prop_assert_eq!(template.render(&World::new()), Ok(Value::text(&text)));
    }

    /// Two lists of values that differ give keys that differ.
    #[test]
    fn keys_do_not_collide(
        a in ("[a/%]{1,4}", "[a/%]{1,4}"),
        b in ("[a/%]{1,4}", "[a/%]{1,4}"),
    ) {
        let text = "k/${{ x }}/${{ y }}";
        let template = Template::parse(text, whole(text), true).expect("key");
        let key = |(x, y): &(String, String)| {
            let world = World([("x", Value::text(x)), ("y", Value::text(y))].into());
            template.key(&world).expect("key").as_str().to_owned()
        };
        prop_assert_eq!(a == b, key(&a) == key(&b));
    }
}
