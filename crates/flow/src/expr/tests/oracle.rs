//! Where our meaning and CEL's should be the same, `cel`'s own evaluator is asked. Left out on
//! purpose: decimals (ours are exact), and what only one of the two has.

use cel::objects::Key;
use cel::{Context, Program};
use proptest::prelude::*;

use super::*;

const LIST: [i64; 4] = [3, 0, -2, 3];
const MAP: [(&str, i64); 2] = [("a", 1), ("b", 0)];

fn ours(source: &str) -> Option<Value> {
    let list = LIST.map(Value::Int).to_vec();
    let map = MAP.map(|(name, int)| (name, Value::Int(int)));
    let world = World(
        [
            ("i", Value::Int(7)),
            ("s", Value::text("süß")),
            ("t", Value::Bool(true)),
            ("l", Value::list(list)),
            ("m", Value::map(map)),
        ]
        .into(),
    );
    parse(source).eval(&world).ok()
}

fn theirs(source: &str) -> Option<Value> {
    let mut context = Context::default();
    context.add_variable_from_value("i", 7_i64);
    context.add_variable_from_value("s", "süß");
    context.add_variable_from_value("t", true);
    context.add_variable_from_value("l", LIST.to_vec());
    let map: std::collections::HashMap<&str, i64> = MAP.into();
    context.add_variable_from_value("m", map);
    let program = Program::compile(source).expect(source);
    program
        .execute(&context)
        .ok()
        .map(|value| converted(&value))
}

fn converted(value: &cel::Value) -> Value {
    match value {
        cel::Value::Null => Value::Null,
        cel::Value::Bool(bool) => Value::Bool(*bool),
        cel::Value::Int(int) => Value::Int(*int),
        cel::Value::String(text) => Value::text(text),
        cel::Value::List(items) => Value::list(items.iter().map(converted).collect()),
        cel::Value::Map(map) => Value::map(map.map.iter().map(|(name, value)| match name {
            Key::String(name) => (name.as_str(), converted(value)),
            other => panic!("a key {other:?}"),
        })),
        other => panic!("not in the grammar: {other:?}"),
    }
}

/// What an expression is meant to give; now and then one of another kind is put in its place.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Int,
    Bool,
    Text,
    List,
    Map,
}

const KINDS: [Kind; 5] = [Kind::Int, Kind::Bool, Kind::Text, Kind::List, Kind::Map];

/// Decisions, read one byte at a time; when there are none left, the simplest.
struct Choices<'c>(std::slice::Iter<'c, u8>);

impl Choices<'_> {
    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        let choice = self.0.next().copied().unwrap_or(0);
        all[usize::from(choice) % all.len()]
    }

    fn expression(&mut self, kind: Kind, depth: u32) -> String {
        let stray = self.0.next().is_some_and(|choice| choice % 16 == 1);
        let kind = match (kind, stray) {
            // Their `+` takes an object for a list of its names; CEL's does not.
            (Kind::List, true) => self.of(&KINDS[..3]),
            (_, true) => self.of(&KINDS),
            (kind, false) => kind,
        };
        let (form, kinds) = self.of(forms(kind));
        if depth == 0 || self.0.len() == 0 {
            return self.of(leaves(kind)).to_owned();
        }
        let mut text = String::new();
        let mut kinds = kinds.iter();
        for piece in form.split_inclusive('#') {
            match (piece.strip_suffix('#'), kinds.next()) {
                (Some(piece), Some(kind)) => {
                    text.push_str(piece);
                    text.push_str(&self.expression(*kind, depth - 1));
                }
                _ => text.push_str(piece),
            }
        }
        text
    }
}

fn leaves(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Int => &[
            "0",
            "1",
            "-3",
            "i",
            "x",
            "9223372036854775807",
            "m.a",
            "m.nope",
            "l[0]",
            "l[9]",
        ],
        Kind::Bool => &["true", "false", "t", "has(m.a)", "has(m.nope)"],
        Kind::Text => &["\"\"", "\"a\"", "'süß'", "s", "\"b\""],
        Kind::List => &["[]", "[1]", "l", "[x, 2, 2]"],
        Kind::Map => &["{}", "m", "{\"a\": 1, \"b\": 0}", "{\"a\": x}"],
    }
}

type Form = (&'static str, &'static [Kind]);

fn forms(kind: Kind) -> &'static [Form] {
    use Kind::{Bool, Int, List, Map, Text};
    match kind {
        Int => &[
            ("(# + #)", &[Int, Int]),
            ("(# - #)", &[Int, Int]),
            ("# * #", &[Int, Int]),
            ("(#) / (#)", &[Int, Int]),
            ("(#) % (#)", &[Int, Int]),
            ("-(#)", &[Int]),
            ("size(#)", &[List]),
            ("size(#)", &[Text]),
            ("size(#)", &[Map]),
            ("(#)[#]", &[List, Int]),
            ("(#)[#]", &[Map, Text]),
            ("(# ? # : #)", &[Bool, Int, Int]),
            ("int(#)", &[Int]),
        ],
        Bool => &[
            ("(# && #)", &[Bool, Bool]),
            ("(# || #)", &[Bool, Bool]),
            ("(# || # && # || #)", &[Bool, Bool, Bool, Bool]),
            ("!(#)", &[Bool]),
            ("(# < #)", &[Int, Int]),
            ("(# >= #)", &[Text, Text]),
            ("(# == #)", &[Int, Int]),
            ("(# != #)", &[Text, Text]),
            ("(# == #)", &[List, List]),
            ("(# == #)", &[Map, Map]),
            ("(# in #)", &[Int, List]),
            ("(# in #)", &[Text, Map]),
            ("(#).all(x, #)", &[List, Bool]),
            ("(#).exists(x, #)", &[List, Bool]),
            ("(#).exists_one(x, #)", &[List, Bool]),
            ("(#).contains(#)", &[Text, Text]),
            ("(#).startsWith(#)", &[Text, Text]),
            ("(#).endsWith(#)", &[Text, Text]),
        ],
        Text => &[
            ("(# + #)", &[Text, Text]),
            ("(# ? # : #)", &[Bool, Text, Text]),
            ("string(#)", &[Int]),
        ],
        List => &[
            ("(# + #)", &[List, List]),
            ("[#, #]", &[Int, Int]),
            ("(#).map(x, #)", &[List, Int]),
            ("(#).map(x, #, #)", &[List, Bool, Int]),
            ("(#).filter(x, #)", &[List, Bool]),
        ],
        Map => &[("{\"a\": #, \"c\": #}", &[Int, Text])],
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1024, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn we_say_what_cel_says(choices in prop::collection::vec(any::<u8>(), 1..100)) {
        let mut choices = Choices(choices.iter());
        let kind = choices.of(&KINDS);
        // A name `x` is always there, bound anew by the macros.
        let source = format!("[2].map(x, {})", choices.expression(kind, 4));
        prop_assert_eq!(ours(&source), theirs(&source), "{}", source);
    }
}
