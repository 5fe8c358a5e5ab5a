//! A folder whose flows are deployed: at the start all of them, later whatever changes.
//!
//! The invariants: a start with a wrong file serves nothing; while it serves, a wrong file leaves
//! what is live as it is; a file that is unchanged is not deployed again, so that a rollback stands.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use semel_server::{App, DeployError, DeployOptions, DeployStatus, release_text};

use crate::cli::release::short;
use crate::failure::Failure;
use crate::flows::{self, FlowFile};
use crate::term::{Paint, shown};

/// How often the folder is looked at. Asking the kernel to tell does not work on every file
/// system, and a look at a few hundred names costs next to nothing.
const PAUSE: Duration = Duration::from_millis(500);

/// Who deploys, on record.
const BY: &str = "semel serve --flows";

/// Deploys what is in the folder; anything wrong stops the start.
pub(super) async fn deploy(app: &App, folder: &Path) -> anyhow::Result<()> {
    let files = read(folder)?;
    let wrong: Vec<_> = files.iter().filter(|file| file.has_errors()).collect();
    for file in &files {
        tell_found(file);
    }
    if !wrong.is_empty() {
        let names: Vec<_> = wrong.iter().map(|file| file.name()).collect();
        let message = format!(
            "nothing is served: there are errors in {}",
            names.join(", ")
        );
        return Err(Failure::failed(message)
            .fix(format!("semel check {}", folder.display()))
            .into());
    }
    let refused = deploy_all(app, &files.iter().collect::<Vec<_>>()).await;
    if refused > 0 {
        let message = format!("nothing is served: {refused} flow files could not be deployed");
        return Err(Failure::failed(message).into());
    }
    tell_strays(app, &files);
    Ok(())
}

fn read(folder: &Path) -> anyhow::Result<Vec<FlowFile>> {
    let paths = flows::in_folder(folder)?;
    if paths.is_empty() {
        let shown = shown(&folder.to_string_lossy()).into_owned();
        say!("semel: warning: there is no flow file (*.yaml, *.yml) in {shown}");
        return Ok(Vec::new());
    }
    flows::read(&paths)
}

fn tell_found(file: &FlowFile) {
    let drawn = file.drawn(Paint::stderr().is_on());
    if !drawn.is_empty() {
        say!("{}", drawn.trim_end());
    }
}

/// Deploys files that have no errors; gives how many were refused. A path that one flow gives up
/// and another takes is free only after the first, so what met a taken path is tried once more.
async fn deploy_all(app: &App, files: &[&FlowFile]) -> usize {
    let mut again = Vec::new();
    let mut refused = 0;
    for file in files {
        match deploy_one(app, file).await {
            Err(DeployError::PathTaken { .. }) => again.push(*file),
            other => refused += usize::from(told(file, other)),
        }
    }
    for file in again {
        let outcome = deploy_one(app, file).await;
        refused += usize::from(told(file, outcome));
    }
    refused
}

type Outcome = Result<semel_server::Deployed, DeployError>;

async fn deploy_one(app: &App, file: &FlowFile) -> Outcome {
    semel_server::deploy(app, &file.text, DeployOptions::default(), BY).await
}

/// Tells what became of a file; gives whether it was refused.
fn told(file: &FlowFile, outcome: Outcome) -> bool {
    let name = file.name();
    match outcome {
        Ok(deployed) if deployed.status == DeployStatus::Unchanged => {
            tracing::info!(flow = deployed.flow, "unchanged");
            false
        }
        Ok(deployed) => {
            let (flow, release) = (shown(&deployed.flow), release_text(deployed.release));
            say!("semel: {name}: {flow} is live as {}", short(&release));
            false
        }
        Err(DeployError::Abandoned { abandoned }) => {
            say!("semel: error: {name}: what is done would be forgotten");
            for lost in abandoned {
                let (scope, keys) = (shown(&lost.scope).into_owned(), lost.keys);
                say!("  {scope}: {keys} done keys: {}", shown(&lost.why));
                say!("    to keep them: {}", shown(&lost.keep));
            }
            say!("  fix: to forget them: semel deploy {name} --abandon-keys");
            true
        }
        Err(error) => {
            let why = crate::failure::chain(&error.into());
            say!("semel: error: {name}: {}", shown(&why));
            true
        }
    }
}

/// Flows that are live although no file of the folder has them.
fn tell_strays(app: &App, files: &[FlowFile]) {
    let live = app.engine().flows().live();
    let mut strays: Vec<&str> = live.flows.keys().map(AsRef::as_ref).collect();
    strays.retain(|name| !files.iter().any(|file| is_of(file, name)));
    strays.sort_unstable();
    for name in strays {
        let name = shown(name);
        say!(
            "semel: warning: {name} is live, but no file of the folder has it; to end it: semel flows retire {name}"
        );
    }
}

fn is_of(file: &FlowFile, name: &str) -> bool {
    file.flow.as_ref().is_some_and(|flow| flow.name.it == name)
}

/// What tells that a file has changed.
type Marks = BTreeMap<PathBuf, (i64, i64, u64, u64)>;

fn marks(folder: &Path) -> Option<Marks> {
    let paths = flows::in_folder(folder).ok()?;
    let mark = |path: PathBuf| {
        let it = std::fs::metadata(&path).ok()?;
        Some((path, (it.mtime(), it.mtime_nsec(), it.size(), it.ino())))
    };
    Some(paths.into_iter().filter_map(mark).collect())
}

/// Looks at the folder for ever and deploys what has changed. A change is taken up when two looks
/// in a row see the same, so that a file is not read while it is being written.
pub(super) async fn watch(app: Arc<App>, folder: PathBuf) {
    let mut known = marks(&folder).unwrap_or_default();
    let mut last = known.clone();
    loop {
        tokio::time::sleep(PAUSE).await;
        let Some(now) = marks(&folder) else { continue };
        if now == last && now != known {
            let changed: Vec<_> = now
                .iter()
                .filter(|(path, mark)| known.get(*path) != Some(*mark))
                .map(|(path, _)| path)
                .collect();
            take_up(&app, &folder, &changed).await;
            known.clone_from(&now);
        }
        last = now;
    }
}

async fn take_up(app: &App, folder: &Path, changed: &[&PathBuf]) {
    let files = match read(folder) {
        Ok(files) => files,
        Err(error) => {
            say!("semel: error: {error}; what is live stays as it is");
            return;
        }
    };
    let touched: Vec<_> = files
        .iter()
        .filter(|file| changed.contains(&&file.path))
        .collect();
    let mut sound = Vec::new();
    for file in touched {
        tell_found(file);
        if file.has_errors() {
            say!(
                "semel: error: {} is not deployed; what is live stays as it is",
                file.name()
            );
        } else {
            sound.push(file);
        }
    }
    deploy_all(app, &sound).await;
    tell_strays(app, &files);
}
