//! A server that works on runs, without a socket.

use std::ops::Deref;

use axum::body::Body;
use axum::http::StatusCode;
use semel_server::Settings;
use semel_store::Location;
use semel_store::run::{Run, RunId, RunState};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::common::{Answer, World};

/// A world whose engine works.
pub(crate) struct Working {
    world: World,
    _duties: JoinSet<()>,
}

impl Deref for Working {
    type Target = World;

    fn deref(&self) -> &World {
        &self.world
    }
}

impl Working {
    pub(crate) async fn new() -> Working {
        Working::on(&Location::Memory).await
    }

    /// On a store of one's choice.
    pub(crate) async fn on(location: &Location) -> Working {
        let world = World::on(location, Settings::default()).await;
        world.store.join("tests").await.unwrap();
        world.app.engine().recover(true).await.unwrap();
        let duties = world.app.engine().duties();
        Working {
            world,
            _duties: duties,
        }
    }
}

impl World {
    /// Deploys a flow, which must succeed; gives its release.
    pub(crate) async fn deploy(&self, source: &str) -> String {
        let answer = self
            .call("POST", "/v1/flows", json!({ "source": source }))
            .await;
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.text());
        answer.json()["release"].as_str().unwrap().to_owned()
    }

    /// Sends a JSON event to a hook.
    pub(crate) async fn hook(&self, path: &str, json: impl ToString) -> Answer {
        self.deliver(
            path,
            &[("content-type", "application/json")],
            json.to_string(),
        )
        .await
    }

    /// Sends an event to a hook; its run's first act is under way at a destination that does not
    /// answer yet.
    pub(crate) async fn held(&self, path: &str, json: impl ToString) -> String {
        self.sink.holds.send_replace(true);
        let answer = self.hook(path, json).await;
        self.sink.reached(1).await;
        run_of(&answer)
    }

    /// Sends a request to a hook; no token.
    pub(crate) async fn deliver(
        &self,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Body>,
    ) -> Answer {
        let mut request = axum::http::Request::post(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.send(request.body(body.into()).unwrap()).await
    }

    /// Starts a run by hand under a key.
    pub(crate) async fn trigger(&self, flow: &str, key: &str, json: impl ToString) -> Answer {
        let request = self
            .request("POST", &format!("/v1/flows/{flow}/runs"))
            .header("idempotency-key", key)
            .header("content-type", "application/json");
        self.send(request.body(Body::from(json.to_string())).unwrap())
            .await
    }

    /// All runs that have no parent.
    pub(crate) async fn runs(&self) -> Vec<Run> {
        let filter = semel_store::run::RunFilter {
            limit: 1000,
            ..Default::default()
        };
        self.store.runs(&filter).await.unwrap().items
    }

    /// Waits until a run is over, or waits for a person.
    pub(crate) async fn settled(&self, run: &str) -> RunState {
        let id = RunId::parse(run).unwrap();
        let rests = |state: RunState| !state.is_open() || state == RunState::Parked;
        let mut moves = self.app.engine().follow();
        loop {
            let state = self.store.run(id).await.unwrap().unwrap().state;
            if rests(state) {
                return state;
            }
            while moves.recv().await.unwrap().run != id {}
        }
    }
}

impl World {
    /// Waits until a run is over.
    pub(crate) async fn settled_for_good(&self, run: &str) -> RunState {
        let id = RunId::parse(run).unwrap();
        let mut moves = self.app.engine().follow();
        loop {
            let state = self.store.run(id).await.unwrap().unwrap().state;
            if !state.is_open() {
                return state;
            }
            while moves.recv().await.unwrap().run != id {}
        }
    }
}

/// The run that an answer names.
pub(crate) fn run_of(answer: &Answer) -> String {
    let json: Value = answer.json();
    let run = json["run"].as_str();
    run.unwrap_or_else(|| panic!("{json}")).to_owned()
}
