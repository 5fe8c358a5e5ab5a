//! A task's fields, read.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use semel_act::{Secrets, Task};
use semel_ledger::{EffectId, Scope};

use crate::command::{FieldError, Read, Reader};
use crate::secrets::Redactor;

const FIELDS: [&str; 12] = [
    "host", "port", "user", "identity", "host_key", "command", "stdin", "output", "expect",
    "detach", "status", "scope",
];
const PORT: u16 = 22;
/// Room for what a script says before it passes on what work wrote.
const FIRST_LINE: usize = 256;
/// The highest exit code that is not `ssh`'s own.
const MOST_CODE: i32 = 254;

/// A task, ready to be sent.
pub(super) struct Plan {
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) user: String,
    /// The private key.
    pub(super) identity: Option<String>,
    /// The only host key that is right.
    pub(super) host_key: Option<String>,
    pub(super) work: Work,
    pub(super) limit: usize,
    pub(super) redactor: Redactor,
}

/// What to do there.
pub(super) enum Work {
    /// Run a command to its end.
    Run {
        words: Vec<String>,
        stdin: Vec<u8>,
        expect: Vec<i32>,
    },
    /// Start a command once under a name.
    Start {
        words: Vec<String>,
        stdin: Vec<u8>,
        effect: EffectId,
    },
    /// Ask how the command under a name is doing.
    Status { effect: EffectId },
}

impl Work {
    /// Our word to go on, and what the command gets to read.
    pub(super) fn input(&self) -> Vec<u8> {
        let mut input = b"go\n".to_vec();
        match self {
            Work::Run { stdin, .. } | Work::Start { stdin, .. } => input.extend_from_slice(stdin),
            Work::Status { .. } => {}
        }
        input
    }

    /// How much to read of each stream, if so much may be kept.
    pub(super) fn read_up_to(&self, limit: usize) -> usize {
        match self {
            Work::Run { .. } => limit,
            Work::Start { .. } | Work::Status { .. } => limit + FIRST_LINE,
        }
    }
}

/// Reads a task.
pub(super) fn read(task: &Task, secrets: &dyn Secrets) -> Read<Plan> {
    let mut reader = Reader::new("ssh", &task.input, &FIELDS, secrets)?;
    let host = reader.some_text("host")?;
    check_name("host", &host, ".-_:")?;
    let user = reader.some_text("user")?;
    check_name("user", &user, ".-_@")?;
    let port = match reader.text("port")? {
        None => PORT,
        Some(text) => text
            .parse()
            .ok()
            .filter(|port| *port > 0)
            .ok_or_else(|| wrong("port", "is not a port; write a number from 1 to 65535"))?,
    };
    let host_key = reader.text("host_key")?;
    let host_key = host_key.as_deref().map(host_key_of).transpose()?;
    Ok(Plan {
        host,
        port,
        user,
        identity: reader.text("identity")?.map(|key| identity_of(&key)),
        host_key,
        work: work(&mut reader, task)?,
        limit: reader.output()?,
        redactor: reader.redactor(),
    })
}

fn work(reader: &mut Reader<'_>, task: &Task) -> Read<Work> {
    if let Some(text) = reader.text("status")? {
        if reader.field("command").is_some() {
            return Err(wrong("status", "asks about a command; leave out `command`"));
        }
        let key = text
            .parse()
            .map_err(|error| wrong("status", &format!("is not the key of a step: {error}")))?;
        let effect = EffectId::new(scope(reader, task)?, key);
        return Ok(Work::Status { effect });
    }
    let words = reader.command()?;
    let stdin = reader.stdin()?;
    if !reader.flag("detach")? {
        let expect = reader.expect(MOST_CODE)?;
        return Ok(Work::Run {
            words,
            stdin,
            expect,
        });
    }
    let (Some(scope), Some(key)) = (task.scope.clone(), task.key.clone()) else {
        return Err(wrong(
            "detach",
            "starts work under the step's key; it has none",
        ));
    };
    let effect = EffectId::new(scope, key);
    Ok(Work::Start {
        words,
        stdin,
        effect,
    })
}

/// Under which scope the work was started that is asked about: as said, or that of the step which asks about itself.
fn scope(reader: &mut Reader<'_>, task: &Task) -> Read<Scope> {
    let Some(text) = reader.text("scope")? else {
        let own = task.scope.clone();
        let missing = "is not said; write the scope that started it: ${{ steps.ID.result.scope }}";
        return own.ok_or_else(|| wrong("scope", missing));
    };
    Scope::new(&text).map_err(|error| wrong("scope", &format!("is not a scope: {error}")))
}

/// Letters, digits and these: `ssh` gives some meaning to most others.
fn check_name(field: &'static str, name: &str, more: &str) -> Read<()> {
    let fits = |c: char| c.is_ascii_alphanumeric() || more.contains(c);
    if name.starts_with('-') || !name.chars().all(fits) {
        let wrong_with =
            format!("has letters that a name cannot have; write letters, digits and {more}");
        return Err(wrong(field, &wrong_with));
    }
    Ok(())
}

/// A host key as `ssh` writes it: its type and base64 that begins with its type.
fn host_key_of(text: &str) -> Read<String> {
    let invalid = || {
        let wanted = "is not a host key; write its type and its base64, such as ssh-ed25519 AAAA…";
        wrong("host_key", wanted)
    };
    let mut words = text.split_ascii_whitespace();
    let (Some(kind), Some(key)) = (words.next(), words.next()) else {
        return Err(invalid());
    };
    let bytes = STANDARD.decode(key).map_err(|_| invalid())?;
    let named = bytes
        .get(4..)
        .is_some_and(|rest| rest.starts_with(kind.as_bytes()));
    let length = bytes.first_chunk::<4>().map(|it| u32::from_be_bytes(*it));
    if !named || length.and_then(|it| usize::try_from(it).ok()) != Some(kind.len()) {
        return Err(invalid());
    }
    Ok(format!("{kind} {key}"))
}

/// `ssh` takes no key without a line break at its end, and secrets lose theirs easily.
fn identity_of(text: &str) -> String {
    format!("{}\n", text.replace("\r\n", "\n").trim_end())
}

fn wrong(field: &str, wrong: &str) -> FieldError {
    FieldError::Wrong {
        field: field.to_owned(),
        wrong: wrong.to_owned(),
    }
}
