//! In whose name something is decided.

use crate::app::App;
use crate::auth::Caller;
use crate::decide::who;

/// Somebody who decides.
#[derive(Clone, Debug)]
pub(crate) struct Person {
    /// Who they are: what requests name.
    pub(crate) name: Box<str>,
    /// The same with how they came, for the record.
    pub(crate) by: Box<str>,
}

impl Person {
    /// Whoever is logged in is who they are, and whoever calls with a token is who that names, whatever else they say.
    /// Whoever has the ledger's file open may do everything, and so is believed.
    pub(crate) fn calling(app: &App, caller: &Caller, by: Option<&str>) -> Person {
        let name = match by {
            Some(by) if app.settings.trusted => by.into(),
            _ => (*caller.name).into(),
        };
        Person {
            name,
            by: who(caller, by),
        }
    }

    /// Whoever has the link that was signed for this person.
    pub(crate) fn by_link(name: &str) -> Person {
        Person {
            name: name.into(),
            by: format!("{name} (link)").into(),
        }
    }
}
