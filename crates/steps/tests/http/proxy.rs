//! Through the operator's proxy: what it is asked for, and what is known when it fails.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use semel_flow::model::{Class, Kind};
use semel_steps::{OutgoingRules, Proxy, Settings, Steps};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};

use crate::sink::{Manner, Seen, Sink, answer, ok, read};
use crate::{get, message, perform, post, settings, shared, word};

/// What a proxy does when it is asked for a connection.
#[derive(Clone, Copy)]
enum Way {
    /// Passes on, whatever the name, to this address.
    To(SocketAddr),
    /// Says these bytes and hangs up.
    Says(&'static str),
    /// Says yes, reads what comes, and hangs up.
    LosesBytes,
}

/// A proxy on bare TCP that keeps what it was asked.
struct Relay {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<Seen>>>,
}

impl Relay {
    async fn new(way: Way) -> Relay {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let asked = Arc::<Mutex<Vec<Seen>>>::default();
        let log = Arc::clone(&asked);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(relay(stream, way, Arc::clone(&log)));
            }
        });
        Relay { address, asked }
    }

    fn proxy(&self) -> Proxy {
        Proxy::parse(&format!("http://{}", self.address)).expect("a proxy")
    }

    fn lines(&self) -> Vec<String> {
        let asked = self.asked.lock().expect("the log");
        asked.iter().map(|seen| seen.line().to_owned()).collect()
    }
}

async fn relay(mut stream: TcpStream, way: Way, log: Arc<Mutex<Vec<Seen>>>) {
    let Some(seen) = read(&mut stream, 0).await else {
        return;
    };
    log.lock().expect("the log").push(seen);
    let established = b"HTTP/1.1 200 Connection established\r\n\r\n";
    match way {
        Way::To(address) => {
            let mut far = TcpStream::connect(address).await.expect("a destination");
            stream.write_all(established).await.expect("an answer");
            let _ = copy_bidirectional(&mut stream, &mut far).await;
        }
        Way::Says(text) => {
            let _ = stream.write_all(text.as_bytes()).await;
        }
        Way::LosesBytes => {
            stream.write_all(established).await.expect("an answer");
            let _ = stream.read(&mut [0; 1024]).await;
        }
    }
}

/// No address but public ones may be reached; only the proxy is on this machine.
fn through(proxy: Proxy) -> Steps {
    Steps::new(Settings {
        rules: OutgoingRules::default(),
        proxy: Some(proxy),
        ..settings()
    })
}

#[tokio::test]
async fn requests_go_through_one_tunnel_and_arrive_as_they_are() {
    let sink = Sink::new(Manner::Answer(ok())).await;
    let relay = Relay::new(Way::To(sink.address)).await;
    let steps = through(relay.proxy());
    for _ in 0..3 {
        let (outcome, sent) = perform(&steps, &post("http://shop.example/a?b=c")).await;
        assert_eq!((word(&outcome), sent), ("done", 1), "{outcome:?}");
    }
    // The name is for the proxy to resolve.
    assert_eq!(relay.lines(), ["CONNECT shop.example:80 HTTP/1.1"]);
    assert_eq!((sink.connections(), sink.seen().len()), (1, 3));
    let seen = &sink.seen()[0];
    assert_eq!(seen.line(), "POST /a?b=c HTTP/1.1");
    assert_eq!(seen.header("host"), Some("shop.example"));
}

/// The proxy passes on what it cannot read: the certificate must be the destination's.
#[tokio::test]
async fn encryption_is_with_the_destination() {
    for (name, known) in [("shop.example", "done"), ("other.example", "never_sent")] {
        let mut server = crate::tls::server(name).await;
        let at = SocketAddr::from(([127, 0, 0, 1], server.port));
        let relay = Relay::new(Way::To(at)).await;
        let steps = Steps::new(Settings {
            rules: OutgoingRules::default(),
            proxy: Some(relay.proxy()),
            roots: vec![server.certificate.clone()],
            ..settings()
        });
        let (outcome, _) = perform(&steps, &post("https://shop.example/")).await;
        assert_eq!(word(&outcome), known, "{outcome:?}");
        assert_eq!(relay.lines(), ["CONNECT shop.example:443 HTTP/1.1"]);
        assert_eq!(server.seen.try_recv().is_ok(), known == "done");
    }
}

#[tokio::test]
async fn messages_to_people_go_through_it_too() {
    let sink = Sink::new(Manner::Answer(ok())).await;
    let relay = Relay::new(Way::To(sink.address)).await;
    let input = r#"{"webhook":"http://chat.example:8080/x","text":"hello"}"#;
    let task = shared::task(Kind::Notify, Class::Guarded, "tell", input);
    let (outcome, sent) = perform(&through(relay.proxy()), &task).await;
    assert_eq!((word(&outcome), sent), ("done", 1), "{outcome:?}");
    assert_eq!(relay.lines(), ["CONNECT chat.example:8080 HTTP/1.1"]);
    assert_eq!(sink.seen().len(), 1);
}

#[tokio::test]
async fn its_login_is_for_the_proxy_alone() {
    let sink = Sink::new(Manner::Answer(ok())).await;
    let relay = Relay::new(Way::To(sink.address)).await;
    let steps = through(relay.proxy().with_login("TOKEN"));
    let (outcome, _) = perform(&steps, &post("http://shop.example/")).await;
    assert_eq!(word(&outcome), "done", "{outcome:?}");
    let asked = relay.asked.lock().unwrap()[0].clone();
    let basic = "Basic czNjcmV0LXQwa2VuLys=";
    assert_eq!(asked.header("proxy-authorization"), Some(basic));
    assert_eq!(sink.seen()[0].header("proxy-authorization"), None);

    let relay = Relay::new(Way::Says("")).await;
    let steps = through(relay.proxy().with_login("GONE"));
    let (outcome, sent) = perform(&steps, &post("http://shop.example/")).await;
    assert_eq!((word(&outcome), sent), ("permanent", 0), "{outcome:?}");
    assert!(message(&outcome).contains("no secret GONE"), "{outcome:?}");
    assert!(relay.lines().is_empty());
}

