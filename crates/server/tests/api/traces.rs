//! One trace for each run, as a collector reads it.

use std::sync::{Arc, Mutex};

use semel_server::{Deliver, DeliverError, Delivering, Settings, Traces};
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::common::Socket;
use crate::outside::Mood;
use crate::runs::{ORDER, shown};
use crate::working::run_of;

/// A collector that keeps what it takes, and at first does not.
struct Collector {
    taken: Mutex<Vec<Value>>,
    refuses: Mutex<Vec<bool>>,
    asked: watch::Sender<usize>,
}

impl Collector {
    /// Refuses as often as there are words: true, for now; false, for good.
    fn new(refuses: &[bool]) -> Arc<Collector> {
        Arc::new(Collector {
            taken: Mutex::default(),
            refuses: Mutex::new(refuses.to_vec()),
            asked: watch::Sender::new(0),
        })
    }

    async fn asked(&self, times: usize) {
        let mut asked = self.asked.subscribe();
        asked.wait_for(|count| *count >= times).await.unwrap();
    }
}

impl Deliver for Collector {
    fn deliver(&self, body: Vec<u8>) -> Delivering<'_> {
        Box::pin(async move {
            let refused = self.refuses.lock().unwrap().pop();
            if refused.is_none() {
                let body = serde_json::from_slice(&body).unwrap();
                self.taken.lock().unwrap().push(body);
            }
            self.asked.send_modify(|count| *count += 1);
            match refused {
                None => Ok(()),
                Some(again) => Err(DeliverError {
                    message: "busy".to_owned(),
                    again,
                }),
            }
        })
    }
}

async fn server(collector: &Arc<Collector>) -> Socket {
    let traces = Traces(Arc::clone(collector) as _);
    let socket = Socket::with(Settings {
        traces: Some(traces),
        ..Settings::default()
    })
    .await;
    socket.world.deploy(ORDER).await;
    socket
}

async fn order(socket: &Socket, id: &str) -> String {
    let event = json!({"id":id,"amount":1});
    let run = run_of(&socket.world.hook("/hooks/order", &event).await);
    socket.world.settled_for_good(&run).await;
    run
}

fn attribute(span: &Value, name: &str) -> Value {
    let all = span["attributes"].as_array().unwrap();
    let found = all.iter().find(|it| it["key"] == name);
    found.map_or(Value::Null, |it| it["value"]["stringValue"].clone())
}

#[tokio::test(start_paused = true)]
async fn a_run_that_ended_is_a_trace_of_its_spans() {
    let collector = Collector::new(&[true]);
    let socket = server(&collector).await;
    socket.world.sink.then(&[Mood::Does, Mood::Refuses]);
    let run = order(&socket, "a").await;
    // The first time it was refused for now.
    collector.asked(2).await;
    let taken = collector.taken.lock().unwrap().clone();
    let resource = &taken[0]["resourceSpans"][0];
    assert_eq!(attribute(&resource["resource"], "service.name"), "semel");
    let spans = resource["scopeSpans"][0]["spans"].as_array().unwrap();
    let root = &spans[0];
    assert_eq!(format!("run_{}", root["traceId"].as_str().unwrap()), run);
    assert_eq!(attribute(root, "semel.key"), "order/a");
    assert_eq!(root["status"]["code"], 2);
    assert_eq!(root["spanId"].as_str().unwrap().len(), 16);
    let steps = &spans[1..];
    let names: Vec<&str> = steps
        .iter()
        .map(|it| it["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["pay", "tell"]);
    let shown = shown(&socket.world, &run).await;
    for step in steps {
        assert_eq!(step["parentSpanId"], root["spanId"]);
        assert_eq!(step["traceId"], root["traceId"]);
        let of = shown["steps"].as_array().unwrap().iter();
        let of = of.clone().find(|it| it["step"] == step["name"]).unwrap();
        assert_eq!(attribute(step, "semel.outcome"), of["spans"][0]["outcome"]);
        let from: u64 = step["startTimeUnixNano"].as_str().unwrap().parse().unwrap();
        assert!(from >= 1_767_225_600_000_000_000, "{from}");
    }
    socket.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn what_a_collector_does_not_take_is_dropped_and_counted() {
    let collector = Collector::new(&[false]);
    let socket = server(&collector).await;
    order(&socket, "a").await;
    collector.asked(1).await;
    order(&socket, "b").await;
    collector.asked(2).await;
    let counted = async {
        loop {
            let page = socket.world.call("GET", "/metrics", "").await;
            let text = page.text();
            if text.contains("semel_traces_total{outcome=\"sent\"} 1") {
                break text.to_owned();
            }
            tokio::task::yield_now().await;
        }
    };
    assert!(
        counted
            .await
            .contains("semel_traces_total{outcome=\"dropped\"} 1")
    );
    assert_eq!(collector.taken.lock().unwrap().len(), 1);
    socket.stop().await.unwrap();
}
