//! Connections that are used again, and what happens when the other side closes them.

use std::collections::HashMap;
use std::sync::Arc;

use semel_act::Task;
use semel_flow::model::Class;

use crate::sink::{Manner, Sink, answer, ok};
use crate::{get, perform, post, result, steps, task, word};

#[tokio::test]
async fn a_connection_is_used_again() {
    let sink = Sink::new(Manner::Answer(ok())).await;
    let steps = steps();
    for _ in 0..20 {
        let (outcome, sent) = perform(&steps, &post(&sink.url("/"))).await;
        assert_eq!((word(&outcome), sent), ("done", 1));
    }
    assert_eq!((sink.seen().len(), sink.connections()), (20, 1));
}

#[tokio::test]
async fn a_server_that_says_close_is_believed() {
    let text = answer("200 OK", "connection: close\r\n", "{}");
    let sink = Sink::new(Manner::Answer(text)).await;
    let steps = steps();
    for _ in 0..3 {
        let (outcome, _) = perform(&steps, &post(&sink.url("/"))).await;
        assert_eq!(word(&outcome), "done");
    }
    assert_eq!(sink.connections(), 3);
}

#[tokio::test]
async fn a_server_that_promises_no_time_is_not_relied_upon() {
    let text = answer("200 OK", "keep-alive: timeout=1\r\n", "{}");
    let sink = Sink::new(Manner::Answer(text)).await;
    let steps = steps();
    for _ in 0..3 {
        let (outcome, _) = perform(&steps, &post(&sink.url("/"))).await;
        assert_eq!(word(&outcome), "done");
    }
    assert_eq!(sink.connections(), 3);
}

/// The connection was closed while it waited: nothing of the next request goes into it.
#[tokio::test]
async fn a_connection_closed_while_idle_costs_nothing() {
    let sink = Sink::new(Manner::AnswerThenClose(ok())).await;
    let steps = steps();
    for round in 1..=300 {
        let (outcome, _) = perform(&steps, &post(&sink.url("/"))).await;
        assert_eq!(word(&outcome), "done", "round {round}: {outcome:?}");
        sink.closed(round).await;
    }
    assert_eq!((sink.seen().len(), sink.connections()), (300, 300));
}

/// The connection is closed at any moment, also while the next request is on its way into it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_closed_at_the_worst_time_never_doubles_a_delivery() {
    let sink = Arc::new(Sink::new(Manner::AnswerThenClose(ok())).await);
    let steps = Arc::new(steps());
    let mut callers = Vec::new();
    for caller in 0..8 {
        let (sink, steps) = (Arc::clone(&sink), Arc::clone(&steps));
        callers.push(tokio::spawn(async move {
            let mut told = Vec::new();
            for round in 0..100 {
                let path = format!("/{caller}/{round}");
                let (outcome, sent) = perform(&steps, &post(&sink.url(&path))).await;
                told.push((path, word(&outcome), sent));
            }
            told
        }));
    }
    let mut told = Vec::new();
    for caller in callers {
        told.extend(caller.await.expect("a caller"));
    }
    let mut delivered: HashMap<String, usize> = HashMap::new();
    for seen in sink.seen() {
        *delivered.entry(seen.path().to_owned()).or_default() += 1;
    }
    for (path, known, sent) in told {
        let times = delivered.get(&path).copied().unwrap_or(0);
        let fits = match known {
            "done" => times == 1,
            "never_sent" => times == 0,
            "unknown" => times <= 1 && sent > 0,
            _ => false,
        };
        assert!(fits, "{path}: {known}, delivered {times} times");
    }
}

/// It died after bytes were written: only what nobody would notice is sent again.
#[tokio::test]
async fn a_request_that_an_old_connection_swallowed_is_repeated_only_if_it_looks() {
    let sink = Sink::new(Manner::OneEach(ok())).await;
    let steps = steps();
    let known = |task: Task| {
        let steps = &steps;
        async move {
            let (outcome, sent) = perform(steps, &task).await;
            (word(&outcome), sent)
        }
    };
    assert_eq!(known(post(&sink.url("/1"))).await, ("done", 1));
    assert_eq!(known(post(&sink.url("/2"))).await, ("unknown", 1));
    assert_eq!(known(get(&sink.url("/3"))).await, ("done", 1));
    assert_eq!(known(get(&sink.url("/4"))).await, ("done", 2));
    let paths: Vec<_> = sink
        .seen()
        .iter()
        .map(|seen| seen.path().to_owned())
        .collect();
    assert_eq!(paths, ["/1", "/2", "/3", "/4", "/4"]);
}

/// Whatever follows an answer belongs to nobody.
#[tokio::test]
async fn a_second_answer_is_not_taken_for_the_next_one() {
    let twice = format!(
        "{}{}",
        answer("200 OK", "", "1"),
        answer("200 OK", "", "666")
    );
    let sink = Sink::new(Manner::First(
        Box::new(Manner::Answer(twice)),
        Box::new(Manner::Answer(answer("200 OK", "", "2"))),
    ))
    .await;
    let steps = steps();
    let ask = || async { result(&perform(&steps, &post(&sink.url("/"))).await.0) };
    assert_eq!(ask().await, "1");
    assert_eq!(ask().await, "2");
    assert_eq!(sink.connections(), 2);
}

#[tokio::test]
async fn origins_do_not_share_connections() {
    let (one, other) = (
        Sink::new(Manner::Answer(answer("200 OK", "", "1"))).await,
        Sink::new(Manner::Answer(answer("200 OK", "", "2"))).await,
    );
    let steps = steps();
    for _ in 0..3 {
        assert_eq!(result(&perform(&steps, &get(&one.url("/"))).await.0), "1");
        assert_eq!(result(&perform(&steps, &get(&other.url("/"))).await.0), "2");
    }
    assert_eq!((one.connections(), other.connections()), (1, 1));
}

#[tokio::test]
async fn a_large_request_arrives_whole() {
    let sink = Sink::new(Manner::Answer(ok())).await;
    let steps = steps();
    let body = "x".repeat(3 << 20);
    let input = format!(r#"{{"post":"{}","body":"{body}"}}"#, sink.url("/"));
    let large: Task = task(Class::Guarded, &input);
    for _ in 0..3 {
        let (outcome, _) = perform(&steps, &large).await;
        assert_eq!(word(&outcome), "done");
    }
    let seen = sink.seen();
    assert!(seen.iter().all(|seen| seen.body.len() == 3 << 20));
    assert_eq!(seen.len(), 3);
}
