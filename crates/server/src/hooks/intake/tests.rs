//! Bodies that become events, and the answer each other one must get.

use std::io::Write as _;

use axum::http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use axum::http::{HeaderName, HeaderValue};
use axum::response::IntoResponse as _;
use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use http_body_util::BodyExt as _;
use semel_flow::model::Preset;

use super::*;

const JSON: &str = "application/json";
const FORM: &str = "application/x-www-form-urlencoded";
const LIMIT: usize = 1024 * 1024;

fn read(preset: Preset, kind: &str, encoding: &[&str], body: &[u8]) -> Result<Event, Problem> {
    let mut headers = HeaderMap::new();
    let all = [(CONTENT_TYPE, kind)].into_iter();
    let all = all.chain(encoding.iter().map(|one| (CONTENT_ENCODING, *one)));
    for (name, value) in all.filter(|(_, value)| !value.is_empty()) {
        let name: HeaderName = name;
        headers.append(name, HeaderValue::from_str(value).unwrap());
    }
    let body = Bytes::copy_from_slice(body);
    Event::read(Sender::of(preset), &headers, body, LIMIT)
}

/// Status, code and offset: `400 json_invalid @3`.
async fn gist(read: Result<Event, Problem>) -> String {
    let Err(problem) = read else {
        return "accepted".to_owned();
    };
    let response = problem.into_response();
    let status = response.status().as_u16();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
    let offset = body.get("offset").map(|offset| format!(" @{offset}"));
    let code = body["code"].as_str().unwrap();
    format!("{status} {code}{}", offset.unwrap_or_default())
}

