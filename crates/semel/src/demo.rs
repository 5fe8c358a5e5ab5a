//! `semel demo`: a storm on a small shop, and what the world saw of it.
//!
//! Owns the order of things: a shop that counts, a server in a process of its own, senders that send again, a
//! hand that kills the server, and the verdict at the end. The verdict rests on what the shop counted;
//! Semel is asked only what waits for a person.

mod chance;
mod entrance;
mod mail;
mod node;
mod outcome;
mod place;
mod screen;
mod sender;
mod shop;
mod world;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::time::MissedTickBehavior;

use crate::client::{Access, Call, Client, Session};
use crate::config::{Config, Name};
use chance::Chance;
use entrance::Entrance;
use mail::Mailbox;
use node::Node;
use place::{Directory, furnish};
use screen::{Screen, Shown};
use sender::Sender;
use shop::Shop;
use world::{Effect, World};

pub(crate) use outcome::Outcome;

/// How a demo goes.
#[derive(Debug)]
pub(crate) struct Plan {
    /// Where its data stay; left out, they go with it.
    pub(crate) keep: Option<PathBuf>,
    /// When it ends by itself.
    pub(crate) time: Option<Duration>,
    /// Events in a second.
    pub(crate) rate: u32,
    pub(crate) seed: u64,
    /// Whether the page is opened where there is a browser.
    pub(crate) open: bool,
}

/// Between two pictures.
const FRAME: Duration = Duration::from_millis(200);
/// From the start to the first kill.
const FIRST_KILL: Duration = Duration::from_secs(4);
/// Between two kills, at the least and at the most, in milliseconds.
const KILLS: (u64, u64) = (6_000, 10_000);
/// How long everything that was promised may take when the storm is over.
const CALM: Duration = Duration::from_secs(30);
/// The states of runs that go on by themselves.
const UNDER_WAY: &str = "/v1/runs?state=queued,running,retrying,unknown&limit=1";

/// Shows it.
pub(crate) async fn run(plan: Plan) -> anyhow::Result<Outcome> {
    let directory = Directory::new(plan.keep.as_deref())?;
    let (world, chance) = (Arc::new(World::default()), Arc::new(Chance::new(plan.seed)));
    let shop = Shop::new(&world, &chance);
    let mailbox = Mailbox {
        world: Arc::clone(&world),
        chance: Arc::clone(&chance),
        shop: Arc::clone(&shop),
    };
    let address = shop.open().await?;
    furnish(&directory.path, address, mailbox.open().await?)?;
    let node = Node::start(&directory.path).await?;
    let token = std::fs::read_to_string(directory.token()).context("the server has no token")?;
    let entrance = Entrance::open(node.address, token.trim()).await?;
    let page = entrance.link(address);
    shop.let_in(entrance);
    let mut demo = Demo {
        page,
        url: crate::client::base_url(node.address),
        session: session(&directory, node.address).await?,
        sender: Sender::new(&world, &chance, node.address),
        node,
        world,
        chance,
        shop,
        screen: Screen::new(),
        started: Instant::now(),
        parked: 0,
    };
    if !demo.screen.is_terminal() {
        say!("semel: the page is at {}", demo.page);
    }
    if plan.open {
        open_in_browser(&demo.page);
    }
    demo.storm(&plan).await?;
    let verdict = demo.calm().await;
    let outcome = demo.outcome(verdict);
    demo.node.stop().await?;
    Ok(outcome)
}

/// Everything that takes part.
struct Demo {
    url: String,
    /// The page, with whoever opens it logged in.
    page: String,
    session: Session,
    node: Node,
    world: Arc<World>,
    chance: Arc<Chance>,
    shop: Arc<Shop>,
    sender: Arc<Sender>,
    screen: Screen,
    started: Instant,
    parked: u64,
}

