//! A process group, from its leader's start to the end of all of it.

use std::io;
use std::process::ExitStatus;
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::process::Child;
use tokio::runtime::Handle;
use tokio::signal::unix::{Signal as Signals, SignalKind, signal};
use tokio::time::timeout;

/// How long a group may take to end by itself before it is killed.
const GRACE: Duration = Duration::from_secs(5);

/// A group that is ended when it is dropped.
pub(super) struct Group {
    /// There until all of the group has ended.
    leader: Option<Leader>,
}

/// The first process of a group.
struct Leader {
    child: Child,
    pid: Pid,
    /// Every end of a child of ours.
    ends: Signals,
    reaped: bool,
}

impl Group {
    /// The group that a child leads.
    pub(super) fn of(child: Child) -> io::Result<Group> {
        Ok(Group {
            leader: Some(Leader::of(child)?),
        })
    }

    /// Waits for the end of the leader.
    pub(super) async fn exited(&mut self) {
        if let Some(leader) = &mut self.leader {
            leader.exited().await;
        }
    }

    pub(super) fn signal(&self, signal: Signal) {
        if let Some(leader) = &self.leader {
            leader.signal(signal);
        }
    }

    /// Kills what is left of the group, and says how its leader ended.
    pub(super) async fn reap(&mut self) -> io::Result<ExitStatus> {
        let Some(leader) = &mut self.leader else {
            return Err(io::ErrorKind::NotFound.into());
        };
        let status = leader.reap().await;
        self.leader = None;
        status
    }

    /// Ends the group: it is asked to, then killed.
    pub(super) async fn end(&mut self) {
        if let Some(leader) = &mut self.leader {
            leader.end().await;
        }
        self.leader = None;
    }
}

impl Drop for Group {
    /// Nobody waits for it any more: it is asked to end at once, the rest happens aside.
    fn drop(&mut self) {
        if let Some(mut leader) = self.leader.take()
            && let Ok(runtime) = Handle::try_current()
        {
            leader.signal(Signal::TERM);
            runtime.spawn(async move { leader.end().await });
        }
    }
}

impl Leader {
    fn of(child: Child) -> io::Result<Leader> {
        let pid = child.id().and_then(|pid| i32::try_from(pid).ok());
        let Some(pid) = pid.and_then(Pid::from_raw) else {
            return Err(io::ErrorKind::NotFound.into());
        };
        match signal(SignalKind::child()) {
            Ok(ends) => Ok(Leader {
                child,
                pid,
                ends,
                reaped: false,
            }),
            Err(error) => {
                let _ = kill_process_group(pid, Signal::KILL);
                Err(error)
            }
        }
    }

    fn signal(&self, signal: Signal) {
        // There may be nobody left to get it.
        let _ = kill_process_group(self.pid, signal);
    }

    async fn exited(&mut self) {
        // Asking must not reap it: its number would be free for others.
        let asking = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        while let Ok(None) = waitid(WaitId::Pid(self.pid), asking) {
            if self.ends.recv().await.is_none() {
                return;
            }
        }
    }

    async fn end(&mut self) {
        self.signal(Signal::TERM);
        let _ = timeout(GRACE, self.exited()).await;
        let _ = self.reap().await;
    }

    async fn reap(&mut self) -> io::Result<ExitStatus> {
        // Before the leader is reaped: afterwards its number may be somebody else's.
        self.signal(Signal::KILL);
        let status = self.child.wait().await;
        self.reaped = true;
        status
    }
}

impl Drop for Leader {
    fn drop(&mut self) {
        if !self.reaped {
            self.signal(Signal::KILL);
        }
    }
}
