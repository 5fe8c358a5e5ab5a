//! `semel top`: the overview in the terminal, as it changes.
//!
//! Owns following the server and drawing again when something came. What a screen looks like is in `draw`,
//! which is pure.

mod draw;

use std::io::{IsTerminal as _, Write as _};
use std::time::Duration;

use clap::Args;
use tokio::time::{Instant, sleep, timeout};

use self::draw::{Overview, Row, Screen, Size};
use super::Context;
use crate::client::{Access, Call, Client, Session, Unreachable};
use crate::term::{Paint, print_line};

/// See at a glance what happens: events, duplicates, runs, destinations, what needs a person
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Top {
    /// Print it once and end; also if the output is no terminal
    #[arg(long)]
    once: bool,
}

const AFTER_HELP: &str = "\
Counts are of the last hour. Ctrl-C ends it. --json prints the document of GET /v1/overview once.

EXAMPLE
  semel top
  semel top --once
  semel top --json | jq .totals";

/// How many runs are kept to be shown.
const RUNS: usize = 50;
/// How often the picture is drawn again although nothing came: times grow old.
const DRAW_EVERY: Duration = Duration::from_secs(1);
/// How often everything is read anew.
const READ_EVERY: Duration = Duration::from_secs(5);
/// How long between two attempts to reach a server.
const PAUSE: Duration = Duration::from_millis(500);
/// Another screen, without a cursor; and back.
const OPEN: &str = "\x1b[?1049h\x1b[?25l";
const CLOSE: &str = "\x1b[?25h\x1b[?1049l";

impl Top {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<u8> {
        let client = Client::new(&context.config)?;
        if context.json {
            let session = client.connect(Access::Existing).await?;
            let overview = session.send(Call::get("/v1/overview")).await?;
            let overview: serde_json::Value = overview.read()?;
            Context::print_json(&overview)?;
            return Ok(0);
        }
        if self.once || !std::io::stdout().is_terminal() {
            let session = client.connect(Access::Existing).await?;
            let screen = read(&session, Screen::default()).await?;
            print_line(&screen.lines(Size::PLAIN, Paint::stdout()).join("\n"));
            return Ok(0);
        }
        // The first answer comes before the screen is taken: what is wrong is said where it is seen.
        let screen = read(&client.connect(Access::Existing).await?, Screen::default()).await?;
        let _taken = Taken::take();
        tokio::select! {
            ended = follow(&client, screen) => ended.map(|()| 0),
            _ = tokio::signal::ctrl_c() => Ok(0),
        }
    }
}

/// The terminal, given back when this is dropped.
struct Taken;

impl Taken {
    fn take() -> Taken {
        write(OPEN);
        Taken
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        write(CLOSE);
    }
}

fn write(text: &str) {
    // A terminal that is gone needs no picture.
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

async fn read(session: &Session, mut screen: Screen) -> anyhow::Result<Screen> {
    #[derive(serde::Deserialize)]
    struct Page {
        runs: Vec<Row>,
    }
    let overview = session.send(Call::get("/v1/overview")).await?;
    screen.overview = overview.read::<Overview>()?;
    let runs = session
        .send(Call::get(format!("/v1/runs?limit={RUNS}")))
        .await?;
    screen.runs = runs.read::<Page>()?.runs;
    screen.trouble = None;
    Ok(screen)
}

/// Follows whichever server is there, until somebody has seen enough.
async fn follow(client: &Client, mut screen: Screen) -> anyhow::Result<()> {
    loop {
        if let Err(error) = listen(client, &mut screen).await {
            let mut chain = error.chain();
            if !chain.any(<dyn std::error::Error>::is::<Unreachable>) {
                return Err(error);
            }
        }
        screen.trouble = Some("the server does not answer; trying again".to_owned());
        show(&screen);
        sleep(PAUSE).await;
    }
}

async fn listen(client: &Client, screen: &mut Screen) -> anyhow::Result<()> {
    let session = client.connect(Access::Existing).await?;
    let mut events = session.follow(Call::get("/v1/live")).await?;
    *screen = read(&session, std::mem::take(screen)).await?;
    let mut fresh = Instant::now();
    loop {
        show(screen);
        let Ok(event) = timeout(DRAW_EVERY, events.next()).await else {
            // Charts move on by themselves.
            if fresh.elapsed() >= READ_EVERY {
                fresh = Instant::now();
                *screen = read(&session, std::mem::take(screen)).await?;
            }
            continue;
        };
        let Some(event) = event? else { return Ok(()) };
        match event.name.as_str() {
            "run" => screen.changed(serde_json::from_str(&event.data)?, RUNS),
            "tally" => screen.overview.tally(serde_json::from_str(&event.data)?),
            "lost" => *screen = read(&session, std::mem::take(screen)).await?,
            _ => {}
        }
    }
}

fn show(screen: &Screen) {
    let size = Size::of_terminal();
    let mut text = String::from("\x1b[H");
    for line in screen.lines(size, Paint::stdout()).iter().take(size.rows) {
        text.push_str(line);
        text.push_str("\x1b[K\r\n");
    }
    // The last line break would scroll.
    text.truncate(text.len() - 2);
    text.push_str("\x1b[J");
    write(&text);
}
