//! What the remote shell is given to run.
//!
//! Every script first greets and waits for our word: a connection that breaks before it has run
//! nothing. Greetings are random and are put together over there, so that neither a login message
//! nor somebody who repeats what he was sent is taken for one.
//!
//! Work that is started once leaves a directory `~/.semel/HASH`, named by the hash of its scope and key:
//!
//! | file | what it is |
//! |---|---|
//! | the directory | made by `mkdir`, which only one of many can do: who made it starts the work |
//! | `work` | the hash of what was started |
//! | `stdin` | its input, whole |
//! | `pid` | its process, and when that began; written before the work begins |
//! | `stdout`, `stderr` | what it writes |
//! | `status` | its exit code, as shells tell it, once it has ended |

use std::fmt::Write as _;

use semel_act::Task;
use semel_ledger::EffectId;

use super::plan::Work;

/// The directory of markers cannot be made.
pub(super) const NO_DIRECTORY: i32 = 70;
/// The input did not arrive or could not be written.
pub(super) const NO_INPUT: i32 = 71;
/// The work cannot be started.
pub(super) const NO_START: i32 = 72;

/// What says that the remote side is ready.
pub(super) struct Greeting {
    line: String,
}

impl Greeting {
    pub(super) fn new() -> Greeting {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).expect("the system has random bytes");
        let mut line = String::with_capacity(32);
        for byte in bytes {
            let _ = write!(line, "{byte:02x}");
        }
        Greeting { line }
    }

    pub(super) fn line(&self) -> &str {
        &self.line
    }

    /// Greets, and goes on only if told to.
    fn script(&self) -> String {
        let (one, other) = self.line.split_at(self.line.len() / 2);
        format!(
            "printf '%s%s\\n' {one} {other} && IFS= read -r semel && [ \"$semel\" = go ] || exit 255\n\
             unset semel\n"
        )
    }
}

/// The script for a task.
pub(super) fn of(work: &Work, greeting: &Greeting, task: &Task, limit: usize) -> String {
    let mut script = greeting.script();
    match work {
        Work::Run { words, .. } => {
            script.push_str(&variables(task));
            script.push_str("exec");
            append(&mut script, words);
        }
        Work::Start {
            words,
            stdin,
            effect,
        } => {
            script.push_str(&variables(task));
            script.push_str("set --");
            append(&mut script, words);
            let text = START
                .replace("@MARKER", &marker(effect))
                .replace("@WORK", &fingerprint(words, stdin))
                .replace("@BYTES", &stdin.len().to_string())
                .replace("@RUNNER", &quoted(RUNNER));
            script.push_str(&text);
        }
        Work::Status { effect } => {
            let most = limit + 1;
            let text = STATUS
                .replace("@MARKER", &marker(effect))
                .replace("@MOST", &most.to_string());
            script.push_str(&text);
        }
    }
    script
}

fn variables(task: &Task) -> String {
    let key = task.key.as_ref().map_or("", |key| key.as_str());
    let attempt = task.attempt;
    let key = quoted(key);
    format!("export SEMEL_KEY={key} SEMEL_ATTEMPT={attempt}\n")
}

fn append(script: &mut String, words: &[String]) {
    for word in words {
        script.push(' ');
        script.push_str(&quoted(word));
    }
    script.push('\n');
}

/// One word to a POSIX shell, whatever is in it.
pub(super) fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// The name of an effect's marker: works of two flows never meet, whatever their keys are.
pub(super) fn marker(effect: &EffectId) -> String {
    format!("{:032x}", u128::from_be_bytes(effect.hash()))
}

/// Tells different works under one key apart.
fn fingerprint(words: &[String], stdin: &[u8]) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in words.iter().map(String::as_bytes).chain([stdin]) {
        hasher.update(&part.len().to_le_bytes());
        hasher.update(part);
    }
    hasher.finalize().to_hex()[..32].to_owned()
}

/// Starts the work in `$@` unless it was started.
const START: &str = r#"umask 077
d="$HOME/.semel/@MARKER"
mkdir -p "$HOME/.semel" || exit 70
if ! mkdir "$d" 2>/dev/null; then
    [ -d "$d" ] || exit 70
    if [ ! -f "$d/pid" ]; then echo starting
    elif [ "$(cat "$d/work")" = @WORK ]; then echo already
    else echo other; fi
    exit 0
fi
cat > "$d/stdin" && [ "$(wc -c < "$d/stdin")" -eq @BYTES ] && echo @WORK > "$d/work" ||
    { rm -rf "$d"; exit 71; }
session=
command -v setsid >/dev/null 2>&1 && session=setsid
ok=$(nohup $session sh -c @RUNNER semel "$d" "$@" </dev/null 2>/dev/null &)
if [ "$ok" = ok ]; then echo started
elif [ -f "$d/pid" ]; then echo starting
else rm -rf "$d"; exit 72; fi
"#;

/// Runs the work and notes its end. Everything that can fail comes before the word that it runs.
const RUNNER: &str = r#"d=$1
shift
exec 3>&1 <"$d/stdin" >"$d/stdout" 2>"$d/stderr" || exit 1
{ echo $$; cat /proc/sys/kernel/random/boot_id; cut -d" " -f22 "/proc/$$/stat"; } 2>/dev/null >"$d/pid.new"
mv "$d/pid.new" "$d/pid" || exit 1
echo ok >&3
exec 3>&-
(exec "$@")
echo $? >"$d/status.new" && mv "$d/status.new" "$d/status"
"#;

/// Says how the work is doing, then what it wrote. What has no exit code is asked for it again
/// after it was seen gone: it may have ended in between.
const STATUS: &str = r#"d="$HOME/.semel/@MARKER"
if [ ! -d "$d" ]; then echo none; exit 0; fi
if [ ! -f "$d/pid" ]; then echo starting; exit 0; fi
p=$(head -n 1 "$d/pid")
now=$({ echo "$p"; cat /proc/sys/kernel/random/boot_id; cut -d" " -f22 "/proc/$p/stat"; } 2>/dev/null)
if [ ! -f "$d/status" ] && [ "$now" = "$(cat "$d/pid")" ] && kill -0 "$p" 2>/dev/null; then echo running
elif [ -f "$d/status" ]; then echo "ended $(cat "$d/status")"
else echo lost; fi
head -c @MOST "$d/stdout"
head -c @MOST "$d/stderr" >&2
exit 0
"#;
