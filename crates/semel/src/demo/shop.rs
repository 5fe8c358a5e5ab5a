//! A small shop's destinations: a CRM, a payment provider and a depot, on one port of this machine.
//!
//! Each behaves as the real ones do: the CRM makes a second contact when asked twice, the provider drops
//! repeats of a key, the depot sends a second parcel but can be asked. All are slow now and then, and
//! lose some requests and some answers. What they did is counted before they answer.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use hyper::header::CONTENT_TYPE;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};

use super::chance::Chance;
use super::entrance::Entrance;
use super::world::{Effect, World};

/// Of a hundred requests so many are lost on the way to the shop.
const REQUESTS_LOST: u64 = 1;
/// Of a hundred answers so many are lost on the way back.
const ANSWERS_LOST: u64 = 3;
const MAX_BODY: usize = 64 * 1024;

/// What the shop remembers.
#[derive(Debug)]
pub(super) struct Shop {
    world: Arc<World>,
    chance: Arc<Chance>,
    contacts: Mutex<HashMap<String, String>>,
    charges: Mutex<HashMap<String, String>>,
    parcels: Mutex<HashMap<String, String>>,
    /// Nothing is lost any more.
    calm: AtomicBool,
    /// The way to the page.
    entrance: OnceLock<Entrance>,
}

/// The connection is cut without an answer.
#[derive(Debug, thiserror::Error)]
#[error("lost on the way")]
struct Lost;

impl Shop {
    pub(super) fn new(world: &Arc<World>, chance: &Arc<Chance>) -> Arc<Shop> {
        Arc::new(Shop {
            world: Arc::clone(world),
            chance: Arc::clone(chance),
            contacts: Mutex::default(),
            charges: Mutex::default(),
            parcels: Mutex::default(),
            calm: AtomicBool::new(false),
            entrance: OnceLock::new(),
        })
    }

    /// Lets whoever watches go to the page by way of the shop.
    pub(super) fn let_in(&self, entrance: Entrance) {
        let _ = self.entrance.set(entrance);
    }

    /// From now on everything arrives.
    pub(super) fn calm_down(&self) {
        self.calm.store(true, Ordering::Relaxed);
    }

    /// Whether this one is lost.
    pub(super) fn loses(&self, share: u64) -> bool {
        !self.calm.load(Ordering::Relaxed) && self.chance.percent(share)
    }

    pub(super) async fn open(self: &Arc<Shop>) -> std::io::Result<SocketAddr> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let shop = Arc::clone(self);
        tokio::spawn(async move {
            loop {
                if let Ok((stream, _)) = listener.accept().await {
                    tokio::spawn(Arc::clone(&shop).serve(stream));
                }
            }
        });
        Ok(address)
    }

    async fn serve(self: Arc<Shop>, stream: TcpStream) {
        let _ = stream.set_nodelay(true);
        let answer = service_fn(|request| {
            let shop = Arc::clone(&self);
            async move { shop.answer(request).await }
        });
        // A connection that ends badly is what is shown here.
        let _ = http1::Builder::new()
            .serve_connection(TokioIo::new(stream), answer)
            .await;
    }

    async fn answer(&self, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Lost> {
        let entrance = self.entrance.get();
        if let Some(passed) = entrance.and_then(|it| it.pass(request.uri().path())) {
            return Ok(passed);
        }
        tokio::time::sleep(self.chance.millis(5, 60)).await;
        let (head, body) = request.into_parts();
        let body = Limited::new(body, MAX_BODY).collect().await;
        let body = body.map_err(|_| Lost)?.to_bytes();
        let changes = head.method == Method::POST;
        if changes && self.loses(REQUESTS_LOST) {
            self.world.count(|traffic| traffic.answers_lost += 1);
            return Err(Lost);
        }
        let key = head.headers.get("idempotency-key");
        let key = key.and_then(|key| key.to_str().ok()).unwrap_or_default();
        let said = self.act(&head.method, head.uri.path(), head.uri.query(), key, &body);
        tokio::time::sleep(self.chance.millis(5, 60)).await;
        if changes && self.loses(ANSWERS_LOST) {
            self.world.count(|traffic| traffic.answers_lost += 1);
            return Err(Lost);
        }
        let status = if said.is_some() {
            StatusCode::OK
        } else {
            StatusCode::NOT_FOUND
        };
        let text = said.unwrap_or_else(|| json!({"error": "there is nothing here"}));
        let mut response = Response::new(Full::new(Bytes::from(text.to_string())));
        *response.status_mut() = status;
        let json = hyper::header::HeaderValue::from_static("application/json");
        response.headers_mut().insert(CONTENT_TYPE, json);
        Ok(response)
    }

    fn act(
        &self,
        method: &Method,
        path: &str,
        query: Option<&str>,
        key: &str,
        body: &[u8],
    ) -> Option<Value> {
        match (method.as_str(), path) {
            ("GET", "/crm/contacts") => Some(found(&self.contacts, "items", query, "external_id=")),
            ("GET", "/depot/parcels") => Some(found(&self.parcels, "parcels", query, "order=")),
            ("POST", "/crm/contacts") => {
                let of = member(body, "external_id")?;
                Some(self.make(Effect::Contact, &self.contacts, &of, "con"))
            }
            ("POST", "/depot/parcels") => {
                let of = member(body, "order")?;
                Some(self.make(Effect::Parcel, &self.parcels, &of, "par"))
            }
            ("POST", "/stripe/v1/charges") => Some(self.charge(key, &field(body, "invoice=")?)),
            _ => None,
        }
    }

    /// Does it, whether or not it was done before.
    fn make(
        &self,
        effect: Effect,
        kept: &Mutex<HashMap<String, String>>,
        of: &str,
        prefix: &str,
    ) -> Value {
        let id = format!("{prefix}_{:08x}", self.chance.number() >> 32);
        self.world.happened(effect, of);
        lock(kept)
            .entry(of.to_owned())
            .or_insert_with(|| id.clone());
        json!({"id": id})
    }

    /// Charges, unless the key was used before.
    fn charge(&self, key: &str, invoice: &str) -> Value {
        let id = format!("ch_{:016x}", self.chance.number());
        let mut charges = lock(&self.charges);
        if let Some(first) = charges.get(key).filter(|_| !key.is_empty()) {
            self.world.count(|traffic| traffic.dropped_by_key += 1);
            return json!({"id": first});
        }
        charges.insert(key.to_owned(), id.clone());
        self.world.happened(Effect::Charge, invoice);
        json!({"id": id})
    }
}

fn lock<T>(kept: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What is kept under the name that the query asks for.
fn found(
    kept: &Mutex<HashMap<String, String>>,
    name: &str,
    query: Option<&str>,
    asked: &str,
) -> Value {
    let of = query.and_then(|query| query.strip_prefix(asked));
    let id = of.and_then(|of| lock(kept).get(of).cloned());
    let items: Vec<Value> = id.into_iter().map(|id| json!({"id": id})).collect();
    json!({name: items})
}

/// A member of a JSON body, as text.
fn member(body: &[u8], name: &str) -> Option<String> {
    let document: Value = serde_json::from_slice(body).ok()?;
    match document.get(name)? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// A field of a form whose values need no escapes.
fn field(body: &[u8], name: &str) -> Option<String> {
    let text = std::str::from_utf8(body).ok()?;
    let value = text.split('&').find_map(|pair| pair.strip_prefix(name));
    value.map(str::to_owned)
}
