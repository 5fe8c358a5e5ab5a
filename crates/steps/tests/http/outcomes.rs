//! Every way a destination can behave: what is known about the effect, what the destination saw,
//! and whether it was noted that a byte may have left.

use std::sync::Arc;

use semel_act::{Outcome, Task};
use semel_flow::model::Class;
use semel_ledger::Millis;
use tokio::net::TcpListener;
use tokio::sync::Notify;

use crate::sink::{Manner, Sink, answer, ok};
use crate::{message, perform, post, steps, task, word};

struct Case {
    name: &'static str,
    manner: Manner,
    known: &'static str,
    /// How often the destination read the request.
    seen: usize,
}

fn case(name: &'static str, manner: Manner, known: &'static str, seen: usize) -> Case {
    Case {
        name,
        manner,
        known,
        seen,
    }
}

fn status(name: &'static str, headers: &str, known: &'static str) -> Case {
    case(name, Manner::Answer(answer(name, headers, "{}")), known, 1)
}

fn text(name: &'static str, text: &str, known: &'static str) -> Case {
    case(name, Manner::AnswerThenClose(text.to_owned()), known, 1)
}

fn cases() -> Vec<Case> {
    vec![
        case("answers", Manner::Answer(ok()), "done", 1),
        case("answers in drops", Manner::Drip(ok()), "done", 1),
        case(
            "answers and hangs up",
            Manner::AnswerThenClose(ok()),
            "done",
            1,
        ),
        case("resets unread", Manner::ResetUnread, "unknown", 0),
        case("reads, hangs up", Manner::CloseAfterRead, "unknown", 1),
        case("reads, resets", Manner::ResetAfterRead, "unknown", 1),
        status("201 Created", "", "done"),
        status("204 No Content", "", "done"),
        status("400 Bad Request", "", "refused"),
        status("401 Unauthorized", "", "refused"),
        status("404 Not Found", "", "refused"),
        status("408 Request Timeout", "", "transient"),
        status("409 Conflict", "", "refused"),
        status("422 Unprocessable Content", "", "refused"),
        status("425 Too Early", "", "transient"),
        status("429 Too Many Requests", "", "transient"),
        status("429 Too Many Requests", "retry-after: 7\r\n", "transient"),
        status("500 Internal Server Error", "", "unknown"),
        status("502 Bad Gateway", "", "unknown"),
        status("503 Service Unavailable", "", "unknown"),
        status("503 Service Unavailable", "retry-after: 7\r\n", "transient"),
        status("504 Gateway Timeout", "", "unknown"),
        status("599 Whatever", "", "unknown"),
        status("301 Moved Permanently", "location: /x\r\n", "refused"),
        status("302 Found", "location: /x\r\n", "unknown"),
        status("303 See Other", "location: /x\r\n", "unknown"),
        status("307 Temporary Redirect", "location: /x\r\n", "refused"),
        text("garbage", "\x16\x03\x01 no HTTP at all\r\n\r\n", "unknown"),
        text("half a head", "HTTP/1.1 200 OK\r\ncontent-le", "unknown"),
        text("no answer but an end", "", "unknown"),
        text(
            "cut body",
            "HTTP/1.1 200 OK\r\ncontent-length: 20\r\n\r\n{\"id\":",
            "unknown",
        ),
        text(
            "cut chunks",
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhel",
            "unknown",
        ),
        text(
            "cut body of a refusal",
            "HTTP/1.1 400 Bad Request\r\ncontent-length: 20\r\n\r\n{\"id\":",
            "refused",
        ),
        text(
            "two lengths",
            "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab",
            "unknown",
        ),
        text(
            "length too short",
            "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n[1]",
            "done",
        ),
        text("until the end", "HTTP/1.1 200 OK\r\n\r\nhello", "done"),
        text("of old", "HTTP/1.0 200 OK\r\n\r\nhello", "done"),
        text(
            "early hints",
            "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",
            "done",
        ),
    ]
}

#[tokio::test]
async fn what_is_known_follows_from_what_came_back() {
    for case in cases() {
        let sink = Sink::new(case.manner).await;
        let (outcome, sent) = perform(&steps(), &post(&sink.url("/"))).await;
        let told = (word(&outcome), sink.seen().len(), sent);
        assert_eq!(
            told,
            (case.known, case.seen, 1),
            "{}: {outcome:?}",
            case.name
        );
    }
}

#[tokio::test]
async fn an_answer_that_was_reset_is_done_or_unknown_but_never_sent_again() {
    for _ in 0..50 {
        let sink = Sink::new(Manner::AnswerThenReset(ok())).await;
        let (outcome, sent) = perform(&steps(), &post(&sink.url("/"))).await;
        assert!(matches!(word(&outcome), "done" | "unknown"), "{outcome:?}");
        assert_eq!((sink.seen().len(), sent), (1, 1));
    }
}

