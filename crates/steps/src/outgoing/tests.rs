use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::*;
use wire::{Stream, Wire};

#[derive(Default)]
struct Sent(AtomicUsize);

impl Trace for Sent {
    fn sent(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

async fn listener() -> (TcpListener, Target) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    (listener, Target::parse(&url).unwrap())
}

fn client() -> Client {
    Client::new(OutgoingRules::parse("127.0.0.1").unwrap(), Vec::new())
}

/// A connection and its other end.
async fn pair(listener: &TcpListener, target: &Target) -> (Link, TcpStream) {
    let address = (&*target.origin.host, target.origin.port);
    let (near, far) = tokio::join!(TcpStream::connect(address), listener.accept());
    let stream = Stream::Plain(Wire::new(near.unwrap()));
    (Link::new(stream).await.unwrap(), far.unwrap().0)
}

fn call<'c>(target: &'c Target, body: &'c Bytes, headers: &'c HeaderMap) -> Call<'c> {
    Call {
        method: &Method::POST,
        target,
        headers,
        body,
        connect: Duration::from_secs(5),
        first_byte: None,
        deadline: Instant::now() + Duration::from_secs(5),
        limit: 1024,
        repeat_is_free: false,
    }
}

/// Not even the runtime has heard of it yet: the socket itself is asked.
#[tokio::test]
async fn a_peer_that_hung_up_is_noticed_before_a_byte_is_written() {
    let (listener, target) = listener().await;
    for spoke in [false, true] {
        let (mut link, mut far) = pair(&listener, &target).await;
        assert!(link.is_usable().await);
        if spoke {
            far.write_all(b"HTTP/1.1 408 Too Late\r\n\r\n")
                .await
                .unwrap();
        } else {
            drop(far);
        }
        assert!(!link.is_usable().await, "spoke: {spoke}");
        assert_eq!(link.written(), 0);
    }
}

#[tokio::test]
async fn an_old_connection_that_is_closed_is_passed_over() {
    let (listener, target) = listener().await;
    let client = client();
    for _ in 0..3 {
        let (link, far) = pair(&listener, &target).await;
        client.pool.put(&target.origin, link, None);
        drop(far);
    }
    assert_eq!(client.pool.waiting(&target.origin), 3);
    let (body, headers, sent) = (Bytes::from_static(b"x"), HeaderMap::new(), Sent::default());
    let call = call(&target, &body, &headers);
    let serve = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut bytes = [0; 1024];
        let read = stream.read(&mut bytes).await.unwrap();
        stream
            .write_all(b"HTTP/1.1 204 Fine\r\n\r\n")
            .await
            .unwrap();
        (stream, read)
    };
    let (reply, (_far, read)) = tokio::join!(client.send(&call, &sent), serve);
    assert_eq!(reply.unwrap().status, 204);
    assert!(read > 0);
    assert_eq!(sent.0.load(Ordering::SeqCst), 1);
    assert_eq!(client.pool.waiting(&target.origin), 1);
}

/// The runtime's clock is moved; the connections are real.
#[tokio::test]
async fn what_must_not_be_lost_gets_no_connection_that_waited_long() {
    let (listener, target) = listener().await;
    let origin = &target.origin;
    let client = client();
    let mut far = Vec::new();
    let mut put = async |promised: Option<u64>| {
        let (link, other) = pair(&listener, &target).await;
        far.push(other);
        let promised = promised.map(Duration::from_secs);
        client.pool.put(origin, link, promised);
    };
    tokio::time::pause();
    put(None).await;
    assert!(client.pool.take(origin, true).is_some());
    put(None).await;
    tokio::time::advance(Duration::from_millis(1100)).await;
    assert!(client.pool.take(origin, true).is_none());
    assert!(client.pool.take(origin, false).is_some());
    // Promised for longer, minus a second.
    put(Some(10)).await;
    tokio::time::advance(Duration::from_millis(8900)).await;
    assert!(client.pool.take(origin, true).is_some());
    put(Some(10)).await;
    tokio::time::advance(Duration::from_millis(9100)).await;
    assert!(client.pool.take(origin, false).is_none());
    put(Some(1)).await;
    assert_eq!(client.pool.waiting(origin), 0);
    // Whatever waits too long is closed although nobody asks.
    put(None).await;
    assert_eq!(client.pool.waiting(origin), 1);
    tokio::time::sleep(Duration::from_secs(40)).await;
    assert_eq!(client.pool.waiting(origin), 0);
}

#[tokio::test]
async fn a_request_that_nobody_takes_is_stuck_not_lost() {
    let lost = Lost::Timeout {
        host: "a".to_owned(),
        within: Millis(5),
    };
    assert!(matches!(never_left(lost), Unsent::Stuck { .. }));
}

#[test]
fn promises_are_read() {
    for (text, seconds) in [
        ("timeout=5, max=100", Some(5)),
        ("max=100, timeout=7", Some(7)),
        ("timeout=x", None),
        ("", None),
    ] {
        let mut headers = HeaderMap::new();
        headers.insert("keep-alive", text.parse().unwrap());
        assert_eq!(
            keep_alive(&headers),
            seconds.map(Duration::from_secs),
            "{text}"
        );
    }
}
