//! What happens on the wire, over a real socket.
use std::time::Duration;

use crate::common::Socket;
use semel_server::Settings;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

async fn socket() -> Socket {
    Socket::with(Settings {
        head_timeout: Duration::from_millis(200),
        body_timeout: Duration::from_millis(200),
        max_body: 10_000,
        ..Settings::default()
    })
    .await
}

fn head(socket: &Socket, more: &str) -> String {
    let token = &socket.world.token;
    format!(
        "POST /v1/guard/s/k HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\ncontent-type: application/json\r\n{more}\r\n"
    )
}

#[tokio::test]
async fn wrong_requests_are_answered_and_start_nothing() {
    let socket = socket().await;
    let chunked = "transfer-encoding: chunked\r\n";
    let huge = format!("x-a: {}\r\n", "a".repeat(100_000));
    let many = "x-a: 1\r\n".repeat(3000);
    for (what, more, body, status) in [
        (
            "length beyond the body",
            "content-length: 50\r\n",
            "{",
            "408",
        ),
        ("chunk beyond the body", chunked, "5\r\n{", "408"),
        ("broken chunk", chunked, "zz\r\n{}\r\n", "400"),
        (
            "length and chunked",
            "content-length: 2\r\ntransfer-encoding: chunked\r\n",
            "0\r\n\r\n",
            "400",
        ),
        (
            "two lengths",
            "content-length: 2\r\ncontent-length: 3\r\n",
            "{}",
            "400",
        ),
        (
            "length not a number",
            "content-length: two\r\n",
            "{}",
            "400",
        ),
        ("declared too long", "content-length: 10001\r\n", "", "413"),
        ("large head", &huge, "", "431"),
        ("many headers", &many, "", "431"),
    ] {
        let answer = socket.raw((head(&socket, more) + body).as_bytes()).await;
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status}")),
            "{what}: {answer:?}"
        );
        let listed = socket.world.call("GET", "/v1/ledger", "").await;
        assert_eq!(listed.json()["effects"], serde_json::json!([]), "{what}");
    }
    socket.stop().await.unwrap();
}

#[tokio::test]
async fn two_lengths_are_refused_behind_another_request_too() {
    let socket = socket().await;
    let two = head(
        &socket,
        "content-length: 5\r\ntransfer-encoding: chunked\r\n",
    );
    let plain = head(&socket, "content-length: 2\r\n").replace("/s/k", "/s/first");
    let chunked = head(&socket, "transfer-encoding: chunked\r\n").replace("/s/k", "/s/first");
    for (before, answers) in [
        ("GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n".to_owned(), 2),
        (plain + "{}", 2),
        // Nothing is read behind a body whose end only hyper knows.
        (chunked + "2\r\n{}\r\n0\r\n\r\n", 1),
    ] {
        let sent = format!("{before}{two}0\r\n\r\n");
        let answer = socket.raw(sent.as_bytes()).await;
        let lines = answer.split("HTTP/1.1 ").skip(1);
        let statuses: Vec<&str> = lines.map(|line| &line[..3]).collect();
        assert_eq!(statuses.len(), answers, "{before}: {answer}");
        assert_eq!(statuses.contains(&"400"), answers == 2, "{answer}");
        let path = "/v1/ledger/s/k";
        let listed = socket.world.call("GET", path, "").await;
        assert_eq!(listed.gist(), "404 effect_missing", "{before}");
    }
    socket.stop().await.unwrap();
}

#[tokio::test]
async fn reading_stops_beyond_the_limit_although_the_length_is_not_told() {
    let socket = socket().await;
    let mut stream = TcpStream::connect(socket.address).await.unwrap();
    let head = head(&socket, "transfer-encoding: chunked\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    let chunk = format!("1000\r\n{}\r\n", " ".repeat(4096));
    // The server closes while we still send.
    for _ in 0..10_000 {
        if stream.write_all(chunk.as_bytes()).await.is_err() {
            break;
        }
    }
    let mut answer = [0; 12];
    if stream.read_exact(&mut answer).await.is_ok() {
        assert_eq!(&answer, b"HTTP/1.1 413");
    }
    socket.stop().await.unwrap();
}

#[tokio::test]
async fn a_head_that_drips_is_closed_by_the_timer() {
    let socket = socket().await;
    let answer = socket.raw(b"POST /v1/guard/s/k HTTP/1.1\r\nhost:").await;
    assert!(
        answer.is_empty() || answer.starts_with("HTTP/1.1 408"),
        "{answer}"
    );
    socket.stop().await.unwrap();
}

#[tokio::test]
async fn connections_are_kept_and_ended_in_good_order() {
    let socket = socket().await;
    let mut stream = TcpStream::connect(socket.address).await.unwrap();
    for expected in ["HTTP/1.1 201", "HTTP/1.1 409"] {
        let request = head(&socket, "");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = [0; 4096];
        let read = stream.read(&mut answer).await.unwrap();
        let answer = String::from_utf8_lossy(&answer[..read]);
        assert!(answer.starts_with(expected), "{answer}");
    }
    let world_store = std::sync::Arc::clone(&socket.world.store);
    socket.stop().await.unwrap();
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).await.unwrap();
    assert!(rest.is_empty(), "closed without a word");
    assert!(world_store.nodes().await.unwrap().is_empty(), "left");
    let page = world_store
        .receipts(&semel_store::ReceiptFilter {
            limit: 5,
            ..Default::default()
        })
        .await
        .unwrap();
    assert_eq!(page.items.len(), 1, "receipts are written before the end");
}

#[tokio::test]
async fn beyond_the_cap_a_connection_waits_for_its_place() {
    let socket = Socket::with(Settings {
        max_connections: 1,
        ..Settings::default()
    })
    .await;
    let request = head(&socket, "connection: close\r\n");
    let first = TcpStream::connect(socket.address).await.unwrap();
    let (waiting, ()) = tokio::join!(socket.raw(request.as_bytes()), async move {
        tokio::task::yield_now().await;
        drop(first);
    });
    assert!(waiting.starts_with("HTTP/1.1 201"), "{waiting}");
    socket.stop().await.unwrap();
}

#[tokio::test]
async fn counts_are_open_to_this_machine() {
    let socket = socket().await;
    let answer = socket
        .raw(b"GET /metrics HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
        .await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    socket.stop().await.unwrap();
}
