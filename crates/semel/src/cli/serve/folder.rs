//! A folder whose flows are deployed: at the start all of them, later whatever changes.
//!
//! The invariants: a start with a wrong file serves nothing; while it serves, a wrong file leaves
//! what is live as it is; a file that is unchanged is not deployed again, so that a rollback stands.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use semel_act::Secrets;
use semel_server::{App, DeployError, DeployOptions, DeployStatus, Deployed, release_text};

use crate::cli::release::short;
use crate::failure::Failure;
use crate::flows::{self, FlowFile};
use crate::term::{Paint, shown};

/// How often the folder is looked at. Asking the kernel to tell does not work on every file
/// system, and a look at a few hundred names costs next to nothing.
const PAUSE: Duration = Duration::from_millis(500);

/// Who deploys, on record.
const BY: &str = "semel serve --flows";

/// A folder of flow files, where they are deployed to, and the secrets that they can use.
pub(super) struct Folder {
    path: PathBuf,
    app: Arc<App>,
    secrets: Arc<dyn Secrets>,
    /// How its files were when it was first looked at.
    first: Marks,
}

impl Folder {
    pub(super) fn new(path: PathBuf, app: &Arc<App>, secrets: Arc<dyn Secrets>) -> Folder {
        Folder {
            first: marks(&path).unwrap_or_default(),
            app: Arc::clone(app),
            path,
            secrets,
        }
    }

    /// Deploys what is in it; anything wrong stops the start.
    pub(super) async fn deploy(&self) -> anyhow::Result<()> {
        let files = read(&self.path)?;
        files.iter().for_each(tell_found);
        let wrong = files.iter().filter(|file| file.has_errors());
        let wrong: Vec<_> = wrong.map(FlowFile::name).collect();
        if !wrong.is_empty() {
            let wrong = wrong.join(", ");
            let message = format!("nothing is served: there are errors in {wrong}");
            return Err(Failure::failed(message)
                .fix(format!("semel check {}", self.path.display()))
                .into());
        }
        let refused = self.deploy_all(&files.iter().collect::<Vec<_>>()).await;
        if refused > 0 {
            let message = format!("nothing is served: {refused} flow files could not be deployed");
            return Err(Failure::failed(message).into());
        }
        self.tell_strays(&files);
        Ok(())
    }

    /// Looks at the folder for ever and deploys what has changed since the start. A change is taken
    /// up when two looks in a row see the same, so that a file is not read while it is written.
    pub(super) async fn watch(self) {
        let (mut known, mut last) = (self.first.clone(), self.first.clone());
        loop {
            tokio::time::sleep(PAUSE).await;
            let Some(now) = marks(&self.path) else {
                continue;
            };
            if now == last && now != known {
                let differs = |path: &Path| known.get(path) != now.get(path);
                self.take_up(&differs).await;
                known.clone_from(&now);
            }
            last = now;
        }
    }

    async fn take_up(&self, differs: &(dyn Fn(&Path) -> bool + Sync)) {
        let files = match read(&self.path) {
            Ok(files) => files,
            Err(error) => {
                say!("semel: error: {error}; what is live stays as it is");
                return;
            }
        };
        let mut sound = Vec::new();
        for file in files.iter().filter(|file| differs(&file.path)) {
            tell_found(file);
            if file.has_errors() {
                let name = file.name();
                say!("semel: error: {name} is not deployed; what is live stays as it is");
            } else {
                sound.push(file);
            }
        }
        self.deploy_all(&sound).await;
        self.tell_strays(&files);
    }

    /// Deploys files that have no errors; gives how many were refused. A path that one flow gives
    /// up and another takes is free only after the first, so what met a taken path is tried once
    /// more.
    async fn deploy_all(&self, files: &[&FlowFile]) -> usize {
        let mut again = Vec::new();
        let mut refused = 0;
        for file in files {
            match self.deploy_one(file).await {
                Err(DeployError::PathTaken { .. }) => again.push(*file),
                other => refused += usize::from(self.told(file, other)),
            }
        }
        for file in again {
            let outcome = self.deploy_one(file).await;
            refused += usize::from(self.told(file, outcome));
        }
        refused
    }

    async fn deploy_one(&self, file: &FlowFile) -> Result<Deployed, DeployError> {
        semel_server::deploy(&self.app, &file.text, DeployOptions::default(), BY).await
    }

    /// Tells what became of a file; gives whether it was refused.
    fn told(&self, file: &FlowFile, outcome: Result<Deployed, DeployError>) -> bool {
        let name = file.name();
        match outcome {
            Ok(deployed) => {
                let (flow, release) = (shown(&deployed.flow), release_text(deployed.release));
                if deployed.status != DeployStatus::Unchanged {
                    say!("semel: {name}: {flow} is live as {}", short(&release));
                }
                self.tell_secrets(file);
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

    /// Secrets that a flow uses and that are not there.
    fn tell_secrets(&self, file: &FlowFile) {
        let needed = file.flow.as_ref().map(semel_flow::check::secrets);
        for secret in needed.unwrap_or_default() {
            if self.secrets.secret(&secret).is_none() {
                let name = file.name();
                say!(
                    "semel: warning: {name} needs the secret {secret}, which is not there: semel secrets set {secret}, or SEMEL_SECRET_{secret}_FILE with the file that holds it"
                );
            }
        }
    }

    /// Flows that are live although no file of the folder has them.
    fn tell_strays(&self, files: &[FlowFile]) {
        let live = self.app.engine().flows().live();
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

fn is_of(file: &FlowFile, name: &str) -> bool {
    file.flow.as_ref().is_some_and(|flow| flow.name.it == name)
}

/// What tells that a file has changed: when it was written, its length, and which file it is.
type Marks = BTreeMap<PathBuf, (i64, i64, u64, u64)>;

/// The marks of a folder's flow files, if it can be read.
fn marks(folder: &Path) -> Option<Marks> {
    let paths = flows::in_folder(folder).ok()?;
    let mark = |path: PathBuf| {
        let it = std::fs::metadata(&path).ok()?;
        Some((path, (it.mtime(), it.mtime_nsec(), it.size(), it.ino())))
    };
    Some(paths.into_iter().filter_map(mark).collect())
}
