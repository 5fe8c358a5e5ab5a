//! What keys of each role are called, and what follows if they change.

use super::super::visit::Role;

impl Role {
    /// What it is called.
    pub(super) fn noun(self) -> &'static str {
        match self {
            Role::Flow | Role::Step | Role::ForEach | Role::Sync => "key",
            Role::Lock => "lock name",
            Role::Per => "`overlap.per`",
            Role::Latest => "`latest.of`",
            Role::Kv => "`kv` key",
        }
    }

    /// What follows if it changes from moment to moment.
    pub(super) fn harm(self) -> &'static str {
        match self {
            Role::Flow => {
                "different at every delivery and retry, so no duplicate would ever be found"
            }
            Role::Step | Role::ForEach => "different in every run, so a re-run would do it again",
            Role::Sync => "different at every fetch, so every item would be new each time",
            Role::Lock => "different in every run, so nobody would ever wait",
            Role::Per => "different for every run, so no two would ever be the same",
            Role::Latest => "different for every event, so no two would ever be compared",
            Role::Kv => "different each time, so nothing would be found again",
        }
    }

    /// Whether a repeat is known by it.
    pub(super) fn is_identity(self) -> bool {
        matches!(self, Role::Flow | Role::Step | Role::ForEach | Role::Sync)
    }

    /// Whether it is needed before there is a run.
    pub(super) fn is_before_run(self) -> bool {
        matches!(self, Role::Flow | Role::Per | Role::Latest)
    }
}
