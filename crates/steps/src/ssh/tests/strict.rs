//! Who is trusted, who is let in, and what never leaves.

use semel_flow::value::Piece;

use super::*;

/// A task whose command would leave a trace, with some fields given anew.
fn noting(machine: &Machine, fields: &[(&'static str, Value)]) -> Task {
    let mut all = vec![shell(&machine.noting("exit 0"))];
    all.extend_from_slice(fields);
    machine.task(&all)
}

#[tokio::test]
async fn a_changed_host_key_is_a_hard_failure() {
    let machine = Machine::start();
    // Whatever the operator's own configuration says.
    let loose = machine.path("loose");
    let config = "StrictHostKeyChecking no\nUserKnownHostsFile /dev/null\n\
                  NoHostAuthenticationForLocalhost yes\n";
    std::fs::write(&loose, config).unwrap();
    for config in [None, Some(loose)] {
        let settings = SshSettings {
            config,
            ..SshSettings::default()
        };
        let changed = ("host_key", Value::text(&machine.host_key("stranger")));
        let task = noting(&machine, &[changed]);
        let (outcome, sent) = machine.perform_with(settings, &task).await;
        let failure = failure(outcome);
        assert_eq!(failure.class, FailureClass::Permanent);
        assert_eq!(
            failure.message,
            "127.0.0.1 is not trusted: its host key is not the one that is known for it"
        );
        assert_eq!((machine.ran(), sent), (0, 0));
    }
}

#[tokio::test]
async fn only_known_hosts_are_trusted() {
    let machine = Machine::start();
    let unpinned = [("host_key", Value::Null)];
    let (outcome, sent) = machine.perform(&noting(&machine, &unpinned)).await;
    let failure_of = failure(outcome);
    assert_eq!(failure_of.class, FailureClass::Permanent);
    assert!(
        failure_of.message.contains("pin `host_key`"),
        "{}",
        failure_of.message
    );
    assert_eq!((machine.ran(), sent), (0, 0));

    let port = noting(&machine, &[]).input.get("port").unwrap().shown();
    let known = |name: &str| {
        let path = machine.path("known hosts");
        let line = format!("[127.0.0.1]:{port} {}\n", machine.host_key(name));
        std::fs::write(&path, line).unwrap();
        SshSettings {
            known_hosts: Some(path),
            ..SshSettings::default()
        }
    };
    let (outcome, _) = machine
        .perform_with(known("stranger"), &noting(&machine, &unpinned))
        .await;
    assert_eq!(failure(outcome).class, FailureClass::Permanent);
    assert_eq!(machine.ran(), 0);
    done(
        machine
            .perform_with(known("host"), &noting(&machine, &unpinned))
            .await
            .0,
    );
    assert_eq!(machine.ran(), 1);
}

#[tokio::test]
async fn a_key_that_is_not_taken_is_permanent() {
    let machine = Machine::start();
    let stranger = Value::Sealed(Arc::new([Piece::Secret("STRANGER".into())]));
    for identity in [stranger, Value::Null, Value::text("no key at all")] {
        let (outcome, sent) = machine
            .perform(&noting(&machine, &[("identity", identity)]))
            .await;
        let failure = failure(outcome);
        assert_eq!(
            failure.class,
            FailureClass::Permanent,
            "{}",
            failure.message
        );
        assert!(
            failure.message.contains("does not let"),
            "{}",
            failure.message
        );
        assert_eq!((machine.ran(), sent), (0, 0));
    }
}

#[tokio::test]
async fn nobody_there_is_never_sent() {
    let machine = Machine::start();
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = free.local_addr().unwrap().port();
    drop(free);
    for field in [
        ("port", Value::Int(port.into())),
        ("host", Value::text("no-such-host.invalid")),
    ] {
        let (outcome, sent) = machine.perform(&noting(&machine, &[field])).await;
        let failure = failure(outcome);
        assert_eq!(
            failure.class,
            FailureClass::NeverSent,
            "{}",
            failure.message
        );
        assert_eq!(sent, 0);
    }
    assert_eq!(machine.connections(), 0);
}

#[tokio::test]
async fn silence_until_the_timeout_is_never_sent() {
    let machine = Machine::start();
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    let mut task = noting(&machine, &[("port", Value::Int(port.into()))]);
    task.timeout = Millis::seconds(1);
    let (outcome, sent) = machine.perform(&task).await;
    assert_eq!(failure(outcome).class, FailureClass::NeverSent);
    assert_eq!(sent, 0);
}

#[tokio::test]
async fn a_forbidden_address_is_not_connected_to() {
    let machine = Machine::start();
    let task = noting(&machine, &[]);
    let secrets: Arc<dyn Secrets> = Arc::new(crate::EnvSecrets::default());
    let closed = Ssh::new(SshSettings::default(), OutgoingRules::default(), secrets);
    let mut task_without = task.clone();
    task_without.input = Value::map([
        ("host", Value::text("127.0.0.1")),
        ("port", task.input.get("port").unwrap().clone()),
        ("user", Value::text("x")),
        ("host_key", task.input.get("host_key").unwrap().clone()),
        command(&["true"]),
    ]);
    let outcome = closed.perform(&task_without, &semel_act::Untraced).await;
    let failure = failure(outcome);
    assert_eq!(failure.class, FailureClass::Permanent);
    assert!(failure.message.contains("loopback"), "{}", failure.message);
    assert_eq!(machine.connections(), 0);
}

/// The operator's file opens the hosts that it leads to, and no others that a flow may write.
#[tokio::test]
async fn a_configuration_leads_to_its_own_hosts_only() {
    let machine = Machine::start();
    let config = machine.path("ssh_config");
    std::fs::write(
        &config,
        "Host shop-1\n  HostName 127.0.0.1\nHost *\n  Compression no\n",
    )
    .unwrap();
    let settings = || SshSettings {
        config: Some(config.clone()),
        ..SshSettings::default()
    };
    let closed = |host: &str| {
        let task = noting(&machine, &[("host", Value::text(host))]);
        (machine.closed(settings()), task)
    };
    for host in ["127.0.0.1", "localhost", "127.1", "::1"] {
        let (ssh, task) = closed(host);
        let failure = failure(ssh.perform(&task, &semel_act::Untraced).await);
        assert_eq!(failure.class, FailureClass::Permanent, "{host}");
        assert!(failure.message.contains("loopback"), "{}", failure.message);
    }
    assert_eq!((machine.connections(), machine.ran()), (0, 0));
    let (ssh, task) = closed("shop-1");
    done(ssh.perform(&task, &semel_act::Untraced).await);
    assert_eq!(machine.ran(), 1);
    // What the rules allow is reached as without a file, and known by its name.
    let known = machine.path("known");
    let port = task.input.get("port").unwrap().shown();
    let line = format!("[localhost]:{port} {}\n", machine.host_key("host"));
    std::fs::write(&known, line).unwrap();
    std::fs::write(&config, format!("UserKnownHostsFile {}\n", known.display())).unwrap();
    let named = [
        ("host", Value::text("localhost")),
        ("host_key", Value::Null),
    ];
    let (outcome, _) = machine
        .perform_with(settings(), &noting(&machine, &named))
        .await;
    done(outcome);
    assert_eq!(machine.ran(), 2);
}

#[tokio::test]
async fn wrong_fields_are_named_and_nobody_is_called() {
    let machine = Machine::start();
    let text = |field, text: &str| (field, Value::text(text));
    let secret = Value::Sealed(Arc::new([Piece::Secret("KEY".into())]));
    let letters = "has letters that a name cannot have";
    let cases = [
        (text("host", "-oProxyCommand=touch /tmp/x"), letters),
        (text("host", "a b"), letters),
        (text("host", "%h`id`"), letters),
        (text("host", "root@127.0.0.1"), letters),
        (text("host", ""), "`host` is empty"),
        (text("user", "-l"), letters),
        (text("user", "x;id"), letters),
        (text("port", "0"), "`port` is not a port"),
        (text("port", "22 "), "`port` is not a port"),
        (
            text("host_key", "ssh-ed25519"),
            "`host_key` is not a host key",
        ),
        (
            text("host_key", "ssh-rsa AAAAC3NzaC1lZDI1NTE5AAAA"),
            "`host_key` is not a host key",
        ),
        (
            text("command", "rm -rf /"),
            "`command` is text; write a list",
        ),
        (
            ("command", Value::list(vec![Value::text("x"), secret])),
            "`command[1]` has a secret in it",
        ),
        (
            ("expect", Value::Int(255)),
            "`expect` has something that is not an exit code from 0 to 254",
        ),
        (("shell", Value::Bool(true)), "`ssh` has no field `shell`"),
        (
            text("status", "order/17"),
            "`status` asks about a command; leave out `command`",
        ),
    ];
    for (field, expected) in cases {
        let (outcome, sent) = machine.perform(&noting(&machine, &[field])).await;
        let failure = failure(outcome);
        assert_eq!(
            failure.class,
            FailureClass::Permanent,
            "{}",
            failure.message
        );
        assert!(
            failure.message.contains(expected),
            "{} / {expected}",
            failure.message
        );
        assert_eq!(sent, 0);
    }
    assert_eq!((machine.connections(), machine.ran()), (0, 0));
}

#[tokio::test]
async fn the_key_is_nowhere_to_be_seen() {
    let machine = Machine::start();
    let key = machine.read("user");
    let line = key.lines().nth(1).unwrap().to_owned();
    let began = Pipe::new(&machine, "began");
    let go = Pipe::new(&machine, "go");
    let script = format!(
        "echo 1 > {}; read go < {}; env",
        began.0.display(),
        go.0.display()
    );
    let task = machine.task(&[shell(&script)]);
    let looking = async {
        began.written().await;
        let mut seen = 0;
        for entry in std::fs::read_dir("/proc").unwrap().flatten() {
            for file in ["cmdline", "environ"] {
                let bytes = std::fs::read(entry.path().join(file)).unwrap_or_default();
                let shown = String::from_utf8_lossy(&bytes);
                assert!(!shown.contains(&line), "{:?}", entry.path());
                seen += usize::from(shown.contains("StrictHostKeyChecking=yes"));
            }
        }
        assert!(seen > 0, "ssh was not looked at");
        std::fs::write(&go.0, "go\n").unwrap();
    };
    let ((outcome, _), ()) = tokio::join!(machine.perform(&task), looking);
    let result = done(outcome);
    assert!(!text(&result, "stdout").contains(&line));
}
