//! Whatever the text: no panic, no endless work, and every message points into it.

use proptest::prelude::*;
use semel_flow::Value;
use semel_flow::expr::{Expr, Template};

use crate::survive::{World, expression, whole};

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

#[test]
fn what_once_went_wrong_is_survived() {
    for source in ["//車", "a +\u{3000}", "車", "a?1:".repeat(90).as_str()] {
        expression(source);
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
        let parsed = Expr::parse(seed, whole(seed)).expect(seed);
        let value = parsed.eval(&World::new());
        assert!(value.is_ok() || seed.contains("price"), "{seed}: {value:?}");
        expression(seed);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2048, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_survived(source in "\\PC{0,60}") {
        expression(&source);
    }

    #[test]
    fn any_words_are_survived(words in prop::collection::vec(prop::sample::select(&WORDS[..]), 0..40)) {
        expression(&words.concat());
        expression(&words.join(" "));
    }

    #[test]
    fn changed_expressions_are_survived(source in mutated()) {
        expression(&source);
    }

    #[test]
    fn templates_are_survived(source in mutated(), around in "[${} a]{0,8}") {
        expression(&format!("{around}${{{{{source}}}}}{around}"));
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
            let world = World::of([("x", x.as_str()), ("y", y.as_str())]);
            template.key(&world).expect("key").as_str().to_owned()
        };
        prop_assert_eq!(a == b, key(&a) == key(&b));
    }
}