#[tokio::test]
async fn nobody_there_is_never_sent() {
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = free.local_addr().unwrap();
    drop(free);
    for url in [
        format!("http://{address}/"),
        "http://nobody.invalid/".to_owned(),
        format!("https://{address}/"),
    ] {
        let (outcome, sent) = perform(&steps(), &post(&url)).await;
        assert_eq!((word(&outcome), sent), ("never_sent", 0), "{outcome:?}");
    }
}

fn with_timeouts(url: &str, timeouts: &str) -> Task {
    let input = format!(r#"{{"post":"{url}","timeouts":{timeouts}}}"#);
    task(Class::Guarded, &input)
}

#[tokio::test]
async fn silence_after_the_request_is_unknown() {
    let sink = Sink::new(Manner::Silent).await;
    let url = sink.url("/");
    for timeouts in [r#"{"first_byte":"30ms"}"#, r#"{"total":"30ms"}"#] {
        let (outcome, sent) = perform(&steps(), &with_timeouts(&url, timeouts)).await;
        assert_eq!((word(&outcome), sent), ("unknown", 1), "{outcome:?}");
        assert!(
            message(&outcome).contains("did not answer within"),
            "{outcome:?}"
        );
    }
    let own = Task {
        timeout: Millis(30),
        ..post(&url)
    };
    let (outcome, sent) = perform(&steps(), &own).await;
    assert_eq!((word(&outcome), sent), ("unknown", 1), "{outcome:?}");
    assert_eq!(sink.seen().len(), 3);
}

#[tokio::test]
async fn a_body_that_never_ends_is_unknown_with_its_status() {
    let text = "HTTP/1.1 200 OK\r\ncontent-length: 20\r\n\r\n{";
    let sink = Sink::new(Manner::Answer(text.to_owned())).await;
    let task = with_timeouts(&sink.url("/"), r#"{"total":"50ms"}"#);
    let (outcome, _) = perform(&steps(), &task).await;
    let Outcome::Unknown {
        evidence: Some(answer),
        ..
    } = outcome
    else {
        panic!("{outcome:?}");
    };
    assert_eq!(answer.names.get("status").unwrap().to_json(), "200");
}

#[tokio::test]
async fn a_late_answer_is_not_waited_for_and_not_asked_for_again() {
    let late = Arc::new(Notify::new());
    let sink = Sink::new(Manner::AnswerWhen(Arc::clone(&late), ok())).await;
    let steps = steps();
    let task = with_timeouts(&sink.url("/a"), r#"{"first_byte":"30ms"}"#);
    let (outcome, _) = perform(&steps, &task).await;
    assert_eq!(word(&outcome), "unknown", "{outcome:?}");
    late.notify_one();
    late.notify_one();
    // The late answer belongs to a connection that is gone.
    let next = post(&sink.url("/b"));
    late.notify_one();
    let (outcome, _) = perform(&steps, &next).await;
    assert_eq!(word(&outcome), "done", "{outcome:?}");
    let paths: Vec<_> = sink
        .seen()
        .iter()
        .map(|seen| seen.path().to_owned())
        .collect();
    assert_eq!(paths, ["/a", "/b"]);
}

#[tokio::test]
async fn no_connection_in_time_is_never_sent() {
    // A full backlog: the kernel answers nobody else.
    let listener = tokio::net::TcpSocket::new_v4().unwrap();
    listener.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = listener.local_addr().unwrap();
    let listener = listener.listen(1).unwrap();
    let mut waiting = Vec::new();
    while let Ok(Ok(stream)) = tokio::time::timeout(
        std::time::Duration::from_millis(100),
        tokio::net::TcpStream::connect(address),
    )
    .await
    {
        waiting.push(stream);
    }
    let task = with_timeouts(&format!("http://{address}/"), r#"{"connect":"50ms"}"#);
    let (outcome, sent) = perform(&steps(), &task).await;
    assert_eq!((word(&outcome), sent), ("never_sent", 0), "{outcome:?}");
    drop(listener);
}

#[tokio::test]
async fn retry_after_is_handed_on() {
    let text = answer("429 Too Many Requests", "retry-after: 7\r\n", "");
    let sink = Sink::new(Manner::Answer(text)).await;
    let (outcome, _) = perform(&steps(), &post(&sink.url("/"))).await;
    let Outcome::Failed(failure) = outcome else {
        panic!("{outcome:?}");
    };
    assert_eq!(failure.retry_after, Some(Millis::seconds(7)));
}

#[tokio::test]
async fn dropping_the_call_hangs_up() {
    let sink = Sink::new(Manner::First(
        Box::new(Manner::AnswerWhen(Arc::new(Notify::new()), ok())),
        Box::new(Manner::Answer(ok())),
    ))
    .await;
    let steps = steps();
    let (slow, quick) = (post(&sink.url("/slow")), post(&sink.url("/quick")));
    tokio::select! {
        biased;
        _ = perform(&steps, &slow) => panic!("answered"),
        () = sink.wait_for_requests(1) => {}
    }
    let (outcome, _) = perform(&steps, &quick).await;
    assert_eq!(word(&outcome), "done");
    let connections: Vec<_> = sink.seen().iter().map(|seen| seen.connection).collect();
    assert_eq!(connections, [0, 1]);
}
