//! Many starts at once: the destination sees one.

use std::process::Stdio;

use crate::support::{Home, told};

fn ten_at_once(home: &Home, key: &str) {
    let start = || {
        let mut command = home.once(key, "echo run >> seen; sleep 0.3; echo out");
        command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    };
    let children: Vec<_> = (0..10).map(|_| start()).collect();
    let outputs: Vec<_> = children
        .into_iter()
        .map(|child| child.wait_with_output().unwrap())
        .collect();
    let mut done = 0;
    for output in &outputs {
        match output.status.code() {
            Some(0) => {
                assert_eq!(output.stdout, b"out\n", "{}", told(output));
                done += 1;
            }
            Some(5) => {}
            _ => panic!("{}", told(output)),
        }
    }
    assert!(done >= 1);
}

#[test]
fn ten_at_once_on_a_fresh_file() {
    let home = Home::new();
    ten_at_once(&home, "k");
    assert_eq!(home.read("seen"), "run\n");
    ten_at_once(&home, "k");
    assert_eq!(home.read("seen"), "run\n");
    ten_at_once(&home, "l");
    assert_eq!(home.read("seen"), "run\nrun\n");
}

#[test]
fn ten_at_once_through_a_server() {
    let home = Home::new();
    let server = home.serve(&[]);
    ten_at_once(&home, "k");
    ten_at_once(&home, "k");
    assert_eq!(home.read("seen"), "run\n");
    assert_eq!(server.stop().0, Some(0));
}
