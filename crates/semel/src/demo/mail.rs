//! A mail server that keeps what it gets: enough of SMTP for one sender on this machine.
//!
//! Some mails are taken and the answer is lost, which is where every sender must ask itself whether to
//! send again.

use std::net::SocketAddr;
use std::sync::Arc;

use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};

use super::chance::Chance;
use super::shop::Shop;
use super::world::{Effect, World};

/// Of a hundred answers to a mail so many are lost.
const ANSWERS_LOST: u64 = 2;
/// No line of ours is longer.
const MAX_LINE: usize = 16 * 1024;

/// Takes mails from whoever connects.
#[derive(Clone, Debug)]
pub(super) struct Mailbox {
    pub(super) world: Arc<World>,
    pub(super) chance: Arc<Chance>,
    pub(super) shop: Arc<Shop>,
}

impl Mailbox {
    pub(super) async fn open(self) -> std::io::Result<SocketAddr> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        tokio::spawn(async move {
            loop {
                if let Ok((stream, _)) = listener.accept().await {
                    let mailbox = self.clone();
                    tokio::spawn(async move { mailbox.talk(stream).await });
                }
            }
        });
        Ok(address)
    }

    /// One conversation; whoever hangs up ends it.
    async fn talk(self, stream: TcpStream) -> std::io::Result<()> {
        let mut stream = BufReader::new(stream);
        let (mut to, mut line) = (String::new(), String::new());
        say(&mut stream, "220 mail.example ready").await?;
        while next(&mut stream, &mut line).await? {
            let verb = line.get(..4).unwrap_or_default().to_ascii_uppercase();
            match verb.as_str() {
                "EHLO" | "HELO" => say(&mut stream, "250 mail.example").await?,
                "MAIL" | "RSET" | "NOOP" => say(&mut stream, "250 ok").await?,
                "RCPT" => {
                    to = address(&line).to_owned();
                    say(&mut stream, "250 ok").await?;
                }
                "DATA" => {
                    say(&mut stream, "354 go on").await?;
                    while next(&mut stream, &mut line).await? && line != "." {}
                    if !self.take(&to).await {
                        return Ok(());
                    }
                    say(&mut stream, "250 taken").await?;
                }
                "QUIT" => return say(&mut stream, "221 bye").await,
                _ => say(&mut stream, "502 not here").await?,
            }
        }
        Ok(())
    }

    /// The mail is in the mailbox; false if nobody is told.
    async fn take(&self, to: &str) -> bool {
        tokio::time::sleep(self.chance.millis(5, 60)).await;
        self.world.happened(Effect::Mail, to);
        let lost = self.shop.loses(ANSWERS_LOST);
        if lost {
            self.world.count(|traffic| traffic.answers_lost += 1);
            self.world
                .tell(format!("the mail to {to} arrived, and the answer was lost: Semel asks a person instead of sending again"));
        }
        !lost
    }
}

fn address(line: &str) -> &str {
    let inside = line
        .split_once('<')
        .and_then(|(_, rest)| rest.split_once('>'));
    inside.map_or("", |(address, _)| address)
}

async fn say(stream: &mut BufReader<TcpStream>, line: &str) -> std::io::Result<()> {
    stream.write_all(format!("{line}\r\n").as_bytes()).await?;
    stream.flush().await
}

/// Reads a line without its end; false when there is none.
async fn next(stream: &mut BufReader<TcpStream>, line: &mut String) -> std::io::Result<bool> {
    line.clear();
    let mut read = 0;
    loop {
        let part = stream.fill_buf().await?;
        if part.is_empty() || read > MAX_LINE {
            return Ok(false);
        }
        let (end, length) = match part.iter().position(|byte| *byte == b'\n') {
            Some(at) => (true, at + 1),
            None => (false, part.len()),
        };
        line.push_str(&String::from_utf8_lossy(&part[..length]));
        stream.consume(length);
        read += length;
        if end {
            line.truncate(line.trim_end().len());
            return Ok(true);
        }
    }
}