fn zipped(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn deflated(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[tokio::test]
async fn json_that_not_every_reader_reads_alike_is_refused_with_the_offset() {
    let deep = format!("{}{}", "[".repeat(65), "]".repeat(65));
    for preset in Preset::ALL {
        for (body, expected) in [
            (&b""[..], "400 body_missing @0"),
            (b" ", "400 body_missing @1"),
            (b"{", "400 json_invalid @1"),
            (b"{} x", "400 json_invalid @3"),
            (br#"{"a":NaN}"#, "400 json_invalid @5"),
            (br#"{"a":1e400}"#, "400 json_invalid @5"),
            (br#"{"a":"\u0000"}"#, "400 json_invalid @6"),
            (br#"{"a":"\ud800"}"#, "400 json_invalid @6"),
            (br#"{"a":1,"a":2}"#, "400 json_invalid @7"),
            (b"{\"a\":\"\xff\"}", "400 json_invalid @6"),
            (deep.as_bytes(), "400 too_deep @64"),
            (&deep.as_bytes()[1..129], "accepted"),
            (b"\xef\xbb\xbf{}", "accepted"),
        ] {
            let shown = String::from_utf8_lossy(body);
            let read = read(preset, JSON, &[], body);
            assert_eq!(gist(read).await, expected, "{preset:?} {shown}");
        }
    }
}

#[test]
fn numbers_are_kept_exactly_and_spelling_does_not_matter() {
    let kind = "application/vnd.api+json; charset=utf-8";
    let body = br#" {"b": 9007199254740993, "a": 0.10000000000000000000000001} "#;
    let event = read(Preset::None, kind, &[], body).unwrap();
    let text = r#"{"a":0.10000000000000000000000001,"b":9007199254740993}"#;
    assert_eq!(event.canonical.as_str(), text);
    assert_eq!(event.value.to_json(), text);
}

#[tokio::test]
async fn only_json_and_forms_are_accepted() {
    for kind in [
        "",
        "text/plain",
        "text/json",
        "application/xml",
        "multipart/form-data",
        "json",
    ] {
        let read = read(Preset::None, kind, &[], b"{}");
        let detail = read.as_ref().unwrap_err().detail().to_owned();
        assert!(detail.contains(JSON) && detail.contains(FORM), "{detail}");
        assert_eq!(gist(read).await, "415 content_type_unsupported", "{kind}");
    }
    for kind in ["", FORM, JSON] {
        let empty = read(Preset::None, kind, &[], b"");
        assert_eq!(gist(empty).await, "400 body_missing @0", "{kind}");
    }
    let mut headers = HeaderMap::new();
    headers.append(CONTENT_TYPE, HeaderValue::from_static(JSON));
    headers.append(CONTENT_TYPE, HeaderValue::from_static(FORM));
    let twice = Event::read(Sender::of(Preset::None), &headers, "{}".into(), LIMIT);
    assert_eq!(gist(twice).await, "415 content_type_unsupported");
}

#[tokio::test]
async fn forms_are_read_as_strictly_as_json() {
    for (body, expected) in [
        ("a=1&b=x+y%26%C3%A9&&c", r#"{"a":"1","b":"x y&é","c":""}"#),
        ("a=b=c", r#"{"a":"b=c"}"#),
        ("=x", r#"{"":"x"}"#),
        ("a=1&a=2", "400 form_invalid @4"),
        ("a=1&%61=2", "400 form_invalid @4"),
        ("a=%", "400 form_invalid @2"),
        ("a=xy%4", "400 form_invalid @4"),
        ("a=%zz", "400 form_invalid @2"),
        ("a=%+1", "400 form_invalid @2"),
        ("a=1&b=%00", "400 form_invalid @6"),
        ("a=1&b=%ff", "400 form_invalid @6"),
        ("payload={", r#"{"payload":"{"}"#),
    ] {
        let read = read(Preset::None, FORM, &[], body.as_bytes());
        let shown = match read {
            Ok(event) => {
                assert_eq!(event.value.to_json(), event.canonical.as_str());
                event.canonical.into_text().into()
            }
            read => gist(read).await,
        };
        assert_eq!(shown, expected, "{body}");
    }
}

#[tokio::test]
async fn slack_and_github_wrap_json_in_a_form() {
    for preset in [Preset::Slack, Preset::Github] {
        let body = b"payload=%7B%22b%22%3A1%2C%22a%22%3A%22x+y%22%7D";
        let event = read(preset, FORM, &[], body).unwrap();
        assert_eq!(event.canonical.as_str(), r#"{"a":"x y","b":1}"#);
        assert_eq!(event.value, Value::of(&event.canonical));
        let broken = read(preset, FORM, &[], b"payload=%7B%22");
        assert_eq!(gist(broken).await, "400 json_invalid @2");
        let beside = read(preset, FORM, &[], b"payload=1&text=x").unwrap();
        assert_eq!(beside.canonical.as_str(), r#"{"payload":"1","text":"x"}"#);
    }
}

#[tokio::test]
async fn packed_bodies_are_unpacked_within_limits() {
    let good = br#"{"a":1}"#;
    let large = [&b"\""[..], &vec![b'x'; LIMIT], b"\""].concat();
    // 300 KiB that pack to some hundred bytes: within the size, beyond the ratio.
    let dense = [&b"\""[..], &vec![b'x'; 300 * 1024], b"\""].concat();
    let fair = [&b"\""[..], &vec![b'x'; 60 * 1024], b"\""].concat();
    let cut = |bytes: Vec<u8>| bytes[..bytes.len() - 3].to_vec();
    let more = |bytes: Vec<u8>| [bytes, b"more".to_vec()].concat();
    for (encoding, body, expected) in [
        (&["gzip"][..], zipped(good), "accepted"),
        (&["GZIP"], zipped(good), "accepted"),
        (&["x-gzip"], zipped(good), "accepted"),
        (&["deflate"], deflated(good), "accepted"),
        (&["identity"], good.to_vec(), "accepted"),
        (
            &["gzip"],
            [zipped(b"{\"a\":"), zipped(b"1}")].concat(),
            "accepted",
        ),
        (&["gzip"], zipped(&fair), "accepted"),
        (&["deflate"], deflated(&fair), "accepted"),
        (&["gzip"], zipped(&dense), "413 body_too_large"),
        (&["deflate"], deflated(&dense), "413 body_too_large"),
        (&["gzip"], zipped(&large), "413 body_too_large"),
        (&["deflate"], deflated(&large), "413 body_too_large"),
        (&["gzip"], good.to_vec(), "400 encoding_invalid"),
        (&["deflate"], good.to_vec(), "400 encoding_invalid"),
        (&["gzip"], cut(zipped(good)), "400 encoding_invalid"),
        (&["deflate"], cut(deflated(good)), "400 encoding_invalid"),
        (&["gzip"], more(zipped(good)), "400 encoding_invalid"),
        (&["deflate"], more(deflated(good)), "400 encoding_invalid"),
        (&["br"], good.to_vec(), "415 encoding_unsupported"),
        (
            &["gzip, gzip"],
            zipped(&zipped(good)),
            "415 encoding_unsupported",
        ),
        (
            &["identity", "gzip"],
            zipped(good),
            "415 encoding_unsupported",
        ),
    ] {
        let read = read(Preset::None, JSON, encoding, &body);
        assert_eq!(
            gist(read).await,
            expected,
            "{encoding:?} {} bytes",
            body.len()
        );
    }
}
