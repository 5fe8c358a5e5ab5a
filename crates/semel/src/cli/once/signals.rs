//! Signals that are meant for the command.

use std::os::unix::fs::OpenOptionsExt as _;

use rustix::process::{Pid, Signal, kill_process};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

/// How often a signal that is ours alone may come before the command has read it.
const QUEUE: usize = 16;

/// The signals that arrived and were not passed on yet.
#[derive(Debug)]
pub(super) struct Signals {
    arrived: mpsc::Receiver<Signal>,
    /// Whoever started us may ignore SIGCHLD, and then the kernel would throw away how the command
    /// ended. To listen for it, even without a use for it, ends that.
    _children: tokio::signal::unix::Signal,
}

impl Signals {
    /// From now on SIGINT, SIGTERM, SIGHUP and SIGQUIT do not end this process.
    pub(super) fn install() -> std::io::Result<Signals> {
        let (sender, arrived) = mpsc::channel(QUEUE);
        for (kind, number) in [
            (SignalKind::interrupt(), Signal::INT),
            (SignalKind::terminate(), Signal::TERM),
            (SignalKind::hangup(), Signal::HUP),
            (SignalKind::quit(), Signal::QUIT),
        ] {
            // `nohup` stays in force for the command too.
            if number == Signal::HUP && is_ignored(number) {
                continue;
            }
            let mut stream = signal(kind)?;
            let sender = sender.clone();
            tokio::spawn(async move {
                while stream.recv().await.is_some() {
                    if sender.send(number).await.is_err() {
                        break;
                    }
                }
            });
        }
        Ok(Signals {
            arrived,
            _children: signal(SignalKind::child())?,
        })
    }

    /// The next signal, while there is no command.
    pub(super) async fn first(&mut self) -> Signal {
        match self.arrived.recv().await {
            Some(signal) => signal,
            None => std::future::pending().await,
        }
    }

    /// A signal that came before there was a command.
    pub(super) fn pending(&mut self) -> Option<Signal> {
        self.arrived.try_recv().ok()
    }

    /// Passes signals on to the command, for as long as it is polled.
    pub(super) async fn pass_on(&mut self, child: Option<u32>) {
        let child = child
            .and_then(|pid| i32::try_from(pid).ok())
            .and_then(Pid::from_raw);
        while let Some(signal) = self.arrived.recv().await {
            if let Some(child) = child
                && !came_from_terminal(signal)
            {
                let _ = kill_process(child, signal);
            }
        }
        std::future::pending::<()>().await;
    }
}

/// The exit code of a process that a signal ended, as shells tell it.
pub(super) fn exit_code(signal: Signal) -> u8 {
    u8::try_from(128 + signal.as_raw()).unwrap_or(255)
}

/// Ctrl-C reaches the whole foreground group: the command has it already, and a second one would
/// tell many programs to give up at once.
fn came_from_terminal(signal: Signal) -> bool {
    if signal != Signal::INT && signal != Signal::QUIT {
        return false;
    }
    let terminal = std::fs::OpenOptions::new()
        .read(true)
        .custom_flags(rustix::fs::OFlags::NOCTTY.bits().cast_signed())
        .open("/dev/tty");
    terminal.is_ok_and(|terminal| {
        rustix::termios::tcgetpgrp(&terminal)
            .is_ok_and(|foreground| foreground == rustix::process::getpgrp())
    })
}

fn is_ignored(signal: Signal) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask & (1 << (signal.as_raw() - 1)) != 0)
}