/// Whatever the proxy says instead of yes, nothing was sent; what is lost after its yes, may have been.
#[tokio::test]
async fn what_is_known_when_the_proxy_fails() {
    for (way, known, times, says) in [
        (
            Way::Says("HTTP/1.1 403 Forbidden\r\n\r\n"),
            "never_sent",
            0,
            "403 Forbidden",
        ),
        (
            Way::Says("HTTP/1.0 407 Proxy Authentication Required\r\ncontent-length: 2\r\n\r\nno"),
            "never_sent",
            0,
            "407 Proxy",
        ),
        (
            Way::Says("HTTP/1.1 502 Bad Gateway\r\n\r\n"),
            "never_sent",
            0,
            "502 Bad",
        ),
        (
            Way::Says("HTTP/1.1 302 Found\r\nlocation: /\r\n\r\n"),
            "never_sent",
            0,
            "302",
        ),
        (
            Way::Says("HTTP/1.1 100 Continue\r\n\r\n"),
            "never_sent",
            0,
            "100",
        ),
        (Way::Says(""), "never_sent", 0, "before it answered"),
        (
            Way::Says("HTTP/1.1 200"),
            "never_sent",
            0,
            "before it answered",
        ),
        (
            Way::Says("SSH-2.0-x\r\n\r\n"),
            "never_sent",
            0,
            "as proxies do",
        ),
        (
            Way::Says("HTTP/1.1 20\r\n\r\n"),
            "never_sent",
            0,
            "as proxies do",
        ),
        (
            Way::Says("HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\n\r\n"),
            "never_sent",
            0,
            "as proxies do",
        ),
        (Way::LosesBytes, "unknown", 1, "shop.example"),
    ] {
        let relay = Relay::new(way).await;
        let steps = through(relay.proxy());
        let (outcome, sent) = perform(&steps, &post("http://shop.example/")).await;
        assert_eq!((word(&outcome), sent), (known, times), "{outcome:?}");
        assert!(message(&outcome).contains(says), "{says}: {outcome:?}");
        assert_eq!(relay.lines().len(), 1);
    }
    let gone = Proxy::parse("http://127.0.0.1:1").expect("a proxy");
    let (outcome, sent) = perform(&through(gone), &post("http://shop.example/")).await;
    assert_eq!((word(&outcome), sent), ("never_sent", 0), "{outcome:?}");
    assert!(message(&outcome).contains("the proxy 127.0.0.1:1 cannot be reached"));
}

/// A proxy would resolve these on a machine that may stand closer to what is private.
#[tokio::test]
async fn a_proxy_never_hears_of_what_may_not_be_reached() {
    let sink = Sink::new(Manner::Answer(ok())).await;
    let relay = Relay::new(Way::To(sink.address)).await;
    let steps = through(relay.proxy());
    for host in crate::forbidden::SPELLINGS.iter().chain(&[
        "metadata.google.internal",
        "metadata",
        "metadata.goog.",
        "instance-data",
        "a.localhost",
        "localhost.",
        "127.0.0.1.",
        "1.2.3.4.5",
        "256.256.256.256",
    ]) {
        let (outcome, sent) = perform(&steps, &get(&format!("http://{host}/"))).await;
        assert_eq!(
            (word(&outcome), sent),
            ("permanent", 0),
            "{host}: {outcome:?}"
        );
    }
    assert!(relay.lines().is_empty(), "{:?}", relay.lines());
    // A public address is asked for in the one spelling that nobody reads otherwise.
    for host in ["8.8.8.8", "0x8.8.8.8", "134744072", "[::ffff:8.8.8.8]"] {
        let (outcome, _) = perform(&steps, &get(&format!("http://{host}:81/"))).await;
        assert_eq!(word(&outcome), "done", "{outcome:?}");
    }
    assert_eq!(relay.lines(), ["CONNECT 8.8.8.8:81 HTTP/1.1"; 4]);
}

#[tokio::test]
async fn a_redirect_through_it_is_judged_again() {
    let away = answer(
        "302 Found",
        "location: http://169.254.169.254/latest\r\n",
        "",
    );
    let sink = Sink::new(Manner::Answer(away)).await;
    let relay = Relay::new(Way::To(sink.address)).await;
    let (outcome, sent) = perform(&through(relay.proxy()), &get("http://shop.example/")).await;
    assert_eq!((word(&outcome), sent), ("permanent", 1), "{outcome:?}");
    assert_eq!(relay.lines().len(), 1);
}

#[tokio::test]
async fn an_exception_is_reached_directly_and_judged_as_ever() {
    let sink = Sink::new(Manner::Answer(ok())).await;
    let relay = Relay::new(Way::Says("HTTP/1.1 403 Forbidden\r\n\r\n")).await;
    let proxy = || {
        relay
            .proxy()
            .without("127.0.0.0/8 localhost")
            .expect("exceptions")
    };
    let (outcome, sent) = perform(&through(proxy()), &post(&sink.url("/"))).await;
    assert_eq!((word(&outcome), sent), ("permanent", 0), "{outcome:?}");
    let open = Steps::new(Settings {
        proxy: Some(proxy()),
        ..settings()
    });
    let (outcome, sent) = perform(&open, &post(&sink.url("/"))).await;
    assert_eq!((word(&outcome), sent), ("done", 1), "{outcome:?}");
    assert_eq!((relay.lines().len(), sink.seen().len()), (0, 1));
}
