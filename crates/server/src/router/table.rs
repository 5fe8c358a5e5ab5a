//! Every path there is, its methods, what each of them needs, and which function answers.
//!
//! A new path is one line in [`ROUTES`] and one in [`methods`]. The invariant: what [`ROUTES`] does not name, path or
//! method, is answered by nobody.

use std::sync::Arc;

use axum::routing::{MethodRouter, delete, get, patch, post, put};
use semel_store::access::{Scope, Scopes};

use crate::app::App;
use crate::hooks::receive;
use crate::people::{api as people, login, pages, setup};
use crate::{
    approve, audit, blobs, callbacks, decide, flows, guard, health, import, inbox, kv, ledger,
    once, proof, receipts, releases, runs, secrets, settle, shadow, tokens, trigger,
};

/// Who may pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Everybody.
    Open,
    /// Everybody on this machine, others with the scope `read`.
    Local,
    /// Whoever is known, by a token or a session.
    Known,
    /// Whoever has one of these scopes.
    Needs(Scopes),
    /// Nothing is there; under `/v1/` that is told only to whoever is known.
    Nowhere,
}

const READ: Access = needs(&[Scope::Read]);
const GUARD: Access = needs(&[Scope::Guard]);
const READ_OR_GUARD: Access = needs(&[Scope::Read, Scope::Guard]);
const TRIGGER: Access = needs(&[Scope::Trigger]);
const OPERATE: Access = needs(&[Scope::Operate]);
const APPROVE: Access = needs(&[Scope::Approve]);
/// Requests for leave need `approve`, lost answers `operate`: what is asked says which.
const DECIDE: Access = needs(&[Scope::Operate, Scope::Approve]);
const DEPLOY: Access = needs(&[Scope::Deploy]);
const ADMIN: Access = needs(&[Scope::Admin]);

const fn needs(scopes: &[Scope]) -> Access {
    Access::Needs(Scopes::of(scopes))
}

/// A path and its methods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// The path, with `{names}` for what varies.
    pub path: &'static str,
    /// The methods in lower case, each with who may use it.
    pub methods: &'static [(&'static str, Access)],
}

impl Route {
    /// Who may use a method; `None` if the path does not have it.
    #[must_use]
    pub fn access(&self, method: &str) -> Option<Access> {
        let method = if method == "HEAD" { "GET" } else { method };
        let named = |(name, _): &&(&str, Access)| name.eq_ignore_ascii_case(method);
        self.methods.iter().find(named).map(|(_, access)| *access)
    }

    /// Who is told that the path does not have a method: whoever may know that the path is there.
    pub(super) fn of_others(&self) -> Access {
        let open = self.methods.iter().any(|(_, it)| *it == Access::Open);
        if open { Access::Open } else { Access::Known }
    }

    /// The methods as the header `Allow` names them.
    pub(super) fn allowed(&self) -> String {
        let names = self.methods.iter().map(|(name, _)| name.to_uppercase());
        let mut all: Vec<String> = names.collect();
        if all.iter().any(|name| name == "GET") {
            all.push("HEAD".to_owned());
        }
        all.join(", ")
    }
}

