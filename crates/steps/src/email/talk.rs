//! The conversation with a mail server, up to the one moment that matters and beyond it.
//!
//! Written here and not left to lettre, because lettre writes the message and its end in one go and
//! gives one kind of error for both: nobody could tell afterwards whether the end had left. It also
//! opens its own sockets, past the rules for where connections may go.
//!
//! The invariant: a server takes a message only when it has read the line with the single dot.
//! Whatever fails before a byte of that line was handed to the kernel left nothing behind;
//! [`Trace::sent`] is called right before it, and after it only a reply says what is known.

use std::io;
use std::time::Duration;

use semel_act::Trace;
use tokio::time::Instant;

use super::abilities::Abilities;
use super::line::{Line, Reply};
use super::message::Finished;
use super::open::{Party, opened};
use crate::outgoing::Unsent;

/// How long a server that hung up while it was spoken to may take to say why, and one that is
/// done with may take to say goodbye.
const PARTING: Duration = Duration::from_secs(5);

/// How a conversation ended that did not end well.
#[derive(Debug)]
pub(super) enum End {
    /// There was no conversation.
    Unreached(Unsent),
    /// The server cannot do what is needed.
    Lacks(String),
    /// The server said no to something.
    No { to: &'static str, reply: Reply },
    /// The server said no in the middle of the message.
    Interrupted { reply: Reply },
    /// The server said no to these.
    Recipients(Vec<(String, Reply)>),
    /// It broke off before the end of the message was said.
    Cut { at: &'static str, source: io::Error },
    /// It broke off after that.
    Lost { source: io::Error },
    /// What was said after that tells nothing about the message.
    Unclear { reply: Reply },
}

/// Hands a message over once.
pub(super) async fn deliver(
    party: &Party<'_>,
    message: &Finished,
    trace: &dyn Trace,
    by: Instant,
) -> Result<Reply, End> {
    let (mut line, abilities) = opened(party, by).await?;
    let offered = offered(&mut line, &abilities, message).await;
    let ended = match offered {
        Ok(()) => ended(&mut line, trace).await,
        Err(end) => Err(end),
    };
    // Only a server that waits for a command can be told goodbye.
    match &ended {
        Ok(_) | Err(End::Lacks(_) | End::No { .. }) => part(line, &["QUIT"]),
        Err(End::Recipients(_)) => part(line, &["RSET", "QUIT"]),
        Err(_) => {}
    }
    ended
}

/// Says the last words without keeping anybody waiting for the answers.
fn part(mut line: Line, words: &'static [&'static str]) {
    line.by = Instant::now() + PARTING;
    tokio::spawn(async move {
        for word in words {
            if line.ask(word).await.is_err() {
                return;
            }
        }
    });
}

/// Everything up to, but not including, the end of the message.
async fn offered(line: &mut Line, abilities: &Abilities, message: &Finished) -> Result<(), End> {
    if message.needs_utf8 && !abilities.utf8 {
        let what = "does not offer SMTPUTF8, which an address with letters outside ASCII before its @ needs";
        return Err(End::Lacks(what.to_owned()));
    }
    let bytes = message.bytes.len();
    if let Some(size) = abilities.size.filter(|size| bytes > *size) {
        return Err(End::Lacks(format!(
            "takes messages of up to {size} bytes, and this one has {bytes}"
        )));
    }
    let size = abilities
        .size
        .map_or(String::new(), |_| format!(" SIZE={bytes}"));
    let utf8 = if message.needs_utf8 {
        " BODY=8BITMIME SMTPUTF8"
    } else {
        ""
    };
    let mail = format!("MAIL FROM:<{}>{size}{utf8}", message.sender);
    good("MAIL", line.ask(&mail).await.map_err(cut("MAIL"))?)?;
    name_recipients(line, &message.recipients).await?;
    let reply = line.ask("DATA").await.map_err(cut("DATA"))?;
    if reply.code != 354 {
        return Err(End::No { to: "DATA", reply });
    }
    match line.send(&stuffed(&message.bytes)).await {
        Ok(()) => Ok(()),
        Err(source) => Err(broke_off(line, source).await),
    }
}

/// All of them or none: who is left out would never hear of it.
async fn name_recipients(line: &mut Line, recipients: &[String]) -> Result<(), End> {
    let mut refused = Vec::new();
    for recipient in recipients {
        let reply = line.ask(&format!("RCPT TO:<{recipient}>")).await;
        let reply = reply.map_err(cut("RCPT"))?;
        if reply.code == 421 {
            return Err(End::No { to: "RCPT", reply });
        }
        if !reply.is_good() {
            refused.push((recipient.clone(), reply));
        }
    }
    if refused.is_empty() {
        Ok(())
    } else {
        Err(End::Recipients(refused))
    }
}

/// The end of the message, after which nothing can be taken back.
async fn ended(line: &mut Line, trace: &dyn Trace) -> Result<Reply, End> {
    // A server that has something to say now has not waited for the end: it will not take it.
    if line.has_rest() || line.stream.has_news() {
        let early = io::ErrorKind::ConnectionAborted.into();
        return Err(broke_off(line, early).await);
    }
    let meter = line.stream.meter();
    let before = meter.written();
    trace.sent();
    let sent = line.send(b".\r\n").await;
    let reply = match line.reply().await {
        Ok(reply) => reply,
        Err(source) => {
            let source = sent.err().unwrap_or(source);
            // The line is not written to any more: what did not leave never will.
            return Err(if meter.written() == before {
                cut("the end of the message")(source)
            } else {
                End::Lost { source }
            });
        }
    };
    match reply.code {
        200..300 => Ok(reply),
        // That the server goes away is news about the server, not about the message.
        421 => Err(End::Unclear { reply }),
        400..600 => Err(End::No {
            to: "the message",
            reply,
        }),
        _ => Err(End::Unclear { reply }),
    }
}

/// Why a server hung up in the middle of a message, if it said so.
async fn broke_off(line: &mut Line, source: io::Error) -> End {
    line.by = line.by.min(Instant::now() + PARTING);
    match line.reply().await {
        Ok(reply) if reply.code >= 400 => End::Interrupted { reply },
        _ => cut("the message")(source),
    }
}

/// The message as it is sent: a line that begins with a dot gets one more, so that none but the last
/// can be the end.
fn stuffed(bytes: &[u8]) -> Vec<u8> {
    let mut sent = Vec::with_capacity(bytes.len() + 64);
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        if line.starts_with(b".") {
            sent.push(b'.');
        }
        sent.extend_from_slice(line);
    }
    sent
}

pub(super) fn good(to: &'static str, reply: Reply) -> Result<Reply, End> {
    if reply.is_good() {
        Ok(reply)
    } else {
        Err(End::No { to, reply })
    }
}

pub(super) fn cut(at: &'static str) -> impl Fn(io::Error) -> End {
    move |source| End::Cut { at, source }
}
