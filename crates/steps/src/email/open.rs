//! The first half of a conversation: until the server knows us and waits for mail.
//!
//! Owns the order of things before a mail: the greeting, TLS, the password. The invariant: where
//! TLS is wanted, nothing but `EHLO` and `STARTTLS` is said before it stands, and nothing that was
//! heard before it counts.

use std::io;
use std::net::IpAddr;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tokio::time::{Instant, timeout_at};

use super::abilities::{Abilities, Auth};
use super::line::{Line, Reply};
use super::settings::{SmtpServer, SmtpTls};
use super::talk::{End, cut, good};
use crate::outgoing::{Connector, Origin, Stream, Unsent, millis};

/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(10);

/// A server, and how to reach it.
pub(super) struct Party<'p> {
    pub(super) connector: &'p Connector,
    pub(super) origin: &'p Origin,
    pub(super) server: &'p SmtpServer,
    /// If the server wants to know who we are.
    pub(super) password: Option<&'p str>,
}

/// A connection over which the server knows us and is ready for mail.
pub(super) async fn opened(party: &Party<'_>, by: Instant) -> Result<(Line, Abilities), End> {
    let mut line = connected(party, by).await?;
    let greeting = line.reply().await.map_err(cut("its greeting"))?;
    good("the connection", greeting)?;
    let mut abilities = hello(&mut line, party.server).await?;
    if party.server.tls == SmtpTls::StartTls {
        if !abilities.starttls {
            return Err(End::Lacks("offers no STARTTLS".to_owned()));
        }
        line = secured(line, party).await?;
        // What was said before could have been said by anybody.
        abilities = hello(&mut line, party.server).await?;
    }
    if let (Some(login), Some(password)) = (&party.server.login, party.password) {
        authenticate(&mut line, &abilities, &login.user, password).await?;
    }
    Ok((line, abilities))
}

async fn connected(party: &Party<'_>, by: Instant) -> Result<Line, End> {
    let begun = Instant::now();
    let soon = by.min(begun + CONNECT);
    match timeout_at(soon, party.connector.connect(party.origin, soon)).await {
        Ok(Ok(stream)) => Ok(Line::new(stream, by)),
        Ok(Err(unsent)) => Err(End::Unreached(unsent)),
        Err(_) => Err(End::Unreached(Unsent::ConnectTimeout {
            host: party.origin.authority(),
            within: millis(soon - begun),
        })),
    }
}

async fn hello(line: &mut Line, server: &SmtpServer) -> Result<Abilities, End> {
    let name = match &server.helo {
        Some(name) => name.clone(),
        None => match line.stream.local_ip().map_err(cut("EHLO"))? {
            IpAddr::V4(ip) => format!("[{ip}]"),
            IpAddr::V6(ip) => format!("[IPv6:{ip}]"),
        },
    };
    let reply = line.ask(&format!("EHLO {name}")).await;
    let reply = good("EHLO", reply.map_err(cut("EHLO"))?)?;
    Ok(Abilities::of(&reply))
}

/// The same conversation under TLS.
async fn secured(mut line: Line, party: &Party<'_>) -> Result<Line, End> {
    let reply = line.ask("STARTTLS").await.map_err(cut("STARTTLS"))?;
    good("STARTTLS", reply)?;
    // Said in the clear, to be taken for said in secret.
    if line.has_rest() {
        return Err(End::Lacks("spoke out of turn before TLS".to_owned()));
    }
    let by = line.by;
    let Stream::Plain(wire) = line.stream else {
        return Ok(line);
    };
    match timeout_at(by, party.connector.secured(party.origin, wire)).await {
        Ok(Ok(stream)) => Ok(Line::new(stream, by)),
        Ok(Err(unsent)) => Err(End::Unreached(unsent)),
        Err(_) => Err(cut("STARTTLS")(io::ErrorKind::TimedOut.into())),
    }
}

async fn authenticate(
    line: &mut Line,
    abilities: &Abilities,
    user: &str,
    password: &str,
) -> Result<(), End> {
    let reply = match abilities.auth {
        Some(Auth::Plain) => {
            let both = STANDARD.encode(format!("\0{user}\0{password}"));
            line.ask(&format!("AUTH PLAIN {both}")).await
        }
        Some(Auth::Login) => {
            let mut reply = line.ask("AUTH LOGIN").await;
            for answer in [user, password] {
                match reply {
                    Ok(Reply { code: 334, .. }) => reply = line.ask(&STANDARD.encode(answer)).await,
                    other => return good("AUTH", other.map_err(cut("AUTH"))?).map(drop),
                }
            }
            reply
        }
        None => {
            let what = "offers neither AUTH PLAIN nor AUTH LOGIN";
            return Err(End::Lacks(what.to_owned()));
        }
    };
    good("AUTH", reply.map_err(cut("AUTH"))?).map(drop)
}
