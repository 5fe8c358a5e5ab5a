//! The same job started many times at once, as a crontab with overlaps would, while a server comes
//! and goes on the same data: the destination has each key once.

use std::process::{Child, Stdio};

use crate::node::{Node, serve};
use crate::support::{Home, ends, signal, stdout, told, until};

const STARTS: usize = 8;
const ROUNDS: usize = 15;

#[test]
fn overlapping_starts_run_each_key_once_while_a_server_comes_and_goes() {
    let home = Home::new();
    let mut server: Option<Node> = None;
    for round in 0..ROUNDS {
        // No server; one that starts; one that runs; one that ends; one that starts and ends.
        let starts = [1, 4].contains(&(round % 5));
        if starts {
            server = Some(Node::spawn(&home, serve(&home), "data"));
        }
        let children: Vec<_> = (0..STARTS).map(|_| start(&home, round)).collect();
        let ending = server.take_if(|_| round % 5 >= 3);
        if let Some(node) = &ending {
            signal(node.child.id(), "TERM");
        }
        check(children, round);
        if let Some(mut node) = ending {
            let code = node.end();
            assert!(starts || code == Some(0), "{code:?}: {}", node.said());
        } else if starts {
            server.as_mut().unwrap().wait_until_serving(&home.data());
        }
    }
    for round in 0..ROUNDS {
        check(vec![start(&home, round)], round);
    }
    let mut seen: Vec<_> = home.read("seen").lines().map(str::to_owned).collect();
    seen.sort_by_key(|line| line[1..].parse::<usize>().unwrap());
    let once: Vec<_> = (0..ROUNDS).map(|round| format!("k{round}")).collect();
    assert_eq!(seen, once);
}

#[test]
fn a_job_outlives_the_server_that_it_claimed_through() {
    for name in ["TERM", "KILL"] {
        let home = Home::new();
        let mut server = Node::start(&home);
        let script = "echo run >> seen; until [ -e go ]; do sleep 0.05; done; echo out";
        let mut job = home.once("k", script);
        let job = job.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        until("the job runs", || {
            (home.read("seen") == "run\n").then_some(())
        });
        signal(server.child.id(), name);
        server.end();
        home.file("go", "");
        let output = job.unwrap().wait_with_output().unwrap();
        ends(&output, 0, &[]);
        let again = home.once("k", script).output().unwrap();
        ends(&again, 0, &[]);
        assert_eq!(stdout(&again), "out\n", "{name}: {}", told(&again));
        assert_eq!(home.read("seen"), "run\n", "{name}");
    }
}

fn start(home: &Home, round: usize) -> Child {
    let key = format!("k{round}");
    let mut command = home.once(&key, &format!("echo {key} >> seen; echo out"));
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// Each ran it, was shown what the first one said, or was told that somebody is at it.
fn check(children: Vec<Child>, round: usize) {
    for child in children {
        let output = child.wait_with_output().unwrap();
        match output.status.code() {
            Some(0) => assert_eq!(output.stdout, b"out\n", "{}", told(&output)),
            Some(5) => {}
            _ => panic!("round {round}: {}", told(&output)),
        }
    }
}
