use super::*;
use proptest::prelude::*;

#[test]
fn numbers_keep_their_last_digit() {
    for text in [
        "9007199254740993",
        "0.1",
        "-123456789012345678901",
        "3.14159265358979323846264",
    ] {
        let value = Value::read(text.as_bytes()).expect(text);
        assert_eq!(value.to_json(), text);
    }
    assert_eq!(Value::read(b"10e-1"), Ok(Value::Int(1)));
}

#[test]
fn a_secret_is_shown_by_name() {
    let pieces = [Piece::Plain("Bearer ".into()), Piece::Secret("KEY".into())];
    let sealed = Value::Sealed(pieces.into());
    assert_eq!(sealed.to_json(), r#""Bearer ${{ secrets.KEY }}""#);
}

proptest! {
    #[test]
    fn text_goes_through_unchanged(text in "\\PC*|[\\x01-\\x1f\"\\\\/]*") {
        let value = Value::text(&text);
        prop_assert_eq!(Value::read(value.to_json().as_bytes()).expect("own JSON"), value);
    }

    #[test]
    fn canonical_text_is_read_back(items in prop::collection::vec(("[a-z\"\\\\\u{1}\u{1f600}]{1,4}", any::<i64>(), any::<f64>()), 0..6)) {
        let value = Value::list(items.into_iter().map(|(name, int, float)| {
            let float = Value::number(float).unwrap_or(Value::Null);
            Value::map([(name.as_str(), Value::list(vec![Value::Int(int), float, Value::Null, Value::Bool(true)]))])
        }).collect());
        let canonical = value.to_canonical();
        if let Ok(canonical) = canonical {
            prop_assert_eq!(Value::of(&canonical), value);
        }
    }
}
