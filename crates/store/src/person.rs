//! People with accounts, their sessions, and the links with which they choose a password.
//!
//! The store decides in the transaction that writes: a password that was verified must still be the person's when
//! the session begins, an invitation counts once, and a new password or the end of an account ends every session.

use semel_ledger::Time;

use crate::access::Role;

/// Somebody with an account.
#[derive(Clone, PartialEq, Eq)]
pub struct Person {
    /// What they log in with, and what approvals call them.
    pub name: Box<str>,
    /// What they may do.
    pub role: Role,
    /// Their password, hashed with its salt; `None` until they have chosen one.
    pub password: Option<Box<str>>,
    /// When the account was made.
    pub created_at: Time,
    /// When role or password last changed.
    pub changed_at: Time,
}

impl std::fmt::Debug for Person {
    /// Without the hash of the password.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Person")
            .field("name", &self.name)
            .field("role", &self.role)
            .field("password", &self.password.is_some())
            .field("created_at", &self.created_at)
            .field("changed_at", &self.changed_at)
            .finish()
    }
}

/// A browser in which somebody is logged in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// Of what the browser holds.
    pub hash: [u8; 32],
    /// Who.
    pub person: Box<str>,
    /// When they logged in.
    pub created_at: Time,
    /// When it ends unless it is used.
    pub until: Time,
}

/// A link with which somebody chooses a password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invitation {
    /// Of what the link holds.
    pub hash: [u8; 32],
    /// Whose password; `None`: of the first account of all, which is made with it.
    pub person: Option<Box<str>>,
    /// When it ends.
    pub until: Time,
}

/// What can happen to people.
#[derive(Clone, Debug)]
pub enum PersonChange {
    /// A new account. Changes nothing if the name is taken.
    Add {
        /// What they are called.
        name: Box<str>,
        /// What they may do.
        role: Role,
        /// Their password, hashed, if it is known already.
        password: Option<Box<str>>,
    },
    /// Another role. Changes nothing if there is no such person.
    Role {
        /// Whose.
        name: Box<str>,
        /// Which.
        role: Role,
    },
    /// Another password: every session and invitation of theirs ends. Changes nothing if there is no such person.
    Password {
        /// Whose.
        name: Box<str>,
        /// Hashed.
        password: Box<str>,
    },
    /// The account ends, and with it their sessions and invitations. Changes nothing if there is no such person.
    Remove {
        /// Whose.
        name: Box<str>,
    },
    /// A link to choose a password with. Changes nothing if its person is not there; or, without one, if anybody is.
    Invite(Invitation),
    /// The link is followed: the password is set, or the first account made. Changes nothing if the link is not there
    /// or has ended, is for somebody else, or (for the first account) if anybody is there. It counts once.
    Accept {
        /// Of what the link holds.
        hash: [u8; 32],
        /// Whose password, or what the first admin is called.
        name: Box<str>,
        /// Hashed.
        password: Box<str>,
    },
    /// Somebody logs in. Changes nothing if they are gone, or have another password by now.
    LogIn {
        /// The session; it begins now.
        session: Session,
        /// What their password was when it was compared.
        password: Box<str>,
    },
    /// A session is used. Changes nothing if it is not there.
    Extend {
        /// Which.
        hash: [u8; 32],
        /// When it ends now unless it is used.
        until: Time,
    },
    /// A session ends. Changes nothing if it is not there.
    LogOut {
        /// Which.
        hash: [u8; 32],
    },
    /// Forget sessions and invitations that have ended.
    Sweep,
}
