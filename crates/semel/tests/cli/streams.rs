//! The output of a command: live, on record, and replayed.

use crate::support::{Home, ends, signal, stdout};

#[test]
fn output_is_replayed_byte_for_byte() {
    let home = Home::new();
    let mut bytes: Vec<u8> = (0..=255).collect();
    bytes.extend_from_slice("né\u{1f389}\n".as_bytes());
    let texts: [(&str, Vec<u8>); 5] = [
        ("empty", Vec::new()),
        ("bytes", bytes),
        ("nul", b"a\0b".to_vec()),
        ("long", "0123456789abcde\n".repeat(4096).into_bytes()),
        ("longer", b"\xff\x00semel\n".repeat(400_000)),
    ];
    for (key, content) in texts {
        let file = home.file(key, &content);
        let words = [
            "once",
            "--scope",
            "s",
            "--key",
            key,
            "--",
            "sh",
            "-c",
            "cat \"$0\"; cat \"$0\" >&2; echo x >> seen",
            &file,
        ];
        let first = home.run(&words);
        ends(&first, 0, &[]);
        assert!(
            first.stdout == content && first.stderr == content,
            "{key}: first"
        );
        let again = home.run(&words);
        ends(&again, 0, &["replayed, not run"]);
        assert!(again.stdout == content, "{key}: stdout");
        assert!(again.stderr.starts_with(&content), "{key}: stderr");
    }
    assert_eq!(home.read("seen"), "x\n".repeat(5));
}

#[test]
fn a_listener_that_goes_away_does_not_stop_the_command() {
    let home = Home::new();
    let semel = env!("CARGO_BIN_EXE_semel");
    let line =
        format!("{semel} once --scope s --key k -- sh -c 'seq 1 50000; echo x >> seen' | head -1");
    let output = std::process::Command::new("sh")
        .args(["-c", &line])
        .current_dir(home.path(""))
        .env("SEMEL_DATA", home.data())
        .output()
        .unwrap();
    assert_eq!(stdout(&output), "1\n");
    assert_eq!(home.read("seen"), "x\n");
    let again = home.once("k", "echo never").output().unwrap();
    assert_eq!(stdout(&again).lines().count(), 50_000);
}

#[test]
fn a_process_left_behind_does_not_hold_the_call() {
    let home = Home::new();
    let output = home
        .once("k", "echo out; sleep 600 & echo $! > left")
        .output()
        .unwrap();
    let left = home.read("left");
    crate::support::signal(left.trim().parse().unwrap(), "KILL");
    ends(&output, 0, &[]);
    assert_eq!(stdout(&output), "out\n");
}

/// The shell that a careless parent starts from: SIGCHLD ignored, which a process inherits.
#[test]
fn a_parent_that_ignores_its_children_does_not_make_it_run_twice() {
    let home = Home::new();
    let semel = home.once("k", "echo x >> seen; exit 4");
    for _ in 0..2 {
        let mut careless = std::process::Command::new("perl");
        careless.args(["-e", "$SIG{CHLD} = 'IGNORE'; exec @ARGV"]);
        careless.arg(semel.get_program()).args(semel.get_args());
        careless.current_dir(home.path("."));
        careless.env("SEMEL_DATA", home.data());
        let Ok(output) = careless.output() else {
            return;
        };
        ends(&output, 4, &[]);
    }
    assert_eq!(home.read("seen"), "x\n");
}

#[test]
fn a_signal_ends_the_wait_for_a_claim() {
    let home = Home::new();
    // A server that takes the question and never answers.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap();
    let mut command = home.once("k", "echo x >> seen");
    command.env("SEMEL_SERVER", format!("http://{address}"));
    command.env("SEMEL_TOKEN", "smt_nobody");
    let mut waits = command.spawn().unwrap();
    let asked = silent.accept().unwrap();
    signal(waits.id(), "TERM");
    let begun = std::time::Instant::now();
    assert_eq!(waits.wait().unwrap().code(), Some(143));
    assert!(begun.elapsed() < std::time::Duration::from_secs(8));
    drop(asked);
    assert_eq!(home.read("seen"), "");
}

#[test]
fn a_stderr_that_is_full_changes_nothing() {
    let home = Home::new();
    let full = || std::fs::File::options().write(true).open("/dev/full");
    for _ in 0..2 {
        let Ok(stderr) = full() else { return };
        let mut command = home.once("k", "echo x >> seen; exit 6");
        assert_eq!(command.stderr(stderr).status().unwrap().code(), Some(6));
    }
    assert_eq!(home.read("seen"), "x\n");
    let mut listing = home.command(&["ledger", "ls", "--json"]);
    let listing = listing.stdout(full().unwrap()).output().unwrap();
    ends(&listing, 1, &["cannot write to stdout"]);
}

#[test]
fn a_key_may_begin_with_a_dash() {
    let home = Home::new();
    let words = [
        "once", "--scope", "s", "--key", "-5", "--part", "-rf", "--", "true",
    ];
    ends(&home.run(&words), 0, &[]);
    let found = home.json(&["ledger", "get", "s", "-5", "--part", "-rf", "--json"]);
    assert_eq!(found["state"], "done", "{found}");
}
