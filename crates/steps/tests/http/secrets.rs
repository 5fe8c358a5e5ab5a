//! A secret is sent, and never comes back.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use semel_flow::model::Class;

use crate::sink::{Manner, Sink, answer};
use crate::{perform, steps, task};

const SECRET: &str = "s3cret-t0ken/+";

/// Wherever a destination repeats a secret, in whatever form, the outcome does not.
#[tokio::test]
async fn what_is_echoed_is_taken_out() {
    let basic = STANDARD.encode(format!("user:{SECRET}"));
    let body = format!(
        r#"{{"plain":"a {SECRET} b","{SECRET}":1,"url":"?t=s3cret-t0ken%2F%2B","lower":"s3cret-t0ken%2f%2b","basic":"Basic {basic}","nested":[["{SECRET}"]]}}"#
    );
    let headers = format!("x-echo: {SECRET}\r\nset-cookie: t={SECRET}\r\n");
    for status in ["200 OK", "400 Bad Request", "429 Slow", "500 Oh"] {
        let sink = Sink::new(Manner::Answer(answer(status, &headers, &body))).await;
        for fields in [
            r#""bearer":"{{TOKEN}}""#,
            r#""basic":{"user":"user","password":"{{TOKEN}}"}"#,
            r#""json":{"a":{"b":["x{{TOKEN}}y"]}}"#,
            r#""query":{"t":"{{TOKEN}}"}"#,
            r#""headers":{"x-key":"{{TOKEN}}"}"#,
        ] {
            let input = format!(r#"{{"post":"{}",{fields}}}"#, sink.url("/"));
            let (outcome, sent) = perform(&steps(), &task(Class::Guarded, &input)).await;
            assert_eq!(sent, 1, "{outcome:?}");
            let told = format!("{outcome:?}");
            for form in [SECRET, "s3cret-t0ken%2F%2B", "s3cret-t0ken%2f%2b", &basic] {
                assert!(!told.contains(form), "{status} {fields}: {told}");
            }
            assert!(told.contains("[secret TOKEN]"), "{told}");
        }
    }
}

/// A URL that is itself a secret is not shown, not even where the failure is about it.
#[tokio::test]
async fn a_secret_url_is_not_shown() {
    let steps = steps();
    for fields in [
        r#"{"post":"{{URL}}"}"#,
        r#"{"post":"{{URL}}\u0001"}"#,
        r#"{"post":"x{{URL}}"}"#,
    ] {
        let (outcome, _) = perform(&steps, &task(Class::Guarded, fields)).await;
        let told = format!("{outcome:?}");
        assert!(!told.contains("hidden"), "{told}");
    }
    let sink = Sink::new(Manner::Answer(crate::sink::ok())).await;
    let input = format!(r#"{{"post":"{}"}}"#, sink.url("/{{TOKEN}}"));
    let (outcome, _) = perform(&steps, &task(Class::Guarded, &input)).await;
    let told = crate::message(&outcome);
    assert!(told.contains("/***") && !told.contains("s3cret"), "{told}");
    assert_eq!(sink.seen()[0].path(), "/s3cret-t0ken/+");
}
