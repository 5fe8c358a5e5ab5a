//! Stands between the store and PostgreSQL and cuts connections at COMMIT when it is told to.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, tcp};
use tokio::sync::mpsc;

/// Where a connection is cut.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cut {
    /// The server commits, and the client never hears of it.
    AfterCommit,
    /// The server never hears of it.
    BeforeCommit,
}

pub(crate) struct Proxy {
    pub(crate) port: u16,
    armed: Arc<AtomicBool>,
    fired: mpsc::UnboundedReceiver<()>,
}

impl Proxy {
    pub(crate) async fn start(server: (String, u16), cut: Cut) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let armed = Arc::new(AtomicBool::new(false));
        let (fire, fired) = mpsc::unbounded_channel();
        let (watch, server) = (Arc::clone(&armed), Arc::new(server));
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let (armed, fire) = (Arc::clone(&watch), fire.clone());
                let server = Arc::clone(&server);
                tokio::spawn(async move {
                    let server = TcpStream::connect((server.0.as_str(), server.1)).await;
                    forward(client, server.unwrap(), cut, &armed, &fire).await;
                });
            }
        });
        Proxy { port, armed, fired }
    }

    /// Cuts whichever connection commits next, and waits until that has happened.
    pub(crate) async fn cut_next(&mut self) {
        self.armed.store(true, Ordering::SeqCst);
        self.fired.recv().await.unwrap();
    }
}

/// Forwards in both directions until one side ends or the connection is cut.
async fn forward(
    client: TcpStream,
    server: TcpStream,
    cut: Cut,
    armed: &AtomicBool,
    fire: &mpsc::UnboundedSender<()>,
) {
    // Messages are passed on one by one; each must not wait for the answer to the one before.
    client.set_nodelay(true).unwrap();
    server.set_nodelay(true).unwrap();
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    let back = tokio::spawn(async move {
        drop(tokio::io::copy(&mut from_server, &mut to_client).await);
        from_server
    });
    let mut first = true;
    while let Some(message) = read_message(&mut from_client, first).await {
        first = false;
        let commit = message.starts_with(b"Q") && message.ends_with(b"COMMIT\0");
        if commit && armed.swap(false, Ordering::SeqCst) {
            // The client's side goes first, so that no answer can slip through.
            back.abort();
            let from_server = back.await;
            assert!(from_server.is_err(), "the way back is closed");
            if matches!(cut, Cut::AfterCommit) {
                to_server.write_all(&message).await.unwrap();
            }
            fire.send(()).unwrap();
            return;
        }
        if to_server.write_all(&message).await.is_err() {
            return;
        }
    }
}

/// One message of the client; the first has no type.
async fn read_message(from: &mut tcp::OwnedReadHalf, first: bool) -> Option<Vec<u8>> {
    let head = if first { 4 } else { 5 };
    let mut message = vec![0; head];
    from.read_exact(&mut message).await.ok()?;
    let length = u32::from_be_bytes(message[head - 4..].try_into().unwrap());
    let body = usize::try_from(length).unwrap() - 4;
    message.resize(head + body, 0);
    from.read_exact(&mut message[head..]).await.ok()?;
    Some(message)
}
