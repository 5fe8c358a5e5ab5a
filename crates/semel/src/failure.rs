//! Why a command ends without success, and with which exit code.
//!
//! Owns the exit codes that scripts rely on and the one way an error is told: what is wrong, why,
//! and what to do. Anything that is not a [`Failure`] ends with [`Exit::Failed`].

use std::fmt;

use semel_store::OpenError;

/// How a command ended, the same for every verb.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Exit {
    /// Done.
    Done = 0,
    /// It could not be done.
    Failed = 1,
    /// The command line or a setting is wrong.
    Usage = 2,
    /// A person must decide first.
    NeedsPerson = 3,
    /// The same key stands for another input.
    Conflict = 4,
    /// Somebody else is at it.
    Busy = 5,
}

impl Exit {
    pub(crate) fn code(self) -> u8 {
        self as u8
    }
}

/// An error that knows its exit code and its fix.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    pub(crate) message: String,
    /// What to do about it.
    pub(crate) fix: Option<String>,
    /// The stable code of the server's answer, if it was one.
    pub(crate) code: Option<String>,
}

impl Failure {
    pub(crate) fn new(exit: Exit, message: impl Into<String>) -> Failure {
        Failure {
            exit,
            message: message.into(),
            fix: None,
            code: None,
        }
    }

    /// The command could not do its work.
    pub(crate) fn failed(message: impl Into<String>) -> Failure {
        Failure::new(Exit::Failed, message)
    }

    /// The command line or a setting is wrong.
    pub(crate) fn usage(message: impl Into<String>) -> Failure {
        Failure::new(Exit::Usage, message)
    }

    pub(crate) fn fix(mut self, fix: impl Into<String>) -> Failure {
        self.fix = Some(fix.into());
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

/// Why a store is not opened, with what to do.
pub(crate) fn refused(error: OpenError) -> anyhow::Error {
    let fix = match &error {
        OpenError::InUse { .. } => {
            "stop the other process, or choose another directory with --data"
        }
        OpenError::Newer { .. } => "install the newer semel, or restore a backup made by this one",
        OpenError::NetworkFileSystem { .. } => "choose a local directory with --data",
        OpenError::File { .. } => {
            "check that the directory is yours and writable, or choose another with --data"
        }
        _ => return error.into(),
    };
    let message = match std::error::Error::source(&error) {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    };
    Failure::failed(message).fix(fix).into()
}

/// The exit code that an error ends with.
pub(crate) fn exit_of(error: &anyhow::Error) -> Exit {
    error
        .chain()
        .find_map(|cause| cause.downcast_ref::<Failure>())
        .map_or(Exit::Failed, |failure| failure.exit)
}

/// Tells an error to the person at the terminal and, if asked, to a script.
pub(crate) fn tell(error: &anyhow::Error, json: bool) {
    let failure = error
        .chain()
        .find_map(|cause| cause.downcast_ref::<Failure>());
    let message = chain(error);
    say!("semel: error: {message}");
    let fix = failure.and_then(|failure| failure.fix.as_deref());
    if let Some(fix) = fix {
        say!("  fix: {fix}");
    }
    if json {
        let code = failure.and_then(|failure| failure.code.as_deref());
        let exit = exit_of(error).code();
        let document = serde_json::json!({
            "error": {"message": message, "code": code, "fix": fix, "exit": exit}
        });
        // The exit code tells of the failure even if nobody reads this.
        let _ = crate::term::try_print_line(&document.to_string());
    }
}

/// The error and its causes on one line; a cause that its error already quotes is not told twice.
pub(crate) fn chain(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain() {
        let said = cause.to_string();
        if text.is_empty() {
            text = said;
        } else if !text.contains(&said) {
            text.push_str(": ");
            text.push_str(&said);
        }
    }
    text
}
