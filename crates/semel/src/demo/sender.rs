//! Those who send webhooks, as they really are: signed, impatient, and sending again.
//!
//! An event is sent until it is acknowledged. Three in ten are sent again although they were: at the
//! same time, or a little later.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use bytes::Bytes;
use hmac::{Hmac, KeyInit as _, Mac as _};
use http_body_util::{BodyExt as _, Full};
use hyper::Request;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::Sha256;

use super::chance::Chance;
use super::world::{Effect, World};

/// Of a hundred events so many are sent again.
const RESENT: u64 = 30;
/// Between two attempts to have an event acknowledged.
const AGAIN: Duration = Duration::from_millis(250);
/// The longest that a sender waits for an answer.
const PATIENCE: Duration = Duration::from_secs(10);

const NAMES: [&str; 12] = [
    "Ada", "Grace", "Alan", "Edsger", "Barbara", "Donald", "Leslie", "Frances", "Tony", "Radia",
    "Niklaus", "Jean",
];
const CITIES: [&str; 8] = [
    "Bern", "Porto", "Gent", "Turku", "Graz", "Split", "Cork", "Brno",
];

/// What Stripe signs with.
pub(super) const STRIPE: &str = "whsec_the_demo_and_nothing_else";
/// What Shopify signs with.
pub(super) const SHOPIFY: &str = "shpss_the_demo_and_nothing_else";

/// One event, ready to be sent any number of times.
#[derive(Clone, Debug)]
struct Event {
    path: &'static str,
    name: String,
    body: String,
    promises: Vec<(Effect, String)>,
}

/// How a delivery ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Told {
    Accepted,
    Duplicate,
    /// No answer, or one that makes senders come again.
    Nothing,
}

#[derive(Debug, Deserialize)]
struct Said {
    status: String,
}

/// All senders together.
#[derive(Debug)]
pub(super) struct Sender {
    world: Arc<World>,
    chance: Arc<Chance>,
    to: SocketAddr,
    client: Client<HttpConnector, Full<Bytes>>,
}

impl Sender {
    pub(super) fn new(world: &Arc<World>, chance: &Arc<Chance>, to: SocketAddr) -> Arc<Sender> {
        Arc::new(Sender {
            world: Arc::clone(world),
            chance: Arc::clone(chance),
            to,
            client: Client::builder(TokioExecutor::new()).build_http(),
        })
    }

    /// Sends one more event, until it is acknowledged and perhaps again.
    pub(super) async fn send_one(self: Arc<Sender>) {
        let event = self.event();
        self.world.count(|traffic| traffic.events += 1);
        let again = self.chance.percent(RESENT);
        if again && self.chance.percent(40) {
            let (twin, event) = (Arc::clone(&self), event.clone());
            tokio::spawn(async move { twin.deliver(&event, true).await });
        }
        while self.deliver(&event, false).await == Told::Nothing {
            tokio::time::sleep(AGAIN).await;
        }
        self.world.count(|traffic| traffic.accepted += 1);
        for (effect, of) in &event.promises {
            self.world.promise(*effect, of);
        }
        if again {
            tokio::time::sleep(self.chance.millis(0, 3000)).await;
            self.deliver(&event, true).await;
        }
    }

    async fn deliver(&self, event: &Event, again: bool) -> Told {
        self.world.count(|traffic| traffic.deliveries += 1);
        let told = match tokio::time::timeout(PATIENCE, self.exchange(event)).await {
            Ok(Ok(told)) => told,
            Ok(Err(_)) | Err(_) => Told::Nothing,
        };
        match told {
            Told::Duplicate => {
                self.world.count(|traffic| traffic.blocked += 1);
                let why = if again {
                    "was sent again"
                } else {
                    "was not acknowledged in time and came again"
                };
                self.world.tell(format!(
                    "{} {why}: the same run, nothing is done twice",
                    event.name
                ));
            }
            Told::Accepted | Told::Nothing => {}
        }
        told
    }

    async fn exchange(&self, event: &Event) -> anyhow::Result<Told> {
        let mut request = Request::post(format!("http://{}{}", self.to, event.path))
            .header("content-type", "application/json");
        if event.path == "/hooks/orders" {
            let signature = BASE64.encode(signed(SHOPIFY, event.body.as_bytes()));
            request = request
                .header("x-shopify-hmac-sha256", signature)
                .header("x-shopify-topic", "orders/paid")
                .header("x-shopify-event-id", &event.name);
        } else {
            let now = unix();
            let hex =
                semel_store::blob::hex(&signed(STRIPE, format!("{now}.{}", event.body).as_bytes()));
            request = request.header("stripe-signature", format!("t={now},v1={hex}"));
        }
        let request = request.body(Full::new(Bytes::from(event.body.clone())))?;
        let answer = self.client.request(request).await?;
        let body = answer.into_body().collect().await?.to_bytes();
        let said = serde_json::from_slice::<Said>(&body);
        Ok(match said.as_ref().map(|said| said.status.as_str()) {
            Ok("accepted") => Told::Accepted,
            Ok("duplicate") => Told::Duplicate,
            _ => Told::Nothing,
        })
    }

    fn event(&self) -> Event {
        match self.chance.number() % 3 {
            0 => self.customer(),
            1 => self.invoice(),
            _ => self.order(),
        }
    }

    fn customer(&self) -> Event {
        let (id, first) = (
            format!("cus_{:014x}", self.chance.number() >> 8),
            self.chance.one_of(&NAMES),
        );
        let email = format!("{}.{}@example.com", first.to_lowercase(), &id[4..]);
        let object = json!({"id": id, "object": "customer", "name": first, "email": email, "balance": 0, "currency": "eur"});
        let promises = vec![(Effect::Contact, id), (Effect::Mail, email)];
        self.stripe("/hooks/customers", "customer.created", &object, promises)
    }

    fn invoice(&self) -> Event {
        let id = format!("in_{:016x}", self.chance.number());
        let customer = format!("cus_{:014x}", self.chance.number() >> 8);
        let object = json!({"id": id, "object": "invoice", "customer": customer, "amount_due": self.chance.between(900, 25_000), "currency": "eur", "status": "open"});
        self.stripe(
            "/hooks/invoices",
            "invoice.finalized",
            &object,
            vec![(Effect::Charge, id)],
        )
    }

    fn stripe(
        &self,
        path: &'static str,
        kind: &str,
        object: &Value,
        promises: Vec<(Effect, String)>,
    ) -> Event {
        let name = format!("evt_{:016x}", self.chance.number());
        let body = json!({"id": name, "object": "event", "api_version": "2026-10-29", "created": unix(), "livemode": false, "type": kind, "data": {"object": object}});
        Event {
            path,
            name,
            body: body.to_string(),
            promises,
        }
    }

    fn order(&self) -> Event {
        let id = self.chance.between(100_000_000, 999_999_999);
        let body = json!({"id": id, "name": format!("#{}", id % 10_000), "total_cents": self.chance.between(1_500, 92_500), "currency": "EUR", "city": self.chance.one_of(&CITIES), "financial_status": "paid"});
        Event {
            path: "/hooks/orders",
            name: format!("order-{id}"),
            body: body.to_string(),
            promises: vec![(Effect::Parcel, id.to_string())],
        }
    }
}

fn signed(secret: &str, text: &[u8]) -> Vec<u8> {
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret.as_bytes()) else {
        return Vec::new();
    };
    mac.update(text);
    mac.finalize().into_bytes().to_vec()
}

fn unix() -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    now.map_or(0, |now| now.as_secs())
}
