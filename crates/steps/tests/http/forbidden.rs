//! No spelling of an address gets a request to where it may not go.

use semel_steps::{OutgoingRules, Settings, Steps};

use crate::sink::{Manner, Sink, answer, ok};
use crate::{get, message, perform, settings, word};

/// Hosts that lead to where nobody may go.
pub(crate) const SPELLINGS: [&str; 57] = [
    "127.0.0.1",
    "127.1",
    "127.0.1",
    "2130706433",
    "0x7f.1",
    "0x7f000001",
    "0x7F.0x0.0x0.0x1",
    "0177.0.0.1",
    "017700000001",
    "0",
    "0.0.0.0",
    "localhost",
    "LOCALHOST",
    "[::1]",
    "[::]",
    "[0:0:0:0:0:0:0:1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::ffff:169.254.169.254]",
    "[::127.0.0.1]",
    "[2002:7f00:1::]",
    "[2002:a9fe:a9fe::]",
    "[64:ff9b::127.0.0.1]",
    "[64:ff9b::a9fe:a9fe]",
    "[2001:0:4136:e378:8000:63bf:80ff:fffe]",
    "[fd00:ec2::254]",
    "[fe80::1]",
    "169.254.169.254",
    "2852039166",
    "10.0.0.1",
    "192.168.0.1",
    "100.64.0.1",
    "[::ffff:0:127.0.0.1]",
    "[::ffff:0:7f00:1]",
    "[64:ff9b:1::7f00:1]",
    "[2002:0a00:0001::1]",
    "[2002:c0a8:0101::]",
    "[ff02::1]",
    "[fec0::1]",
    "[fc00::1]",
    "[febf::1]",
    "[2001:db8::1]",
    "[100::1]",
    "[0000:0000:0000:0000:0000:ffff:7f00:0001]",
    "0x0",
    "0xa9.0xfe.0xa9.0xfe",
    "0251.0376.0251.0376",
    "169.254.43518",
    "172.16.0.1",
    "172.31.255.255",
    "100.127.255.255",
    "192.0.2.1",
    "198.18.0.1",
    "168.63.129.16",
    "224.0.0.1",
    "239.255.255.250",
    "255.255.255.255",
];

fn closed() -> Steps {
    Steps::new(Settings {
        rules: OutgoingRules::default(),
        ..settings()
    })
}

#[tokio::test]
async fn every_spelling_is_judged_by_its_address() {
    let sink = Sink::new(Manner::Answer(ok())).await;
    let port = sink.address.port();
    let steps = closed();
    for host in SPELLINGS {
        let (outcome, sent) = perform(&steps, &get(&format!("http://{host}:{port}/"))).await;
        assert_eq!(
            (word(&outcome), sent),
            ("permanent", 0),
            "{host}: {outcome:?}"
        );
        let told = message(&outcome);
        assert!(told.contains("SEMEL_OUTGOING_ALLOW"), "{host}: {told}");
    }
    // The resolver may or may not know these; either way nobody is reached.
    for host in ["localhost.", "127.0.0.1.", "localhost.localdomain"] {
        let (outcome, sent) = perform(&steps, &get(&format!("http://{host}:{port}/"))).await;
        let known = word(&outcome);
        assert!(
            matches!(known, "permanent" | "never_sent"),
            "{host}: {outcome:?}"
        );
        assert_eq!(sent, 0, "{host}");
    }
    assert_eq!(sink.connections(), 0);
}

#[tokio::test]
async fn what_two_readers_read_differently_is_refused() {
    let sink = Sink::new(Manner::Answer(ok())).await;
    let port = sink.address.port();
    for url in [
        format!("http://good.example@127.0.0.1:{port}/"),
        format!("http://127.0.0.1:{port}@good.example/"),
        format!("http://127.0.0.1:{port}\\\\@good.example/"),
        format!("http://127.0.0.1%23.good.example:{port}/"),
        format!("//127.0.0.1:{port}/"),
        format!("ftp://127.0.0.1:{port}/"),
        format!("gopher://127.0.0.1:{port}/"),
        "file:///etc/passwd".to_owned(),
        "unix:///run/x.sock".to_owned(),
    ] {
        let (outcome, sent) = perform(&crate::steps(), &get(&url)).await;
        assert_eq!(
            (word(&outcome), sent),
            ("permanent", 0),
            "{url}: {outcome:?}"
        );
        assert!(message(&outcome).starts_with("`get`"), "{outcome:?}");
    }
    assert_eq!(sink.connections(), 0);
}

#[tokio::test]
async fn a_redirect_is_judged_again() {
    let hidden = Sink::at("127.0.0.2:0", Manner::Answer(ok())).await;
    let location = format!("location: {}\r\n", hidden.url("/"));
    let open = Sink::new(Manner::Answer(answer("302 Found", &location, ""))).await;
    let (outcome, sent) = perform(&crate::steps(), &get(&open.url("/"))).await;
    assert_eq!((word(&outcome), sent), ("permanent", 1), "{outcome:?}");
    assert_eq!((open.seen().len(), hidden.connections()), (1, 0));
}
