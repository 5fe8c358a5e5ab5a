use std::net::SocketAddr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::*;
use resolve::Resolver;
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
    let rules = OutgoingRules::parse("127.0.0.1").unwrap();
    Client::new(Connector::new(rules, Vec::new(), Service::Web))
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

/// A connector with these rules, whose names mean these addresses one after the other.
fn scripted(rules: &str, answers: &[&[SocketAddr]]) -> Connector {
    let rules = OutgoingRules::parse(rules).unwrap();
    let mut connector = Connector::new(rules, Vec::new(), Service::Web);
    let answers = answers.iter().map(|answer| answer.to_vec());
    connector.resolver = Resolver::Scripted(Mutex::new(answers.collect()));
    connector
}

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(5)
}

#[tokio::test]
async fn a_name_is_judged_by_every_address_it_has() {
    let (listener, _) = listener().await;
    let open = listener.local_addr().unwrap();
    let hidden = |ip: &str| SocketAddr::new(ip.parse().unwrap(), open.port());
    let target = Target::parse("http://innocent.example/").unwrap();
    for addresses in [
        vec![hidden("127.0.0.2")],
        vec![hidden("10.0.0.1"), hidden("::1")],
        vec![hidden("::ffff:169.254.169.254")],
        vec![hidden("fd00:ec2::254"), hidden("100.100.100.200")],
    ] {
        let connector = scripted("127.0.0.1", &[&addresses]);
        let connected = connector.connect(&target.origin, soon()).await;
        assert!(
            matches!(&connected, Err(Unsent::Denied { address, .. }) if *address == addresses[0].ip()),
            "{addresses:?}: {connected:?}"
        );
    }
    // Of several, only what may be reached is tried: nobody listens at the first.
    let connector = scripted("127.0.0.1", &[&[hidden("127.0.0.2"), open]]);
    assert!(connector.connect(&target.origin, soon()).await.is_ok());
}

/// The second answer of a name that changes is never asked for between judging and connecting.
#[tokio::test]
async fn the_address_that_was_judged_is_the_one_connected_to() {
    let (listener, _) = listener().await;
    let hidden = TcpListener::bind("127.0.0.2:0").await.unwrap();
    let (open, closed) = (listener.local_addr().unwrap(), hidden.local_addr().unwrap());
    let target = Target::parse("http://rebinding.example/").unwrap();
    let connector = scripted("127.0.0.1", &[&[open], &[closed]]);
    let first = connector.connect(&target.origin, soon()).await;
    let accepted = tokio::time::timeout_at(soon(), listener.accept()).await;
    let (_far, peer) = accepted.expect("a connection").unwrap();
    assert_eq!(first.unwrap().local_ip().unwrap(), peer.ip());
    let second = connector.connect(&target.origin, soon()).await;
    assert!(matches!(second, Err(Unsent::Denied { .. })), "{second:?}");
    let nobody = tokio::time::timeout(Duration::ZERO, hidden.accept()).await;
    assert!(nobody.is_err());
}
