//! The system's `ssh`, told to trust nobody whom the task or the operator does not name.
//!
//! The invariant: no key and no known host touches a disk or an argument. They stand in files in
//! memory, which only this user can read and which are gone with the session.

use std::fmt::Display;
use std::fs::File;
use std::io::{self, Write as _};
use std::net::IpAddr;
use std::os::fd::AsRawFd as _;
use std::path::PathBuf;

use rustix::fs::{MemfdFlags, Mode, fchmod, memfd_create};

use super::SshSettings;
use super::plan::Plan;
use crate::process::Program;

/// How long until a connection stands.
const CONNECT_SECONDS: u32 = 10;

/// A call of `ssh`.
pub(super) struct Client {
    program: PathBuf,
    arguments: Vec<String>,
    env: Vec<(String, String)>,
    log: Memory,
    /// Read by `ssh` while it runs.
    _files: Vec<Memory>,
}

/// A file in memory.
struct Memory(File);

impl Memory {
    fn new(content: &str) -> io::Result<Memory> {
        let file = memfd_create("semel-ssh", MemfdFlags::CLOEXEC)?;
        // `ssh` takes no key that others may read.
        fchmod(&file, Mode::RUSR | Mode::WUSR)?;
        let mut file = File::from(file);
        file.write_all(content.as_bytes())?;
        Ok(Memory(file))
    }

    /// Where others find it: `ssh` closes whatever it inherits.
    fn path(&self) -> String {
        format!("/proc/{}/fd/{}", std::process::id(), self.0.as_raw_fd())
    }
}

impl Client {
    /// A call to where the task says.
    pub(super) fn new(
        settings: &SshSettings,
        plan: &Plan,
        address: Option<IpAddr>,
    ) -> io::Result<Client> {
        let mut options = Options::default();
        options.whereto(plan, address);
        options.whom_to_trust(settings, plan, address.is_some())?;
        options.who_we_are(settings, plan)?;
        let config = settings.config.as_ref();
        let config = config.map_or_else(|| "none".to_owned(), |path| path.display().to_string());
        let log = Memory::new("")?;
        let mut arguments = vec!["-T".to_owned(), "-F".to_owned(), config];
        arguments.extend(["-E".to_owned(), log.path()]);
        for option in STRICT.map(str::to_owned).into_iter().chain(options.given) {
            arguments.extend(["-o".to_owned(), option]);
        }
        arguments.extend(["--".to_owned(), plan.host.clone()]);
        let agent = settings.agent.iter();
        let agent = agent.map(|path| ("SSH_AUTH_SOCK".to_owned(), path.display().to_string()));
        Ok(Client {
            program: settings.program.clone(),
            arguments,
            env: agent.collect(),
            log,
            _files: options.files,
        })
    }

    /// What to run here to have that run there.
    pub(super) fn program(&self, script: String, limit: usize) -> Program {
        let arguments = self.arguments.iter().cloned().chain([script]);
        Program {
            path: self.program.clone(),
            arguments: arguments.map(Into::into).collect(),
            env: self.env.clone(),
            dir: "/".into(),
            limit,
        }
    }

    /// What `ssh` itself had to say so far.
    pub(super) fn log(&self) -> String {
        let bytes = std::fs::read(self.log.path()).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// What `ssh` is told, and the files in memory that it is told of.
#[derive(Default)]
struct Options {
    given: Vec<String>,
    files: Vec<Memory>,
}

impl Options {
    fn give(&mut self, name: &str, value: impl Display) {
        self.given.push(format!("{name}={value}"));
    }

    fn file(&mut self, content: &str) -> io::Result<String> {
        let file = Memory::new(content)?;
        let path = file.path();
        self.files.push(file);
        Ok(path)
    }

    fn whereto(&mut self, plan: &Plan, address: Option<IpAddr>) {
        self.give("ConnectTimeout", CONNECT_SECONDS);
        self.give("Port", plan.port);
        self.give("User", &plan.user);
        if let Some(address) = address {
            self.give("HostName", address);
        }
    }

    fn whom_to_trust(
        &mut self,
        settings: &SshSettings,
        plan: &Plan,
        is_ours: bool,
    ) -> io::Result<()> {
        // As `ssh` itself would name the host among those it knows.
        let known_as = match plan.port {
            22 => plan.host.to_ascii_lowercase(),
            port => format!("[{}]:{port}", plan.host.to_ascii_lowercase()),
        };
        let known_hosts = match (&plan.host_key, &settings.known_hosts) {
            (Some(key), _) => self.file(&format!("{known_as} {key}\n"))?,
            (None, Some(path)) => path.display().to_string(),
            (None, None) if settings.config.is_some() => {
                // Called by its address, it is still known by its name.
                if is_ours {
                    self.give("HostKeyAlias", known_as);
                }
                return Ok(());
            }
            (None, None) => "/dev/null".to_owned(),
        };
        self.give("HostKeyAlias", known_as);
        self.give("UserKnownHostsFile", format_args!("\"{known_hosts}\""));
        self.give("GlobalKnownHostsFile", "/dev/null");
        self.give("KnownHostsCommand", "none");
        Ok(())
    }

    fn who_we_are(&mut self, settings: &SshSettings, plan: &Plan) -> io::Result<()> {
        if let Some(identity) = &plan.identity {
            let path = self.file(identity)?;
            self.give("IdentityFile", path);
            self.give("IdentitiesOnly", "yes");
            self.give("IdentityAgent", "none");
        } else if settings.config.is_none() {
            // Not the keys that the server's user happens to have.
            self.give("IdentityFile", "none");
        }
        Ok(())
    }
}

/// What no configuration may loosen: what stands on the command line counts first.
const STRICT: [&str; 23] = [
    "BatchMode=yes",
    "StrictHostKeyChecking=yes",
    "CheckHostIP=no",
    "UpdateHostKeys=no",
    "VerifyHostKeyDNS=no",
    "NoHostAuthenticationForLocalhost=no",
    "PasswordAuthentication=no",
    "KbdInteractiveAuthentication=no",
    "ForwardAgent=no",
    "ForwardX11=no",
    "ClearAllForwardings=yes",
    "Tunnel=no",
    "PermitLocalCommand=no",
    "RemoteCommand=none",
    "ForkAfterAuthentication=no",
    "StdinNull=no",
    "SessionType=default",
    "EscapeChar=none",
    "ControlMaster=no",
    "ControlPath=none",
    "ServerAliveInterval=15",
    "ServerAliveCountMax=3",
    // Tells when somebody was let in, which decides what is known.
    "LogLevel=VERBOSE",
];
