//! Stands between a step and its server, and cuts the wire at a chosen moment.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// When the first connection is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    /// Before that message of the client reaches the server, counted from 1.
    Before(usize),
    /// After it, when the server has answered, and before the answer reaches the client.
    After(usize),
    /// Before a message that ends with this text reaches the server.
    BeforeEnd(&'static str),
    /// The same, when the server has answered.
    AfterEnd(&'static str),
}

pub(crate) struct Proxy {
    /// Where it listens.
    pub(crate) address: String,
    cuts: Arc<AtomicUsize>,
}

impl Proxy {
    /// Cuts the first connection; later ones pass, or are closed at once if `deaf`.
    pub(crate) async fn new(server: &str, cut: Cut, deaf: bool) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        let cuts = Arc::new(AtomicUsize::new(0));
        let (server, counted) = (server.to_owned(), Arc::clone(&cuts));
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let done = counted.load(Ordering::SeqCst) > 0;
                if done && deaf {
                    continue;
                }
                let server = TcpStream::connect(&server).await.expect("the server");
                let cut = (!done).then_some(cut);
                tokio::spawn(pass(client, server, cut, Arc::clone(&counted)));
            }
        });
        Proxy { address, cuts }
    }

    /// Whether the moment came.
    pub(crate) fn has_cut(&self) -> bool {
        self.cuts.load(Ordering::SeqCst) > 0
    }
}

async fn pass(
    mut client: TcpStream,
    mut server: TcpStream,
    cut: Option<Cut>,
    cuts: Arc<AtomicUsize>,
) {
    let (mut asked, mut told) = (vec![0; 65_536], vec![0; 65_536]);
    let mut messages = 0;
    let mut last = false;
    loop {
        tokio::select! {
            read = client.read(&mut asked) => {
                let Ok(read @ 1..) = read else { return };
                messages += 1;
                let message = String::from_utf8_lossy(&asked[..read]);
                let message = message.trim_end_matches('\0');
                let (now, then) = match cut {
                    None => (false, false),
                    Some(Cut::Before(number)) => (number == messages, false),
                    Some(Cut::After(number)) => (false, number == messages),
                    Some(Cut::BeforeEnd(text)) => (message.ends_with(text), false),
                    Some(Cut::AfterEnd(text)) => (false, message.ends_with(text)),
                };
                if now {
                    cuts.fetch_add(1, Ordering::SeqCst);
                    return;
                }
                last = then;
                if server.write_all(&asked[..read]).await.is_err() {
                    return;
                }
            }
            read = server.read(&mut told) => {
                let Ok(read @ 1..) = read else { return };
                if last {
                    cuts.fetch_add(1, Ordering::SeqCst);
                    return;
                }
                if client.write_all(&told[..read]).await.is_err() {
                    return;
                }
            }
        }
    }
}
