//! What waits for a person, made for tests: lost answers, and requests for leave, of runs that are really parked.

use std::ops::Deref;
use std::sync::atomic::{AtomicU32, Ordering};

use axum::body::Body;
use axum::http::Request as HttpRequest;
use semel_ledger::json::Canonical;
use semel_ledger::{
    Command, Decision, Digest, EffectId, Fence, Fingerprint, Key, Millis, Request, Scope, Time,
    Verdict,
};
use semel_server::{Settings, tokens};
use semel_store::run::RunId;
use semel_store::store::random_bytes;
use semel_store::{Content, EffectChange, Location};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::common::{Answer, START, World};
use crate::outside::Mood;
use crate::working::run_of;

/// A flow whose step `ok` waits for a person.
pub(crate) const PAYOUT: &str = "\
name: payout
on:
  webhook: {path: /hooks/payout, verify: none}
key: payout/${{ event.id }}
steps:
  - id: ok
    http: {post: https://sink.example/pay}
";

/// A server with people: each has a token of their own. Runs begin by themselves, but whoever waits wakes
/// only where a test says so.
pub(crate) struct Gates {
    world: World,
    people: Vec<(&'static str, String)>,
    _directory: Option<tempfile::TempDir>,
}

impl Deref for Gates {
    type Target = World;

    fn deref(&self) -> &World {
        &self.world
    }
}

/// One test for each kind of store that is durable.
macro_rules! on_each_store {
    ($($name:ident,)*) => {
        mod sqlite {$(
            #[tokio::test]
            async fn $name() {
                super::$name(crate::gates::Gates::in_a_file().await).await;
            }
        )*}
        mod postgres {$(
            #[tokio::test]
            async fn $name() {
                super::$name(crate::gates::Gates::on_postgres().await).await;
            }
        )*}
    };
}
pub(crate) use on_each_store;

/// What a request asks for.
#[derive(Clone, Debug)]
pub(crate) struct Asking {
    pub(crate) ask: String,
    pub(crate) show: Value,
    pub(crate) by: Vec<&'static str>,
    pub(crate) needed: u32,
    pub(crate) maker: Option<&'static str>,
    pub(crate) allow_maker: bool,
    pub(crate) until: Time,
}

impl Default for Asking {
    fn default() -> Asking {
        Asking {
            ask: "Pay 500 to Eve?".to_owned(),
            show: json!({"amount": 500, "to": "Eve"}),
            by: vec!["group:finance"],
            needed: 1,
            maker: None,
            allow_maker: false,
            until: START.after(Millis::days(2)),
        }
    }
}

/// A request, or a lost answer, with the run that waits for it.
#[derive(Clone, Debug)]
pub(crate) struct Waiting {
    pub(crate) run: String,
    pub(crate) id: String,
    pub(crate) hash: String,
    pub(crate) effect: EffectId,
}

impl Gates {
    pub(crate) async fn in_a_file() -> Gates {
        let directory = tempfile::tempdir().unwrap();
        let location = Location::Sqlite(directory.path().join("semel.db"));
        Gates::at(&location, Some(directory)).await
    }

    pub(crate) async fn on_postgres() -> Gates {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let base = std::env::var("SEMEL_TEST_POSTGRES").expect(
            "SEMEL_TEST_POSTGRES is not set: run ./test, which starts a PostgreSQL of its own",
        );
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let sign = if base.contains('?') { '&' } else { '?' };
        let process = std::process::id();
        let url = format!("{base}{sign}semel_schema=inbox_{process}_{number}");
        Gates::at(&Location::Postgres(url), None).await
    }

    async fn at(location: &Location, directory: Option<tempfile::TempDir>) -> Gates {
        let settings = Settings {
            groups: [(
                "finance".to_owned(),
                vec!["ann".into(), "bob".into(), "cas".into()],
            )]
            .into(),
            public_url: "https://semel.example".to_owned(),
            ..Settings::default()
        };
        let world = World::on(location, settings).await;
        world.store.join("tests").await.unwrap();
        world.app.engine().recover(true).await.unwrap();
        let mut people = Vec::new();
        for name in ["ann", "bob", "cas", "mallory"] {
            let (token, _) = tokens::issue(&world.store, name).await.unwrap();
            people.push((name, token));
        }
        world.deploy(PAYOUT).await;
        Gates {
            world,
            people,
            _directory: directory,
        }
    }

    pub(crate) fn token_of(&self, who: &str) -> &str {
        let (_, token) = self.people.iter().find(|(name, _)| *name == who).unwrap();
        token
    }

    /// Sends JSON in somebody's name.
    pub(crate) async fn say(
        &self,
        who: &str,
        method: &str,
        path: &str,
        json: impl ToString,
    ) -> Answer {
        let token = self.token_of(who);
        let request = HttpRequest::builder()
            .method(method)
            .uri(path)
            .header("authorization", format!("Bearer {token}"))
            .header("content-type", "application/json");
        self.send(request.body(Body::from(json.to_string())).unwrap())
            .await
    }

    /// Decides an item as it was shown.
    pub(crate) async fn decide(&self, who: &str, it: &Waiting, decision: &str) -> Answer {
        let body = json!({"decision": decision, "hash": it.hash});
        let path = format!("/v1/inbox/{}/decide", it.id);
        self.say(who, "POST", &path, body).await
    }

    /// From here on, until what is given is dropped, runs that were told something wake.
    pub(crate) fn waking(&self) -> JoinSet<()> {
        self.app.engine().duties()
    }

    /// What a run was told and has not read.
    pub(crate) async fn mail(&self, run: &str) -> usize {
        let id = RunId::parse(run).unwrap();
        self.store.load_run(id).await.unwrap().unwrap().mail.len()
    }

    pub(crate) async fn item(&self, id: &str) -> Value {
        let answer = self.call("GET", &format!("/v1/inbox/{id}"), "").await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.json()
    }

    /// A run whose answer was lost: a person must say what is true.
    pub(crate) async fn lost(&self, event: &str) -> Waiting {
        self.sink.then(&[Mood::Mute]);
        let answer = self.hook("/hooks/payout", json!({"id": event})).await;
        assert_eq!(answer.status, 202, "{}", answer.text());
        let run = run_of(&answer);
        self.settled(&run).await;
        let key = Key::from_parts(&["payout", event, "ok"]).unwrap();
        let effect = EffectId::new(Scope::new("payout/ok").unwrap(), key);
        let found = self
            .call("GET", "/v1/inbox?scope=payout/ok&limit=1000", "")
            .await;
        let items = found.json()["items"].as_array().unwrap().clone();
        let item = items
            .iter()
            .find(|item| item["key"] == *effect.key.as_str());
        let item = item.unwrap_or_else(|| panic!("{event} in {items:?}"));
        Waiting {
            run,
            id: item["id"].as_str().unwrap().to_owned(),
            hash: item["hash"].as_str().unwrap().to_owned(),
            effect,
        }
    }

    /// A run that waits for leave.
    pub(crate) async fn asks(&self, event: &str, asking: &Asking) -> Waiting {
        let lost = self.lost(event).await;
        // The run is not told, and goes on waiting at its step.
        self.untold(&lost, Decision::Resend).await;
        self.asks_again(&lost, asking).await
    }

    /// Decides behind the server's back.
    pub(crate) async fn untold(&self, it: &Waiting, decision: Decision) {
        self.untold_by(it, decision, "nobody").await;
    }

    pub(crate) async fn untold_by(&self, it: &Waiting, decision: Decision, by: &str) {
        let command = Command::Decide {
            decision,
            attempt: None,
            digest: Digest::of_decision([Some("untold")]),
        };
        let content = Content {
            by: Some(by.into()),
            ..Content::default()
        };
        self.write(it, command, content).await;
    }

    /// Asks for leave under the same effect.
    pub(crate) async fn asks_again(&self, it: &Waiting, asking: &Asking) -> Waiting {
        let Asking {
            ask,
            show,
            by,
            needed,
            ..
        } = asking;
        let shown = json!({"ask": ask, "show": show, "by": by, "needed": needed});
        let shown = Canonical::read(shown.to_string().as_bytes()).unwrap();
        let fingerprint = Fingerprint::of(&shown);
        let request = json!({"approve": {
            "ask": ask, "show": show, "by": by, "needed": needed, "maker": asking.maker,
            "allow_maker": asking.allow_maker, "run": it.run, "step": "ok", "flow": "payout",
            "until": asking.until.0, "round": 1,
        }});
        let content = Content {
            by: Some(it.run.as_str().into()),
            input: Some(Canonical::read(request.to_string().as_bytes()).unwrap()),
            ..Content::default()
        };
        let command = Command::Request(Request {
            fence: Fence(random_bytes()),
            fingerprint,
            remember: Millis::days(30),
        });
        self.write(it, command, content).await;
        Waiting {
            hash: semel_store::blob::hex(&fingerprint.0),
            ..it.clone()
        }
    }

    async fn write(&self, it: &Waiting, command: Command, content: Content) {
        let change = EffectChange {
            effect: it.effect.clone(),
            command,
            content,
        };
        let answered = self.store.step(change).await.unwrap();
        let fine = matches!(
            answered.verdict,
            Verdict::Decided { again: false } | Verdict::Asked
        );
        assert!(fine, "{:?}", answered.verdict);
    }

    /// Everything that could change: the ledger and its lives, runs and their journals.
    pub(crate) async fn everything(&self) -> Vec<String> {
        let mut all = Vec::new();
        let effects = self.call("GET", "/v1/ledger?limit=1000", "").await.json();
        for effect in effects["effects"].as_array().unwrap() {
            let text = |name: &str| effect[name].as_str().unwrap().to_owned();
            let id = EffectId::new(
                Scope::new(&text("scope")).unwrap(),
                text("key").parse().unwrap(),
            );
            let record = self.store.load(&id).await.unwrap().unwrap();
            let turns = self.store.turns(&record).await.unwrap();
            all.push(format!("{record:?} {turns:?}"));
        }
        for run in self.runs().await {
            let loaded = self.store.load_run(run.id).await.unwrap();
            all.push(format!("{loaded:?}"));
        }
        all
    }
}
