//! SIGKILL in the middle of flows: what the destination saw is the only witness. Nothing twice, nothing
//! lost, and nobody asked about more than was on the wire.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use crate::client::Client;
use crate::node::{Node, serve, token_in};
use crate::sink::Sink;
use crate::support::{Home, until};

const ROUNDS: usize = 4;
const SENDERS: usize = 8;
/// How many events are accepted between two kills.
const BETWEEN: usize = 150;

fn flow(sink: &Sink) -> String {
    format!(
        "name: order
on:
  webhook: {{path: /hooks/order, verify: none}}
key: order/${{{{ event.n }}}}
steps:
  - id: note
    set: {{double: '${{{{ event.n * 2 }}}}'}}
  - id: charge
    http: {{post: 'http://{0}/charge', json: {{n: '${{{{ event.n }}}}'}}}}
    result: body.id
  - id: invoice
    http:
      post: http://{0}/invoice
      json: {{n: '${{{{ event.n }}}}', charge: '${{{{ steps.charge.result }}}}'}}
      idempotency: {{header: Idempotency-Key, window: 24h}}
",
        sink.address
    )
}

fn start(home: &Home) -> Node {
    let mut command = serve(home);
    command.args(["--flows", "flows"]);
    command.env("SEMEL_OUTGOING_ALLOW", "127.0.0.0/8");
    let mut node = Node::spawn(home, command, "data");
    node.wait_until_serving(&home.data());
    node
}

/// Events that were accepted, and who goes on sending them.
#[derive(Clone, Default)]
struct Senders {
    address: Arc<Mutex<String>>,
    next: Arc<AtomicU64>,
    accepted: Arc<Mutex<Vec<u64>>>,
    over: Arc<AtomicBool>,
}

impl Senders {
    fn send(&self) {
        let mut client: Option<(String, Client)> = None;
        while !self.over.load(Ordering::Relaxed) {
            let address = self.address.lock().unwrap().clone();
            if client.as_ref().is_none_or(|(known, _)| *known != address) {
                client = Some((address.clone(), Client::new(&address, "none")));
            }
            let Some((_, sender)) = &mut client else {
                return;
            };
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            let event = serde_json::json!({"n": number});
            match sender.ask("POST", "/hooks/order", Some(&event)) {
                Some(answer) if answer.status == 202 => self.accepted.lock().unwrap().push(number),
                Some(answer) => panic!("{answer:?}"),
                None => client = None,
            }
        }
    }

    fn count(&self) -> usize {
        self.accepted.lock().unwrap().len()
    }
}

/// Every run by what it is about, once none of them goes on by itself.
fn settled(client: &mut Client) -> HashMap<u64, String> {
    until("every run rests", || {
        let open = "queued,running,retrying,waiting,unknown";
        let page = client.ask("GET", &format!("/v1/runs?state={open}&limit=1"), None)?;
        page.body["runs"].as_array()?.is_empty().then_some(())
    });
    let mut runs = HashMap::new();
    let mut before = String::new();
    loop {
        let path = format!("/v1/runs?limit=500{before}");
        let page = client.ask("GET", &path, None).unwrap().body;
        for run in page["runs"].as_array().unwrap() {
            let key = run["key"].as_str().unwrap();
            let number = key.strip_prefix("order/").unwrap().parse().unwrap();
            runs.insert(number, run["state"].as_str().unwrap().to_owned());
        }
        match page["next"].as_str() {
            Some(next) => before = format!("&before={next}"),
            None => return runs,
        }
    }
}

#[test]
fn killed_in_mid_flow_the_world_sees_it_once() {
    let home = Home::new();
    let sink = Sink::start();
    std::fs::create_dir(home.path("flows")).unwrap();
    home.file("flows/order.yaml", flow(&sink));
    let senders = Senders::default();
    let mut node = start(&home);
    *senders.address.lock().unwrap() = node.address.clone();
    let sending: Vec<_> = (0..SENDERS)
        .map(|_| {
            let senders = senders.clone();
            std::thread::spawn(move || senders.send())
        })
        .collect();
    let mut on_the_wire = 0;
    for round in 1..=ROUNDS {
        until("enough events", || {
            (senders.count() >= round * BETWEEN).then_some(())
        });
        let moment = Instant::now();
        node.kill();
        on_the_wire += sink.open_at("/charge", moment);
        node = start(&home);
        *senders.address.lock().unwrap() = node.address.clone();
    }
    senders.over.store(true, Ordering::Relaxed);
    for sender in sending {
        sender.join().unwrap();
    }
    let runs = settled(&mut node.client(&token_in(&home.data())));
    judge(&sink, &senders, &runs, on_the_wire);
    assert_eq!(node.terminate(), Some(0), "{}", node.said());
}

fn judge(sink: &Sink, senders: &Senders, runs: &HashMap<u64, String>, on_the_wire: usize) {
    let (charges, invoices) = (sink.calls("/charge"), sink.calls("/invoice"));
    let twice: Vec<_> = charges
        .iter()
        .filter(|(_, calls)| calls.len() > 1)
        .collect();
    assert!(twice.is_empty(), "charged twice: {twice:?}");
    for (number, calls) in &invoices {
        let key = Some(format!("order/{number}/invoice"));
        assert!(
            calls.iter().all(|given| *given == key),
            "{number}: {calls:?}"
        );
    }
    for number in senders.accepted.lock().unwrap().iter() {
        match runs.get(number).map(String::as_str) {
            Some("done") => {
                assert!(charges.contains_key(number) && invoices.contains_key(number));
            }
            Some("parked") => {}
            other => panic!("event {number} was accepted and is {other:?}"),
        }
    }
    let parked = runs.values().filter(|state| *state == "parked").count();
    assert!(on_the_wire > 0, "no kill met a call that was open");
    assert!(
        parked <= on_the_wire,
        "{parked} parked, {on_the_wire} were on the wire"
    );
}