const fn route(path: &'static str, methods: &'static [(&'static str, Access)]) -> Route {
    Route { path, methods }
}

/// Where events come in.
pub(crate) const HOOKS: &str = "/hooks/{*path}";
/// The parts of a key are the segments.
const KV: &str = "/v1/kv/{*key}";

/// Every path there is.
#[rustfmt::skip]
pub const ROUTES: &[Route] = &[
    route(HOOKS, &[("post", Access::Open)]),
    route("/v1/flows", &[("get", READ), ("post", DEPLOY)]),
    route("/v1/flows/{flow}", &[("get", READ), ("delete", DEPLOY)]),
    route("/v1/flows/{flow}/releases", &[("get", READ)]),
    route("/v1/flows/{flow}/rollback", &[("post", DEPLOY)]),
    route("/v1/flows/{flow}/shadow", &[("get", READ)]),
    route("/v1/flows/{flow}/runs", &[("post", TRIGGER)]),
    route("/v1/releases/{release}", &[("get", READ)]),
    route("/v1/check", &[("post", READ)]),
    route("/v1/runs", &[("get", READ)]),
    route("/v1/runs/{run}", &[("get", READ)]),
    route("/v1/runs/{run}/watch", &[("get", READ)]),
    route("/v1/runs/{run}/cancel", &[("post", OPERATE)]),
    route("/v1/runs/{run}/resume", &[("post", OPERATE)]),
    route("/v1/runs/{run}/plan", &[("post", READ)]),
    route("/v1/runs/{run}/rerun", &[("post", OPERATE)]),
    route("/v1/runs/{run}/retry", &[("post", OPERATE)]),
    route("/v1/proof", &[("get", READ)]),
    route("/v1/proof/key", &[("get", READ)]),
    route("/v1/guard/{scope}/{key}", &[("post", GUARD), ("put", GUARD)]),
    route("/v1/guard/{scope}/{key}/heartbeat", &[("post", GUARD)]),
    route("/v1/guard/{scope}/{key}/abandon", &[("post", GUARD)]),
    route("/v1/once/{scope}/{key}", &[("post", GUARD)]),
    route("/v1/ledger", &[("get", READ)]),
    route("/v1/ledger/import", &[("post", OPERATE)]),
    route("/v1/ledger/{scope}/{key}", &[("get", READ)]),
    route("/v1/ledger/{scope}/{key}/decide", &[("post", OPERATE)]),
    route("/v1/inbox", &[("get", READ)]),
    route("/v1/inbox/decide", &[("post", DECIDE)]),
    route("/v1/inbox/{id}", &[("get", READ)]),
    route("/v1/inbox/{id}/decide", &[("post", DECIDE)]),
    route("/v1/inbox/{id}/link", &[("post", APPROVE)]),
    route("/approve/{token}", &[("get", Access::Open), ("post", Access::Open)]),
    route("/v1/receipts", &[("get", READ)]),
    route("/v1/receipts/tally", &[("get", READ)]),
    route("/v1/blobs", &[("put", GUARD)]),
    route("/v1/blobs/{hash}", &[("get", READ_OR_GUARD)]),
    route("/v1/tokens", &[("get", ADMIN), ("post", ADMIN)]),
    route("/v1/tokens/{id}", &[("delete", ADMIN)]),
    route("/v1/secrets", &[("get", READ)]),
    route("/v1/secrets/rotate", &[("post", ADMIN)]),
    route("/v1/secrets/{name}", &[("put", DEPLOY), ("delete", DEPLOY)]),
    route("/v1/kv", &[("get", READ)]),
    route(KV, &[("get", READ_OR_GUARD), ("put", GUARD), ("delete", GUARD)]),
    route("/metrics", &[("get", Access::Local)]),
    route("/healthz", &[("get", Access::Open)]),
    route("/readyz", &[("get", Access::Open)]),
    route("/openapi.json", &[("get", Access::Open)]),
    route("/errors/{code}", &[("get", Access::Open)]),
    route("/callbacks/{token}", &[("post", Access::Open)]),
    route("/v1/session", &[("get", Access::Known), ("post", Access::Open), ("delete", Access::Known)]),
    route("/login", &[("get", Access::Open), ("post", Access::Open)]),
    route("/logout", &[("get", Access::Open), ("post", Access::Open)]),
    route("/setup/{token}", &[("get", Access::Open), ("post", Access::Open)]),
    route("/v1/setup", &[("post", ADMIN)]),
    route("/v1/people", &[("get", ADMIN), ("post", ADMIN)]),
    route("/v1/people/{name}", &[("patch", ADMIN), ("delete", ADMIN)]),
    route("/v1/people/{name}/link", &[("post", ADMIN)]),
    route("/v1/audit", &[("get", ADMIN)]),
];

/// Which function answers.
pub(super) fn methods(path: &str) -> MethodRouter<Arc<App>> {
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
        "/v1/session" => get(login::get).post(login::log_in).delete(login::log_out),
        "/login" => get(pages::login).post(pages::log_in),
        "/logout" => get(pages::logout).post(pages::log_out),
        "/setup/{token}" => get(setup::show).post(setup::choose),
        "/v1/setup" => post(people::setup),
        "/v1/people" => get(people::list).post(people::add),
        "/v1/people/{name}" => patch(people::change).delete(people::remove),
        "/v1/people/{name}/link" => post(people::link),
        "/v1/audit" => get(audit::list),
        _ => MethodRouter::new(),
    }
}
