//! What a caller may do: scopes, and roles as presets of them.
//!
//! Owns their names, which are the same in the database, the API, the command line and the documents. Leaves to
//! the server which request needs which scope.

/// One thing that a caller may be allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// Look at everything but secrets.
    Read,
    /// Guard, once, values under keys, blobs.
    Guard,
    /// Start runs.
    Trigger,
    /// Cancel, resume, retry, re-run; decide on effects whose answer was lost.
    Operate,
    /// Answer requests for leave.
    Approve,
    /// Flows and secrets.
    Deploy,
    /// People, tokens, the audit log, the keys of secrets.
    Admin,
}

impl Scope {
    /// Every scope. Append only: a set of them is kept as bits.
    pub const ALL: [Scope; 7] = [
        Scope::Read,
        Scope::Guard,
        Scope::Trigger,
        Scope::Operate,
        Scope::Approve,
        Scope::Deploy,
        Scope::Admin,
    ];

    /// As it is written.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Scope::Read => "read",
            Scope::Guard => "guard",
            Scope::Trigger => "trigger",
            Scope::Operate => "operate",
            Scope::Approve => "approve",
            Scope::Deploy => "deploy",
            Scope::Admin => "admin",
        }
    }

    /// What it lets one do, in a few words.
    #[must_use]
    pub fn about(self) -> &'static str {
        match self {
            Scope::Read => "look at everything but the values of secrets",
            Scope::Guard => "claim and settle effects, `once`, values under keys, blobs",
            Scope::Trigger => "start runs",
            Scope::Operate => "cancel, resume, retry and re-run; decide on lost answers; import",
            Scope::Approve => "answer requests for leave",
            Scope::Deploy => "deploy, roll back and retire flows; set and remove secrets",
            Scope::Admin => "people, tokens, the audit log, the keys of secrets",
        }
    }

    /// The scope of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Scope> {
        Scope::ALL.into_iter().find(|scope| scope.name() == name)
    }

    const fn bit(self) -> u16 {
        1 << self as u16
    }
}

/// A set of scopes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scopes(u16);

impl Scopes {
    /// All that there are.
    pub const ALL: Scopes = Scopes::of(&Scope::ALL);

    /// Exactly these.
    #[must_use]
    pub const fn of(scopes: &[Scope]) -> Scopes {
        let (mut bits, mut at) = (0, 0);
        while at < scopes.len() {
            bits |= scopes[at].bit();
            at += 1;
        }
        Scopes(bits)
    }

    /// Whether this one is among them.
    #[must_use]
    pub fn has(self, scope: Scope) -> bool {
        self.0 & scope.bit() != 0
    }

    /// Each of them, in the order of [`Scope::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Scope> {
        Scope::ALL.into_iter().filter(move |scope| self.has(*scope))
    }

    /// As it is kept: `read,guard`.
    #[must_use]
    pub fn text(self) -> String {
        let names: Vec<&str> = self.iter().map(Scope::name).collect();
        names.join(",")
    }

    /// As it was kept. A name that this version does not know allows nothing.
    #[must_use]
    pub fn parse(text: &str) -> Scopes {
        let known: Vec<Scope> = text.split(',').filter_map(Scope::named).collect();
        Scopes::of(&known)
    }
}

/// What a person is there for: a preset of scopes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// Looks.
    Viewer,
    /// Starts and steers runs.
    Operator,
    /// Says yes or no.
    Approver,
    /// Does everything.
    Admin,
}

impl Role {
    /// Every role.
    pub const ALL: [Role; 4] = [Role::Viewer, Role::Operator, Role::Approver, Role::Admin];

    /// As it is written.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Role::Viewer => "viewer",
            Role::Operator => "operator",
            Role::Approver => "approver",
            Role::Admin => "admin",
        }
    }

    /// The role of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Role> {
        Role::ALL.into_iter().find(|role| role.name() == name)
    }

    /// What it allows.
    #[must_use]
    pub fn scopes(self) -> Scopes {
        match self {
            Role::Viewer => Scopes::of(&[Scope::Read]),
            Role::Operator => {
                Scopes::of(&[Scope::Read, Scope::Guard, Scope::Trigger, Scope::Operate])
            }
            Role::Approver => Scopes::of(&[Scope::Read, Scope::Approve]),
            Role::Admin => Scopes::ALL,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_sets_are_read_back() {
        for scope in Scope::ALL {
            assert_eq!(Scope::named(scope.name()), Some(scope));
        }
        for role in Role::ALL {
            assert_eq!(Role::named(role.name()), Some(role));
            assert_eq!(Scopes::parse(&role.scopes().text()), role.scopes());
        }
        let some = Scopes::of(&[Scope::Guard, Scope::Read]);
        assert_eq!(some.text(), "read,guard");
        assert!(!some.has(Scope::Admin));
        assert_eq!(Scopes::parse("fly,guard,,READ").text(), "guard");
        assert_eq!(Scopes::parse(""), Scopes::default());
        assert_eq!(
            Scopes::ALL.text(),
            "read,guard,trigger,operate,approve,deploy,admin"
        );
    }
}