impl Demo {
    /// Sends and kills until somebody ends it, or its time is over.
    async fn storm(&mut self, plan: &Plan) -> anyhow::Result<()> {
        let mut events = tokio::time::interval(Duration::from_secs(1) / plan.rate.max(1));
        events.set_missed_tick_behavior(MissedTickBehavior::Skip);
        let mut frames = tokio::time::interval(FRAME);
        frames.set_missed_tick_behavior(MissedTickBehavior::Skip);
        let mut kill_at = tokio::time::Instant::now() + FIRST_KILL;
        let end = plan.time.map(|time| tokio::time::Instant::now() + time);
        let over = async move {
            match end {
                Some(end) => tokio::time::sleep_until(end).await,
                None => std::future::pending().await,
            }
        };
        tokio::pin!(over);
        let mut looks = 0u64;
        loop {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => return Ok(()),
                () = &mut over => return Ok(()),
                _ = events.tick() => {
                    tokio::spawn(Arc::clone(&self.sender).send_one());
                }
                _ = frames.tick() => {
                    if looks.is_multiple_of(5) {
                        self.look().await;
                    }
                    looks += 1;
                    self.draw("Ctrl-C ends it");
                }
                () = tokio::time::sleep_until(kill_at) => {
                    self.world.count(|traffic| traffic.kills += 1);
                    self.world.tell("kill -9: the server is started again, and asks itself what it may have done".to_owned());
                    self.node.kill_and_start().await?;
                    let pause = self.chance.millis(KILLS.0, KILLS.1);
                    kill_at = tokio::time::Instant::now() + pause;
                }
            }
        }
    }

    /// Lets everything that was promised come, and judges.
    async fn calm(&mut self) -> &'static str {
        self.shop.calm_down();
        let until = Instant::now() + CALM;
        loop {
            self.look().await;
            self.draw("the storm is over");
            let settled = self.world.to_come() <= self.parked && self.is_quiet().await;
            if self.world.twice() > 0 {
                return "twice";
            }
            if settled {
                return "once";
            }
            if Instant::now() > until {
                return "unfinished";
            }
            tokio::select! {
                // Somebody does not want to wait.
                _ = tokio::signal::ctrl_c() => return "unfinished",
                () = tokio::time::sleep(FRAME) => {}
            }
        }
    }

    /// Asks how many wait for a person. A server that is being started anew is asked again later.
    async fn look(&mut self) {
        if let Ok(inbox) = self.ask::<Inbox>("/v1/inbox?limit=1000").await {
            self.parked = inbox.items.len() as u64;
        }
    }

    async fn is_quiet(&self) -> bool {
        let runs = self.ask::<Runs>(UNDER_WAY).await;
        runs.is_ok_and(|runs| runs.runs.is_empty())
    }

    async fn ask<T: serde::de::DeserializeOwned>(&self, path: &str) -> anyhow::Result<T> {
        let asked = self.session.send(Call::get(path));
        let answer = tokio::time::timeout(Duration::from_secs(2), asked).await??;
        answer.read()
    }

    fn draw(&mut self, doing: &str) {
        self.screen.draw(Shown {
            world: &self.world,
            page: &self.page,
            passed: self.started.elapsed(),
            parked: self.parked,
            doing,
        });
    }

    fn outcome(&self, verdict: &'static str) -> Outcome {
        Outcome {
            verdict,
            url: self.url.clone(),
            page: self.page.clone(),
            seconds: self.started.elapsed().as_secs(),
            traffic: self.world.traffic(),
            contacts: self.world.tally(Effect::Contact),
            mails: self.world.tally(Effect::Mail),
            charges: self.world.tally(Effect::Charge),
            parcels: self.world.tally(Effect::Parcel),
            waiting_for_a_person: self.parked,
        }
    }
}

#[derive(Debug, Deserialize)]
struct Inbox {
    items: Vec<Box<RawValue>>,
}

#[derive(Debug, Deserialize)]
struct Runs {
    runs: Vec<Box<RawValue>>,
}

async fn session(directory: &Directory, address: SocketAddr) -> anyhow::Result<Session> {
    let token = directory.token();
    let config = Config::load(vec![
        (Name::Server, "--server", crate::client::base_url(address)),
        (Name::Token, "--token-file", token.display().to_string()),
    ])?;
    Client::new(&config)?.connect(Access::Existing).await
}

/// Shows the page where somebody sits before a screen.
fn open_in_browser(url: &str) {
    let screen = ["DISPLAY", "WAYLAND_DISPLAY"];
    let watched = screen
        .iter()
        .any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()));
    if !watched {
        return;
    }
    let nothing = std::process::Stdio::null;
    // Without a browser the address on the screen must do.
    let _ = std::process::Command::new("xdg-open")
        .arg(url)
        .stdin(nothing())
        .stdout(nothing())
        .stderr(nothing())
        .spawn();
}
