//! What an error of MySQL or MariaDB says about the effect.

use mysql_async::{DriverError, Error};

use crate::sql::fault::{Fault, FaultKind};

/// A row with the same unique columns is there.
pub(super) const DUPLICATE: u16 = 1062;
/// There is no such table.
pub(super) const NO_TABLE: u16 = 1146;

/// The server is busy: locks, deadlocks, time, connections, memory, disk.
const BUSY: [u16; 12] = [
    1021, 1037, 1038, 1040, 1041, 1114, 1203, 1205, 1213, 1226, 1317, 1969,
];
/// It ended the session: a shutdown, a kill, too long idle.
const GONE: [u16; 8] = [1053, 1077, 1079, 1080, 1152, 1159, 1927, 4031];
/// User, password or database are wrong.
const DENIED: [u16; 5] = [1044, 1045, 1049, 1130, 1698];
/// A transaction that may only read.
const READ_ONLY: u16 = 1792;

/// A fault of ours on its way through the driver's errors.
#[derive(Debug, thiserror::Error)]
#[error("{}", .0.message)]
struct Carried(Fault);

pub(super) fn carried(fault: Fault) -> Error {
    Error::Other(Box::new(Carried(fault)))
}

/// The server's number for it.
pub(super) fn code(error: &Error) -> Option<u16> {
    match error {
        Error::Server(server) => Some(server.code),
        _ => None,
    }
}

/// Of a session that did not come about.
pub(super) fn unreachable(error: &Error) -> Fault {
    let message = format!("cannot connect to MySQL or MariaDB: {}", told(error));
    match code(error) {
        Some(code) if DENIED.contains(&code) => Fault::refused(message),
        _ => Fault::unreachable(message),
    }
}

/// Of anything before COMMIT.
pub(super) fn of(error: &Error) -> Fault {
    let message = told(error);
    match error {
        Error::Server(server) => match server.code {
            code if GONE.contains(&code) => Fault::gone(message),
            code if BUSY.contains(&code) => Fault::new(FaultKind::Busy, message),
            READ_ONLY => Fault::refused(format!("{message}; what writes belongs under `run`")),
            _ => Fault::refused(message),
        },
        Error::Other(other) => match other.downcast_ref::<Carried>() {
            Some(Carried(fault)) => Fault::new(fault.kind, &*fault.message),
            None => Fault::gone(message),
        },
        Error::Driver(
            DriverError::MixedParams
            | DriverError::Params(_)
            | DriverError::StmtParamsMismatch { .. },
        ) => Fault::wrong(message),
        _ => Fault::gone(message),
    }
}

/// Of COMMIT: only a lost race is the server's word that nothing was committed.
pub(super) fn of_commit(error: &Error) -> Fault {
    match code(error) {
        Some(1205 | 1213) => of(error),
        _ => Fault::gone(told(error)),
    }
}

fn told(error: &Error) -> String {
    match error {
        Error::Server(server) => format!("{} (error {})", server.message, server.code),
        other => other.to_string(),
    }
}
