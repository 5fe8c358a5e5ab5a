//! Deliveries that must not be taken, and the answer each must get. Nothing is ever half-started.

use std::io::Write;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use semel_server::Settings;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::common::{Answer, Socket, World};

const OPEN: &str = "\
name: open
on:
  webhook: {path: /hooks/open, verify: none}
key: open/${{ event.id }}
steps:
  - {id: note, set: {n: 1}}
";

/// Each must be refused so, and leave nothing behind.
pub(crate) async fn refused(world: &World, answer: &Answer, gist: &str, what: &str) {
    assert_eq!(answer.gist(), gist, "{what}: {}", answer.text());
    assert_eq!(answer.header("content-type"), "application/problem+json");
    assert!(world.runs().await.is_empty(), "{what}");
    let listed = world.call("GET", "/v1/ledger", "").await;
    assert_eq!(listed.json()["effects"], serde_json::json!([]), "{what}");
}

#[tokio::test]
async fn bodies() {
    let world = World::with(Settings {
        max_body: 10_000,
        ..Settings::default()
    })
    .await;
    world.deploy(OPEN).await;
    let deep = format!("{}{}", "[".repeat(65), "]".repeat(65));
    for (body, gist) in [
        (&b""[..], "400 body_missing"),
        (b" ", "400 body_missing"),
        (b"{\"id\":1", "400 json_invalid"),
        (b"{\"id\":1} x", "400 json_invalid"),
        (b"{\"id\":\"\xff\"}", "400 json_invalid"),
        (br#"{"id":"\u0000"}"#, "400 json_invalid"),
        (br#"{"id":"\ud800"}"#, "400 json_invalid"),
        (br#"{"id":NaN}"#, "400 json_invalid"),
        (br#"{"id":1e400}"#, "400 json_invalid"),
        (br#"{"id":1,"id":2}"#, "400 json_invalid"),
        (deep.as_bytes(), "400 too_deep"),
        (&[b' '; 10_001], "413 body_too_large"),
    ] {
        let json = [("content-type", "application/json")];
        let answer = world.deliver("/hooks/open", &json, body.to_vec()).await;
        let what = String::from_utf8_lossy(body);
        refused(&world, &answer, gist, &what).await;
        if gist.starts_with("400") {
            assert!(answer.json()["offset"].is_u64(), "{}", answer.text());
        }
    }
    let marked = "\u{feff}{\"id\":1}";
    let answer = world.hook("/hooks/open", marked).await;
    assert_eq!(answer.status, 202, "a byte order mark is passed over");
}

fn zipped(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[tokio::test]
async fn types_and_encodings() {
    let world = World::new().await;
    world.deploy(OPEN).await;
    let good = br#"{"id":1}"#.to_vec();
    let bomb = zipped(&vec![b' '; 4_000_000]);
    let json = "application/json";
    for (kind, encoding, body, gist) in [
        (
            "text/plain",
            "",
            good.clone(),
            "415 content_type_unsupported",
        ),
        ("", "", good.clone(), "415 content_type_unsupported"),
        (
            "multipart/form-data; boundary=x",
            "",
            b"--x\r\ncontent-disposition: form-data; name=f; filename=/etc/passwd\r\n\r\n--x--"
                .to_vec(),
            "415 content_type_unsupported",
        ),
        (json, "gzip", bomb, "413 body_too_large"),
        (json, "gzip", good.clone(), "400 encoding_invalid"),
        (json, "br", good.clone(), "415 encoding_unsupported"),
    ] {
        let headers = [("content-type", kind), ("content-encoding", encoding)];
        let headers: Vec<_> = headers.into_iter().filter(|(_, v)| !v.is_empty()).collect();
        let answer = world.deliver("/hooks/open", &headers, body).await;
        refused(&world, &answer, gist, &format!("{kind} {encoding}")).await;
        if gist.starts_with("415") {
            let accepted = ["application/json", "gzip"];
            let named = accepted.iter().any(|name| answer.text().contains(name));
            assert!(named, "{}", answer.text());
        }
    }
    let headers = [("content-type", json), ("content-encoding", "gzip")];
    let answer = world.deliver("/hooks/open", &headers, zipped(&good)).await;
    assert_eq!(answer.status, 202, "{}", answer.text());
    let form = [("content-type", "application/x-www-form-urlencoded")];
    let answer = world.deliver("/hooks/open", &form, "id=2").await;
    assert_eq!(answer.status, 202, "{}", answer.text());
}

#[tokio::test]
async fn paths_and_methods() {
    let world = World::new().await;
    world.deploy(OPEN).await;
    let unknown = world.hook("/hooks/none", "{}").await;
    refused(&world, &unknown, "404 not_found", "unknown").await;
    for method in ["GET", "PUT", "DELETE", "PATCH"] {
        let answer = world.call(method, "/hooks/open", "").await;
        refused(&world, &answer, "405 method_not_allowed", method).await;
        assert_eq!(answer.header("allow"), "POST");
    }
    let retired = world.call("DELETE", "/v1/flows/open", "").await;
    assert_eq!(retired.status, 200);
    let answer = world.hook("/hooks/open", r#"{"id":1}"#).await;
    refused(&world, &answer, "404 not_found", "disabled").await;
    assert_eq!(answer.bytes, unknown.bytes, "told alike");
}

#[tokio::test]
async fn on_the_wire() {
    let socket = Socket::with(Settings {
        head_timeout: Duration::from_millis(200),
        body_timeout: Duration::from_millis(200),
        ..Settings::default()
    })
    .await;
    socket.world.deploy(OPEN).await;
    let head = |more: &str| {
        format!(
            "POST /hooks/open HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n{more}\r\n"
        )
    };
    let long = format!("x-long: {}\r\n", "x".repeat(100_000));
    for (request, status) in [
        (
            head("content-length: 8\r\ntransfer-encoding: chunked\r\n") + "0\r\n\r\n",
            "400",
        ),
        (head("content-length: 20\r\n") + "{\"id\":1}", "408"),
        (head("content-length: 1048577\r\n"), "413"),
        (
            head("transfer-encoding: chunked\r\n") + "zz\r\n{}\r\n",
            "400",
        ),
        (head(&long), "431"),
    ] {
        let answer = socket.raw(request.as_bytes()).await;
        let expected = format!("HTTP/1.1 {status}");
        assert!(answer.starts_with(&expected), "{status}: {answer}");
        assert!(socket.world.runs().await.is_empty(), "{status}");
    }
    let answer = dripped(&socket, &head("content-length: 1000\r\n")).await;
    assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
    assert!(socket.world.runs().await.is_empty(), "a drip");
    socket.stop().await.unwrap();
}

/// The answer to a body of which a byte comes now and then, for ever.
async fn dripped(socket: &Socket, head: &str) -> String {
    let mut stream = TcpStream::connect(socket.address).await.unwrap();
    stream.write_all(head.as_bytes()).await.unwrap();
    let (mut reader, mut writer) = stream.into_split();
    let dripping = tokio::spawn(async move {
        while writer.write_all(b" ").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    let mut answer = Vec::new();
    let _ = reader.read_to_end(&mut answer).await;
    dripping.abort();
    String::from_utf8_lossy(&answer).into_owned()
}
