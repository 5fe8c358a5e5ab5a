//! What names a question.

use std::collections::BTreeMap;

use semel_act::Perform as _;
use semel_flow::diagnostic::Span;
use semel_flow::model::{Act, Tree};

use crate::*;

fn small(api: Api, model: &str) -> Model {
    Model::new(api, model).expect("a name")
}

/// What the question is kept under.
fn identity(steps: &Steps, input: &str) -> Result<String, String> {
    let act = Act {
        kind: Kind::Ai,
        input: Tree::Null,
        exprs: BTreeMap::new(),
        span: Span::default(),
        shadow: None,
    };
    let input = shared::sealed(Value::read(input.as_bytes()).expect(input));
    let identity = steps.identity(&act, &input)?;
    Ok(identity.expect("an identity").to_json())
}

#[test]
fn all_that_the_model_is_told_and_no_more() {
    let one = steps(small(Api::OpenAiChat, "gpt-a"));
    let same = identity(&one, PLAIN).expect("a question");
    assert_eq!(
        same,
        r#"{"api":"openai-chat","messages":[{"role":"user","text":"How are you?"}],"model":"gpt-a","url":"https://api.openai.com/v1"}"#
    );
    // Who keeps it for how long, in which spelling it was asked, its price and its key do not count.
    let mut priced = small(Api::OpenAiChat, "gpt-a");
    priced.price = Some(Price::new("1", "2", "EUR").expect("prices"));
    priced.key = Some(key());
    for (steps, input) in [
        (
            &one,
            r#"{"model":"small","prompt":"How are you?","cache":"30d"}"#,
        ),
        (
            &one,
            r#"{"model":"small","messages":[{"role":"user","text":"How are you?"}]}"#,
        ),
        (&steps(priced), PLAIN),
    ] {
        assert_eq!(identity(steps, input).as_ref(), Ok(&same), "{input}");
    }
    // Everything else does.
    let warm = small(Api::OpenAiChat, "gpt-a").with_temperature("0.5");
    let elsewhere = small(Api::OpenAiChat, "gpt-a").at("https://other.example/v1");
    for (steps, input) in [
        (&one, r#"{"model":"small","prompt":"How are you now?"}"#),
        (
            &one,
            r#"{"model":"small","prompt":"How are you?","system":"Be short."}"#,
        ),
        (
            &one,
            r#"{"model":"small","prompt":"How are you?","sample":"2"}"#,
        ),
        (
            &one,
            r#"{"model":"small","prompt":"How are you?","temperature":0.1}"#,
        ),
        (
            &one,
            r#"{"model":"small","prompt":"How are you?","max_tokens":9}"#,
        ),
        (&one, MOOD),
        (&steps(small(Api::OpenAiChat, "gpt-b")), PLAIN),
        (&steps(small(Api::OpenAiResponses, "gpt-a")), PLAIN),
        (&steps(warm.expect("warm")), PLAIN),
        (&steps(elsewhere.expect("an address")), PLAIN),
    ] {
        assert_ne!(identity(steps, input).as_ref(), Ok(&same), "{input}");
    }
}

#[test]
fn secrets_count_by_name() {
    let one = steps(small(Api::Anthropic, "large-1"));
    let named = identity(&one, r#"{"model":"small","prompt":"{{CODE}}"}"#).expect("a question");
    assert!(named.contains("${{ secrets.CODE }}"), "{named}");
    assert!(!named.contains("t0p-s3cret"), "{named}");
}

#[test]
fn what_cannot_be_asked_is_said_before_anything_is_paid() {
    let mut lines = Vec::new();
    let one = steps(small(Api::OpenAiChat, "gpt-a"));
    for input in [
        r#"{"model":"smal","prompt":"?"}"#,
        r#"{"model":"gigantic","prompt":"?"}"#,
        r#"{"model":"small"}"#,
        r#"{"model":"small","prompt":""}"#,
        r#"{"model":"small","prompt":{"a":1}}"#,
        r#"{"model":"small","prompt":null}"#,
        r#"{"model":"small","messages":[]}"#,
        r#"{"model":"small","messages":[{"role":"tool","text":"x"}]}"#,
        r#"{"model":"small","messages":[{"role":"user","text":"x"},{"role":"assistant","text":"y"}]}"#,
        r#"{"model":"small","prompt":"?","temperature":"warm"}"#,
        r#"{"model":"small","prompt":"?","max_tokens":-1}"#,
        r#"{"model":"small","prompt":"?","schema":{"type":"string"}}"#,
        r#"{"model":"small","prompt":"?","schema":{"type":"object","properties":{"a":{"type":"text"}}}}"#,
        r#"{"model":"small","prompt":"?","schema":{"type":"object","properties":{"a":{"$ref":"https://schema.example/a"}}}}"#,
    ] {
        let told = identity(&one, input).expect_err(input);
        lines.push(format!("{input}\n  {told}"));
    }
    insta::assert_snapshot!(lines.join("\n"));
    let none = Steps::new(Settings::new(Arc::<SecretSet>::default()));
    let told = identity(&none, PLAIN).expect_err("no models");
    assert!(told.contains("none: add [models.NAME]"), "{told}");
}
