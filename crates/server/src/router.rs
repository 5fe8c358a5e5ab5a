//! Which path leads where, and who may go there.
//!
//! Every route passes one gate that asks for the token, counts the answer and times it. What is
//! not in [`ROUTES`] does not exist; under `/v1/` even that is told only to callers with a token.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::Method;
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, delete, get, post, put};
use tower::Service as _;

use crate::app::App;
use crate::auth;
use crate::code::Code;
use crate::hooks::receive;
use crate::metrics::RouteMetrics;
use crate::problem::Problem;
use crate::{
    approve, blobs, callbacks, decide, destinations, flows, guard, health, import, inbox, kv,
    ledger, live, once, overview, page, pictures, proof, receipts, releases, runs, secrets, settle,
    shadow, tokens, trigger,
};

/// Who may pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Everybody.
    Open,
    /// Everybody on this machine, others with a token.
    Local,
    /// Whoever has a token.
    Token,
    /// Nothing is there; under `/v1/` that is told only to whoever has a token.
    Nowhere,
}

/// A path and its methods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// The path, with `{names}` for what varies.
    pub path: &'static str,
    /// The methods, in lower case.
    pub methods: &'static [&'static str],
    /// Who may pass.
    pub access: Access,
}

const fn route(access: Access, path: &'static str, methods: &'static [&'static str]) -> Route {
    Route {
        path,
        methods,
        access,
    }
}

/// Where events come in.
const HOOKS: &str = "/hooks/{*path}";
/// The parts of a key are the segments.
const KV: &str = "/v1/kv/{*key}";

/// Every address of the page.
const PAGE: &str = "/app/{*path}";

/// Every path there is.
pub const ROUTES: [Route; 60] = [
    route(Access::Open, HOOKS, &["post"]),
    route(Access::Token, "/v1/flows", &["get", "post"]),
    route(Access::Token, "/v1/flows/{flow}", &["get", "delete"]),
    route(Access::Token, "/v1/flows/{flow}/releases", &["get"]),
    route(Access::Token, "/v1/flows/{flow}/rollback", &["post"]),
    route(Access::Token, "/v1/flows/{flow}/shadow", &["get"]),
    route(Access::Token, "/v1/flows/{flow}/runs", &["post"]),
    route(Access::Token, "/v1/releases/{release}", &["get"]),
    route(Access::Token, "/v1/check", &["post"]),
    route(Access::Token, "/v1/runs", &["get"]),
    route(Access::Token, "/v1/runs/{run}", &["get"]),
    route(Access::Token, "/v1/runs/{run}/watch", &["get"]),
    route(Access::Token, "/v1/runs/{run}/cancel", &["post"]),
    route(Access::Token, "/v1/runs/{run}/resume", &["post"]),
    route(Access::Token, "/v1/runs/{run}/plan", &["post"]),
    route(Access::Token, "/v1/runs/{run}/rerun", &["post"]),
    route(Access::Token, "/v1/runs/{run}/retry", &["post"]),
    route(Access::Token, "/v1/proof", &["get"]),
    route(Access::Token, "/v1/proof/key", &["get"]),
    route(Access::Token, "/v1/guard/{scope}/{key}", &["post", "put"]),
    route(
        Access::Token,
        "/v1/guard/{scope}/{key}/heartbeat",
        &["post"],
    ),
    route(Access::Token, "/v1/guard/{scope}/{key}/abandon", &["post"]),
    route(Access::Token, "/v1/once/{scope}/{key}", &["post"]),
    route(Access::Token, "/v1/ledger", &["get"]),
    route(Access::Token, "/v1/ledger/import", &["post"]),
    route(Access::Token, "/v1/ledger/{scope}/{key}", &["get"]),
    route(Access::Token, "/v1/ledger/{scope}/{key}/decide", &["post"]),
    route(Access::Token, "/v1/inbox", &["get"]),
    route(Access::Token, "/v1/inbox/decide", &["post"]),
    route(Access::Token, "/v1/inbox/{id}", &["get"]),
    route(Access::Token, "/v1/inbox/{id}/decide", &["post"]),
    route(Access::Token, "/v1/inbox/{id}/link", &["post"]),
    route(Access::Open, "/approve/{token}", &["get", "post"]),
    route(Access::Token, "/v1/receipts", &["get"]),
    route(Access::Token, "/v1/receipts/tally", &["get"]),
    route(Access::Token, "/v1/blobs", &["put"]),
    route(Access::Token, "/v1/blobs/{hash}", &["get"]),
    route(Access::Token, "/v1/tokens", &["get", "post"]),
    route(Access::Token, "/v1/tokens/{id}", &["delete"]),
    route(Access::Token, "/v1/secrets", &["get"]),
    route(Access::Token, "/v1/secrets/rotate", &["post"]),
    route(Access::Token, "/v1/secrets/{name}", &["put", "delete"]),
    route(Access::Token, "/v1/kv", &["get"]),
    route(Access::Token, KV, &["get", "put", "delete"]),
    route(Access::Local, "/metrics", &["get"]),
    route(Access::Open, "/healthz", &["get"]),
    route(Access::Open, "/readyz", &["get"]),
    route(Access::Open, "/openapi.json", &["get"]),
    route(Access::Open, "/errors/{code}", &["get"]),
    route(Access::Open, "/callbacks/{token}", &["post"]),
    route(Access::Token, "/v1/overview", &["get"]),
    route(Access::Token, "/v1/live", &["get"]),
    route(Access::Token, "/v1/destinations", &["get"]),
    route(Access::Token, "/v1/flows/{flow}/picture", &["get"]),
    route(Access::Token, "/v1/flows/{flow}/steps", &["get"]),
    route(Access::Token, "/v1/picture", &["post"]),
    route(Access::Token, "/v1/schema", &["get"]),
    route(Access::Open, "/", &["get"]),
    route(Access::Open, PAGE, &["get"]),
    route(Access::Open, "/assets/{file}", &["get"]),
];

fn methods(path: &str) -> MethodRouter<Arc<App>> {
    match path {
        HOOKS => post(receive::receive),
        "/v1/flows" => get(flows::list).post(flows::deploy),
        "/v1/flows/{flow}" => get(flows::get).delete(flows::retire),
        "/v1/flows/{flow}/releases" => get(releases::list),
        "/v1/flows/{flow}/rollback" => post(releases::rollback),
        "/v1/flows/{flow}/shadow" => get(shadow::report::get),
        "/v1/flows/{flow}/runs" => post(trigger::trigger),
        "/v1/releases/{release}" => get(releases::get),
        "/v1/check" => post(flows::check),
        "/v1/runs" => get(runs::list),
        "/v1/runs/{run}" => get(runs::show::get),
        "/v1/runs/{run}/watch" => get(runs::watch::watch),
        "/v1/runs/{run}/cancel" => post(runs::tell::cancel),
        "/v1/runs/{run}/resume" => post(runs::tell::resume),
        "/v1/runs/{run}/plan" => post(runs::again::plan),
        "/v1/runs/{run}/rerun" => post(runs::again::rerun),
        "/v1/runs/{run}/retry" => post(runs::again::retry),
        "/v1/proof" => get(proof::get),
        "/v1/proof/key" => get(proof::key),
        "/v1/guard/{scope}/{key}" => post(guard::claim).put(settle::settle),
        "/v1/guard/{scope}/{key}/heartbeat" => post(guard::heartbeat),
        "/v1/guard/{scope}/{key}/abandon" => post(guard::abandon),
        "/v1/once/{scope}/{key}" => post(once::once),
        "/v1/ledger" => get(ledger::list),
        "/v1/ledger/import" => post(import::import),
        "/v1/ledger/{scope}/{key}" => get(ledger::get),
        "/v1/ledger/{scope}/{key}/decide" => post(decide::decide),
        "/v1/inbox" => get(inbox::list::list),
        "/v1/inbox/decide" => post(inbox::bulk::decide),
        "/v1/inbox/{id}" => get(inbox::one::get),
        "/v1/inbox/{id}/decide" => post(inbox::one::decide),
        "/v1/inbox/{id}/link" => post(inbox::link::make),
        "/approve/{token}" => get(approve::show).post(approve::decide),
        "/v1/receipts" => get(receipts::list),
        "/v1/receipts/tally" => get(receipts::tally),
        "/v1/blobs" => put(blobs::put),
        "/v1/blobs/{hash}" => get(blobs::get),
        "/v1/tokens" => get(tokens::list).post(tokens::add),
        "/v1/tokens/{id}" => delete(tokens::revoke),
        "/v1/secrets" => get(secrets::list),
        "/v1/secrets/rotate" => post(secrets::rotate),
        "/v1/secrets/{name}" => put(secrets::set).delete(secrets::remove),
        "/v1/kv" => get(kv::list),
        KV => get(kv::get).put(kv::put).delete(kv::remove),
        "/healthz" => get(health::alive),
        "/readyz" => get(health::ready),
        "/openapi.json" => get(health::openapi),
        "/errors/{code}" => get(health::page),
        "/metrics" => get(health::metrics),
        "/callbacks/{token}" => post(callbacks::receive),
        "/v1/overview" => get(overview::get),
        "/v1/live" => get(live::get),
        "/v1/destinations" => get(destinations::list),
        "/v1/flows/{flow}/picture" => get(pictures::of_flow),
        "/v1/flows/{flow}/steps" => get(pictures::steps),
        "/v1/picture" => post(pictures::of_source),
        "/v1/schema" => get(pictures::schema),
        "/" | PAGE => get(page::document),
        "/assets/{file}" => get(page::asset),
        _ => MethodRouter::new(),
    }
}

/// All endpoints, for a connection or for the same process.
pub fn router(app: Arc<App>) -> Router {
    let gated =
        |path: &'static str, access: Access| from_fn_with_state(Gate::of(&app, path, access), pass);
    let mut router = Router::new();
    for Route { path, access, .. } in ROUTES {
        let methods = methods(path).fallback(method_not_allowed);
        router = router.route(path, methods.layer(gated(path, access)));
    }
    let nowhere = MethodRouter::new().fallback(not_found);
    let nowhere = nowhere.layer(gated("none", Access::Nowhere));
    router
        .fallback_service(nowhere.with_state(Arc::clone(&app)))
        .with_state(app)
}

#[derive(Debug)]
struct Gate {
    app: Arc<App>,
    metrics: RouteMetrics,
    access: Access,
}

/// The other end of the connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer(pub(crate) SocketAddr);

async fn pass(State(gate): State<Arc<Gate>>, mut request: Request, next: Next) -> Response {
    let started = Instant::now();
    let response = match gate.admit(&mut request).await {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    };
    gate.answered(response, started)
}

/// All endpoints as connections ask for them. Hooks are answered ahead of the router: storms come to
/// them, and its layers would cost as much as reading an event.
#[derive(Clone, Debug)]
pub(crate) struct Front {
    router: Router,
    hooks: Arc<Gate>,
}

impl Front {
    pub(crate) fn new(app: &Arc<App>) -> Front {
        Front {
            router: router(Arc::clone(app)),
            hooks: Gate::of(app, HOOKS, access_of(HOOKS)),
        }
    }

    /// Answers one request, as [`router`] would.
    pub(crate) async fn answer(mut self, mut request: Request) -> Response {
        let name = request.uri().path().strip_prefix("/hooks/");
        if name.is_none_or(str::is_empty) || request.method() != Method::POST {
            let answer: Result<Response, Infallible> = self.router.call(request).await;
            return answer.into_response();
        }
        let (gate, started) = (self.hooks, Instant::now());
        let response = match gate.admit(&mut request).await {
            Ok(()) => receive::receive(State(Arc::clone(&gate.app)), request).await,
            Err(problem) => Err(problem),
        };
        gate.answered(response.into_response(), started)
    }
}

/// Who may pass to a path of [`ROUTES`].
fn access_of(path: &str) -> Access {
    let route = ROUTES.iter().find(|route| route.path == path);
    route.map_or(Access::Nowhere, |route| route.access)
}

impl Gate {
    fn of(app: &Arc<App>, path: &'static str, access: Access) -> Arc<Gate> {
        Arc::new(Gate {
            app: Arc::clone(app),
            metrics: app.metrics.route(path),
            access,
        })
    }

    fn answered(&self, response: Response, started: Instant) -> Response {
        self.metrics.answered(response.status(), started.elapsed());
        response
    }

    async fn admit(&self, request: &mut Request) -> Result<(), Problem> {
        let needed = match self.access {
            Access::Open => false,
            Access::Token => true,
            Access::Local => !is_local(request),
            Access::Nowhere => request.uri().path().starts_with("/v1/"),
        };
        if needed {
            let caller = auth::identify(&self.app, request.headers()).await?;
            request.extensions_mut().insert(caller);
        }
        Ok(())
    }
}

fn is_local(request: &Request) -> bool {
    let peer = request.extensions().get::<Peer>();
    peer.is_some_and(|Peer(address)| address.ip().to_canonical().is_loopback())
}

async fn method_not_allowed(request: Request) -> Problem {
    let detail = format!("this path has no method {}", request.method());
    Problem::new(Code::MethodNotAllowed, detail).fix("the header `Allow` names those it has")
}

/// Tells a path without a key from one that leads nowhere.
async fn not_found(request: Request) -> Problem {
    let path = request.uri().path();
    let mut segments = path.split('/').skip(1);
    let front = (segments.next(), segments.next());
    let of_effect = matches!(front, (Some("v1"), Some("guard" | "once" | "ledger")));
    let names: Vec<&str> = segments.collect();
    if of_effect && (names.len() < 2 || names[..2].contains(&"")) {
        let missing = match names.first() {
            None | Some(&"") => "scope",
            Some(_) => "key",
        };
        let detail = format!("the path has no {missing}: /v1/…/SCOPE/KEY is needed");
        return Problem::new(Code::KeyMissing, detail)
            .field(missing)
            .fix("check that the expression that fills in the key is not empty");
    }
    let problem = Problem::new(Code::NotFound, "there is nothing at this path");
    if of_effect {
        return problem.fix("a / inside a scope or key is written %2F");
    }
    problem.fix("GET /openapi.json lists all paths")
}
