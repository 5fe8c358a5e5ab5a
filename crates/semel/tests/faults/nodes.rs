//! Two nodes on one PostgreSQL: equal while both live, and one is enough when the other is killed.

use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::client::Client;
use crate::node::{Node, serve, token_in};
use crate::support::{Home, signal, stdout, told as all_of, until};
use crate::told::{Told, stranger};

const KEYS: usize = 50;

/// Two nodes, the token of the first, and a schema that is theirs.
pub(crate) struct Pair {
    pub(crate) home: Home,
    pub(crate) one: Node,
    pub(crate) two: Node,
    pub(crate) token: String,
}

impl Pair {
    fn start() -> Pair {
        Pair::with(Home::new(), &[])
    }

    /// With more in the environment of both.
    pub(crate) fn with(home: Home, more: &[(&str, &str)]) -> Pair {
        let store = store();
        let one = join(&home, &store, "one", more);
        let token = token_in(&home.path("one"));
        let two = join(&home, &store, "two", more);
        Pair {
            home,
            one,
            two,
            token,
        }
    }

    fn clients(&self) -> [Client; 2] {
        [self.one.client(&self.token), self.two.client(&self.token)]
    }

    /// `semel` against one of the nodes.
    pub(crate) fn through(&self, node: &Node, words: &[&str]) -> Command {
        let mut command = self.home.command(words);
        command
            .env("SEMEL_SERVER", format!("http://{}", node.address))
            .env("SEMEL_TOKEN", &self.token);
        command
    }
}

fn store() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let Ok(base) = std::env::var("SEMEL_TEST_POSTGRES") else {
        panic!("SEMEL_TEST_POSTGRES is not set: run ./test, which starts a PostgreSQL of its own");
    };
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let sign = if base.contains('?') { '&' } else { '?' };
    let process = std::process::id();
    format!("{base}{sign}semel_schema=faults_{process}_{number}")
}

fn join(home: &Home, store: &str, name: &str, more: &[(&str, &str)]) -> Node {
    let data = home.path(name);
    let mut command = serve(home);
    command.envs(more.iter().copied());
    command.env("SEMEL_STORE", store).env("SEMEL_DATA", &data);
    let mut node = Node::spawn(home, command, name);
    node.wait_until_serving(&data);
    node
}

#[test]
fn one_key_is_granted_by_one_node() {
    let pair = Pair::start();
    let told = Told::default();
    let grants: usize = std::thread::scope(|scope| {
        let callers: Vec<_> = pair
            .clients()
            .into_iter()
            .chain(pair.clients())
            .map(|mut client| {
                let told = &told;
                scope.spawn(move || (0..KEYS).filter(|n| claims(&mut client, told, *n)).count())
            })
            .collect();
        callers.into_iter().map(|it| it.join().unwrap()).sum()
    });
    assert_eq!(grants, KEYS, "every key is granted once");
}

fn claims(client: &mut Client, told: &Told, number: usize) -> bool {
    let answer = told.claim(client, &format!("k{number}"), &stranger());
    let answer = answer.unwrap();
    assert!([201, 409].contains(&answer.status), "{answer:?}");
    answer.status == 201
}

#[test]
fn what_a_killed_node_granted_is_settled_through_the_other() {
    let mut pair = Pair::start();
    let told = Told::default();
    let [mut one, mut two] = pair.clients();
    for number in 0..20 {
        assert!(claims(&mut one, &told, number));
        assert!(claims(&mut two, &told, 100 + number));
    }
    let token = stranger();
    told.claim(&mut one, "early", &token);
    let settled = told.settle(&mut one, "early", &token, "done");
    assert_eq!(settled.unwrap().status, 200);
    pair.one.kill();
    for number in 0..20 {
        assert!(!claims(&mut two, &told, number), "still held");
        assert!(claims(&mut two, &told, 200 + number), "the other goes on");
    }
    assert_eq!(told.holds(&mut two), (60, 1));
}

#[test]
fn a_command_runs_once_through_two_nodes() {
    let pair = Pair::start();
    let script = "echo run >> seen; echo out";
    let words = [
        "once", "--scope", "s", "--key", "k", "--", "sh", "-c", script,
    ];
    for _ in 0..2 {
        let children: Vec<_> = [&pair.one, &pair.two, &pair.one, &pair.two]
            .map(|node| {
                let mut command = pair.through(node, &words);
                command.stdout(Stdio::piped()).stderr(Stdio::piped());
                command.spawn().unwrap()
            })
            .into();
        for child in children {
            let output = child.wait_with_output().unwrap();
            let code = output.status.code();
            assert!([Some(0), Some(5)].contains(&code), "{}", all_of(&output));
        }
        assert_eq!(pair.home.read("seen"), "run\n");
    }
    for node in [&pair.one, &pair.two] {
        let again = pair.through(node, &words).output().unwrap();
        assert_eq!(stdout(&again), "out\n", "{}", all_of(&again));
    }
    assert_eq!(pair.home.read("seen"), "run\n");
}

#[test]
fn a_token_of_one_node_opens_the_other() {
    let pair = Pair::start();
    let made = pair.through(&pair.one, &["tokens", "create", "n8n"]);
    let clear = stdout(&{ made }.output().unwrap()).trim().to_owned();
    assert!(clear.starts_with("smt_"), "{clear:?}");
    let answer = pair.two.client(&clear).claim("k", &stranger()).unwrap();
    assert_eq!(answer.status, 201, "{answer:?}");
    let refused = pair.two.client("smt_wrong").claim("k", &stranger());
    assert_eq!(refused.unwrap().status, 401);
}

/// A node that was stopped for longer than its lease wakes up as a stranger to its own past.
#[test]
fn a_node_that_slept_through_its_lease_is_replaced_and_joins_again() {
    let pair = Pair::start();
    let told = Told::default();
    let [mut one, mut two] = pair.clients();
    for number in 0..10 {
        assert!(claims(&mut one, &told, number));
    }
    signal(pair.one.child.id(), "STOP");
    until("the other takes over", || {
        pair.two.said().contains("took over").then_some(())
    });
    for number in 0..10 {
        assert!(!claims(&mut two, &told, number), "still its holder's");
        assert!(claims(&mut two, &told, 100 + number));
    }
    signal(pair.one.child.id(), "CONT");
    // A connection that was idle for so long may be closed; a new one is answered.
    let mut one = pair.one.client(&pair.token);
    let token = stranger();
    until("it writes again", || {
        let answer = told.claim(&mut one, "awake", &token).unwrap();
        assert!([201, 503].contains(&answer.status), "{answer:?}");
        (answer.status == 201).then_some(())
    });
    for number in 0..10 {
        assert!(!claims(&mut one, &told, 100 + number), "granted meanwhile");
    }
    assert_eq!(told.holds(&mut one), (21, 0));
    assert_eq!(told.holds(&mut two), (0, 21));
}
