//! What can be set, and what each setting is called where.

/// Every setting, in the order in which they are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Name {
    Data,
    Store,
    Server,
    Token,
    Listen,
    PublicUrl,
    Remember,
    Keep,
    Log,
    Flows,
    Runs,
    Drain,
    OutgoingAllow,
    OutgoingProxy,
    OutgoingProxyLogin,
    OutgoingNoProxy,
    ExecAllow,
    SshKnownHosts,
    SshAgent,
    SshConfig,
    TlsCert,
    TlsKey,
}

impl Name {
    pub(crate) const ALL: [Name; 22] = [
        Name::Data,
        Name::Store,
        Name::Server,
        Name::Token,
        Name::Listen,
        Name::PublicUrl,
        Name::Remember,
        Name::Keep,
        Name::Log,
        Name::Flows,
        Name::Runs,
        Name::Drain,
        Name::OutgoingAllow,
        Name::OutgoingProxy,
        Name::OutgoingProxyLogin,
        Name::OutgoingNoProxy,
        Name::ExecAllow,
        Name::SshKnownHosts,
        Name::SshAgent,
        Name::SshConfig,
        Name::TlsCert,
        Name::TlsKey,
    ];

    pub(crate) fn text(self) -> &'static str {
        match self {
            Name::Data => "data",
            Name::Store => "store",
            Name::Server => "server",
            Name::Token => "token",
            Name::Listen => "listen",
            Name::PublicUrl => "public_url",
            Name::Remember => "remember",
            Name::Keep => "keep",
            Name::Log => "log",
            Name::Flows => "flows",
            Name::Runs => "runs",
            Name::Drain => "drain",
            Name::OutgoingAllow => "outgoing.allow",
            Name::OutgoingProxy => "outgoing.proxy",
            Name::OutgoingProxyLogin => "outgoing.proxy_login",
            Name::OutgoingNoProxy => "outgoing.no_proxy",
            Name::ExecAllow => "exec.allow",
            Name::SshKnownHosts => "ssh.known_hosts",
            Name::SshAgent => "ssh.agent",
            Name::SshConfig => "ssh.config",
            Name::TlsCert => "tls.cert",
            Name::TlsKey => "tls.key",
        }
    }

    /// What it is called in a file, with its table before a dot. A token itself never stands in
    /// one, only where it is.
    pub(super) fn in_file(self) -> &'static str {
        match self {
            Name::Token => "token_file",
            other => other.text(),
        }
    }

    pub(super) fn in_environment(self) -> String {
        format!("SEMEL_{}", self.text().replace('.', "_").to_uppercase())
    }

    /// What it is if nobody says; the data directory depends on the machine.
    pub(super) fn default(self) -> Option<&'static str> {
        match self {
            Name::Listen => Some("127.0.0.1:7351"),
            Name::Remember | Name::Keep => Some("30d"),
            Name::Log => Some("info"),
            Name::Runs => Some("1024"),
            Name::Drain => Some("30s"),
            Name::Data
            | Name::Store
            | Name::Server
            | Name::Token
            | Name::Flows
            | Name::PublicUrl
            | Name::OutgoingAllow
            | Name::OutgoingProxy
            | Name::OutgoingProxyLogin
            | Name::OutgoingNoProxy
            | Name::ExecAllow
            | Name::SshKnownHosts
            | Name::SshAgent
            | Name::SshConfig
            | Name::TlsCert
            | Name::TlsKey => None,
        }
    }
}
