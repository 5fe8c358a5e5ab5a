//! The output of a command: live, on record, and replayed.

use crate::support::{Home, ends, stdout};

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
