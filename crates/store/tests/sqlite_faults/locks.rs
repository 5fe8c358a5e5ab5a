//! Who may use a data directory: one server alone, or any number of visitors.

use std::sync::mpsc;
use std::time::{Duration, Instant};

use semel_store::OpenError;
use semel_store::lock::{DataLock, Visit};

#[test]
fn a_second_server_is_refused_and_told_of_the_first() {
    let directory = tempfile::tempdir().expect("a directory");
    let first = DataLock::serve(directory.path(), "process 7").expect("it is free");
    let started = Instant::now();
    let refused = DataLock::serve(directory.path(), "process 8");
    let Err(OpenError::InUse { holder, .. }) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(holder, " (process 7)");
    assert!(
        started.elapsed() < Duration::from_secs(4),
        "it waited in vain"
    );
    drop(first);
    DataLock::serve(directory.path(), "process 8").expect("it is free again");
}

#[test]
fn a_visitor_is_told_where_the_server_is() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut server = DataLock::serve(directory.path(), "starting, please wait").expect("free");
    server.announce("http://[::1]:7357").expect("it is written");
    match DataLock::visit(directory.path()).expect("an answer") {
        Visit::Served(notice) => assert_eq!(notice, "http://[::1]:7357"),
        Visit::Free(_) => panic!("a server has it"),
    }
    drop(server);
    let visit = DataLock::visit(directory.path()).expect("an answer");
    assert!(matches!(visit, Visit::Free(_)), "{visit:?}");
}

#[test]
fn visitors_do_not_block_each_other() {
    let directory = tempfile::tempdir().expect("a directory");
    let visits: Vec<Visit> = (0..5)
        .map(|_| DataLock::visit(directory.path()).expect("an answer"))
        .collect();
    assert!(visits.iter().all(|visit| matches!(visit, Visit::Free(_))));
}

#[test]
fn a_server_waits_for_visitors_to_go() {
    // Often, since a server that did not wait would sometimes come just late enough.
    for round in 0..20 {
        let directory = tempfile::tempdir().expect("a directory");
        let visit = DataLock::visit(directory.path()).expect("an answer");
        let (starts, started) = mpsc::channel();
        std::thread::scope(|scope| {
            let server = scope.spawn(|| {
                starts.send(()).expect("somebody listens");
                DataLock::serve(directory.path(), "process 9")
            });
            started.recv().expect("it starts");
            for _ in 0..round {
                std::thread::yield_now();
            }
            drop(visit);
            server.join().expect("no panic").expect("it got its turn");
        });
    }
}

#[test]
fn a_visitor_who_stays_keeps_the_server_out() {
    let directory = tempfile::tempdir().expect("a directory");
    let visit = DataLock::visit(directory.path()).expect("an answer");
    let started = Instant::now();
    let refused = DataLock::serve(directory.path(), "process 9");
    assert!(
        matches!(refused, Err(OpenError::InUse { .. })),
        "{refused:?}"
    );
    assert!(
        started.elapsed() > Duration::from_secs(4),
        "it did not wait"
    );
    drop(visit);
}
