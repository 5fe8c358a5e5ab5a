//! The gate before every path: it finds out who calls, whether they may, counts the answer and times it.
//!
//! Which paths there are, and what each needs, is `table`. What is not in [`ROUTES`] does not exist; under `/v1/` even
//! that is told only to callers who are known.

mod table;

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::header::ALLOW;
use axum::http::{HeaderValue, Method};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::MethodRouter;
use semel_store::access::{Scope, Scopes};
use semel_store::audit::AuditChange;
use tower::Service as _;

use crate::app::App;
use crate::audit::{self, Told};
use crate::auth;
use crate::code::Code;
use crate::hooks::receive;
use crate::metrics::RouteMetrics;
use crate::problem::Problem;
use table::{HOOKS, methods};

pub use table::{Access, ROUTES, Route};

/// All endpoints, for a connection or for the same process.
pub fn router(app: Arc<App>) -> Router {
    let gated = |route: &Route| from_fn_with_state(Gate::of(&app, *route), pass);
    let mut router = Router::new();
    for route in ROUTES {
        router = router.route(route.path, methods(route.path).layer(gated(route)));
    }
    let nowhere = MethodRouter::new().fallback(not_found);
    let nowhere = nowhere.layer(gated(&NOWHERE));
    router
        .fallback_service(nowhere.with_state(Arc::clone(&app)))
        .with_state(app)
}

/// Stands for every path that is not there.
const NOWHERE: Route = Route {
    path: "none",
    methods: &[],
};

#[derive(Debug)]
struct Gate {
    app: Arc<App>,
    metrics: RouteMetrics,
    route: Route,
}

/// The other end of the connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer(pub(crate) SocketAddr);

async fn pass(State(gate): State<Arc<Gate>>, mut request: Request, next: Next) -> Response {
    let started = Instant::now();
    let response = match gate.admit(&mut request).await {
        Ok(true) => gate.recorded(request, next).await,
        Ok(false) => gate.method_not_allowed(request.method()),
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
            hooks: Gate::of(app, hooks()),
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
            Ok(_) => receive::receive(State(Arc::clone(&gate.app)), request).await,
            Err(problem) => Err(problem),
        };
        gate.answered(response.into_response(), started)
    }
}

fn hooks() -> Route {
    let route = ROUTES.iter().find(|route| route.path == HOOKS);
    route.copied().unwrap_or(NOWHERE)
}

impl Gate {
    fn of(app: &Arc<App>, route: Route) -> Arc<Gate> {
        Arc::new(Gate {
            app: Arc::clone(app),
            metrics: app.metrics.route(route.path),
            route,
        })
    }

    fn answered(&self, response: Response, started: Instant) -> Response {
        self.metrics.answered(response.status(), started.elapsed());
        response
    }

    /// Who may send this request, and whether the path has its method.
    fn access(&self, request: &Request) -> (Access, bool) {
        if self.route == NOWHERE {
            return (Access::Nowhere, true);
        }
        match self.route.access(request.method().as_str()) {
            Some(access) => (access, true),
            None => (self.route.of_others(), false),
        }
    }

    /// Lets a request pass, or says why not. Gives whether the path has its method.
    async fn admit(&self, request: &mut Request) -> Result<bool, Problem> {
        let (access, there) = self.access(request);
        let (known, scopes) = match access {
            Access::Open => (false, None),
            Access::Known => (true, None),
            Access::Needs(scopes) => (true, Some(scopes)),
            Access::Local if is_local(request) => (false, None),
            Access::Local => (true, Some(Scopes::of(&[Scope::Read]))),
            Access::Nowhere => (request.uri().path().starts_with("/v1/"), None),
        };
        if known {
            let caller = auth::identify(&self.app, request.method(), request.headers()).await?;
            if let Some(scopes) = scopes {
                caller.needs_one_of(scopes)?;
            }
            request.extensions_mut().insert(caller);
        }
        Ok(there)
    }

    /// Carries it out; what changes something is in the audit log before it is, and with what came of it behind.
    async fn recorded(&self, request: Request, next: Next) -> Response {
        let (access, _) = self.access(&request);
        let Some(deed) = audit::deed(&self.route, access, &request) else {
            return next.run(request).await;
        };
        let seq = match self.app.store.write_audit(AuditChange::Add(deed)).await {
            Ok(seq) => seq,
            Err(error) => return Problem::from(error).into_response(),
        };
        let mut response = next.run(request).await;
        let told = response.extensions_mut().remove::<Told>();
        audit::end(&self.app, seq, response.status(), told).await;
        response
    }

    fn method_not_allowed(&self, method: &Method) -> Response {
        let detail = format!("this path has no method {method}");
        let problem = Problem::new(Code::MethodNotAllowed, detail)
            .fix("the header `Allow` names those it has");
        let mut response = problem.into_response();
        if let Ok(allowed) = HeaderValue::try_from(self.route.allowed()) {
            response.headers_mut().insert(ALLOW, allowed);
        }
        response
    }
}

fn is_local(request: &Request) -> bool {
    let peer = request.extensions().get::<Peer>();
    peer.is_some_and(|Peer(address)| address.ip().to_canonical().is_loopback())
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
