//! Processes as the ledger names them, and whether one still lives.
//!
//! A process is known by its machine, its number and when it started. The machine's 16 bytes are
//! two halves: which machine (and which process namespace on it), and which boot of it; so a
//! machine that was started anew can tell that its earlier processes are gone.
//!
//! The invariant: [`alive`] says [`Life::Dead`] only if the process cannot act any more. In doubt
//! it says that it cannot know, and the claim's lease decides.

use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;

use anyhow::Context as _;
use rustix::process::{Pid, test_kill_process};
use semel_ledger::Process;

/// The number that the kernel gives the process namespace of the machine itself.
const FIRST_PID_NAMESPACE: u64 = 0xEFFF_FFFC;

/// What can be said about a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Life {
    Alive,
    Dead,
    Unknowable,
}

/// This process.
pub(crate) fn this() -> anyhow::Result<Process> {
    let pid = std::process::id();
    let stat = std::fs::read_to_string("/proc/self/stat").context("cannot read /proc/self/stat")?;
    let (_, started) = state_and_start(&stat).context("/proc/self/stat is not understood")?;
    Ok(Process {
        machine: machine()?,
        pid,
        started,
    })
}

/// Whether a process still lives, as seen from the process `here`.
pub(crate) fn alive(process: &Process, here: &Process) -> Life {
    let same_machine = process.machine[..8] == here.machine[..8];
    let same_boot = process.machine[8..] == here.machine[8..];
    match (same_machine, same_boot) {
        (true, true) => seen(process),
        // The machine was started anew since, and no process survives that.
        (true, false) => Life::Dead,
        (false, _) => Life::Unknowable,
    }
}

fn seen(process: &Process) -> Life {
    match std::fs::read_to_string(format!("/proc/{}/stat", process.pid)) {
        Ok(stat) => match state_and_start(&stat) {
            // A zombie has ended; only its parent has not looked yet.
            Some(('Z' | 'X', _)) => Life::Dead,
            Some((_, started)) if started != process.started => Life::Dead,
            Some(_) => Life::Alive,
            None => Life::Unknowable,
        },
        // Some systems hide the processes of others; the kernel still says whether there is one.
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let pid = i32::try_from(process.pid).ok().and_then(Pid::from_raw);
            match pid.map(test_kill_process) {
                Some(Err(rustix::io::Errno::SRCH)) => Life::Dead,
                _ => Life::Unknowable,
            }
        }
        Err(_) => Life::Unknowable,
    }
}

/// The state and the start (field 22) in `/proc/PID/stat`; the name in it may hold anything.
fn state_and_start(stat: &str) -> Option<(char, u64)> {
    let after_name = stat.get(stat.rfind(')')? + 1..)?;
    let mut fields = after_name.split_ascii_whitespace();
    let state = fields.next()?.chars().next()?;
    let started = fields.nth(18)?.parse().ok()?;
    Some((state, started))
}

fn machine() -> anyhow::Result<[u8; 16]> {
    let boot = std::fs::read("/proc/sys/kernel/random/boot_id")
        .context("cannot read /proc/sys/kernel/random/boot_id")?;
    let namespace = std::fs::metadata("/proc/self/ns/pid").map_or(0, |file| file.ino());
    // The machine's own id counts only outside of containers: images share theirs. Without one the
    // machine is known by its boot alone, and a process of another boot cannot be judged.
    let id = std::fs::read("/etc/machine-id")
        .ok()
        .filter(|id| !id.trim_ascii().is_empty() && namespace == FIRST_PID_NAMESPACE);
    let id = id.unwrap_or_else(|| boot.clone());
    let mut hasher = blake3::Hasher::new();
    hasher.update(id.trim_ascii());
    hasher.update(&namespace.to_le_bytes());
    let mut machine = [0; 16];
    machine[..8].copy_from_slice(&hasher.finalize().as_bytes()[..8]);
    machine[8..].copy_from_slice(&blake3::hash(boot.trim_ascii()).as_bytes()[..8]);
    Ok(machine)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_told_from_a_later_one_of_its_number() {
        let here = this().unwrap();
        assert_eq!(alive(&here, &here), Life::Alive);
        let earlier = Process {
            started: here.started - 1,
            ..here
        };
        assert_eq!(alive(&earlier, &here), Life::Dead);
        let nobody = Process {
            pid: 4_194_305,
            ..here
        };
        assert_eq!(alive(&nobody, &here), Life::Dead);
    }

    #[test]
    fn other_boots_and_machines() {
        let here = this().unwrap();
        let mut rebooted = here;
        rebooted.machine[15] ^= 1;
        assert_eq!(alive(&rebooted, &here), Life::Dead);
        let mut elsewhere = rebooted;
        elsewhere.machine[0] ^= 1;
        assert_eq!(alive(&elsewhere, &here), Life::Unknowable);
        let mut container = here;
        container.machine[0] ^= 1;
        assert_eq!(alive(&container, &here), Life::Unknowable);
    }

    #[test]
    fn a_name_with_brackets_does_not_confuse() {
        let stat = "12 (a) R b) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 777 20";
        assert_eq!(state_and_start(stat), Some(('S', 777)));
    }
}
