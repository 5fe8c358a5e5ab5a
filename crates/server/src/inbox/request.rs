//! A request for leave, as the ledger keeps it: what is asked, what is shown, who may say yes.

use semel_engine::token::Links;
use semel_ledger::Time;
use semel_store::run::RunId;
use semel_store::{Record, Store, StoreError};
use serde::Deserialize;
use serde_json::value::RawValue;

/// How a canonical request begins; nothing else has one member of this name.
const BEGINS: &str = "{\"approve\":{";

/// A request for leave.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Request {
    pub(crate) ask: String,
    pub(crate) show: Box<RawValue>,
    /// Persons, and groups as `group:NAME`.
    pub(crate) by: Vec<String>,
    /// How many of them must say yes.
    pub(crate) needed: u32,
    /// Who started the run.
    pub(crate) maker: Option<String>,
    pub(crate) allow_maker: bool,
    run: String,
    pub(crate) step: String,
    pub(crate) flow: String,
    until: i64,
}

#[derive(Deserialize)]
struct Written {
    approve: Request,
}

impl Request {
    /// The request that an effect stands for, if it is one. It must be its own run's: whoever may
    /// claim any effect cannot make one look like a request of somebody else's.
    pub(crate) async fn of(store: &Store, record: &Record) -> Result<Option<Request>, StoreError> {
        let Some(stored) = &record.input else {
            return Ok(None);
        };
        let text = store.text(stored).await?;
        let text = text.filter(|text| text.starts_with(BEGINS));
        let request = text.and_then(|text| serde_json::from_str::<Written>(&text).ok());
        let request = request.map(|written| written.approve);
        Ok(request.filter(|request| record.by.as_deref() == Some(request.run.as_str())))
    }

    pub(crate) fn run(&self) -> Option<RunId> {
        RunId::parse(&self.run)
    }

    pub(crate) fn until(&self) -> Time {
        Time(self.until)
    }

    /// Why this person may not decide, if so.
    pub(crate) fn bars(&self, person: &str, links: &Links) -> Option<String> {
        if !links.persons(&self.named()).contains(&person) {
            let by = self.by.join(", ");
            return Some(format!("{person:?} is not among those who may: {by}"));
        }
        let maker = self.maker.as_deref() == Some(person) && !self.allow_maker;
        maker.then(|| format!("{person:?} started the run, and maker and checker must differ"))
    }

    /// Everybody who may decide, by name.
    pub(crate) fn persons(&self, links: &Links) -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        for person in links.persons(&self.named()) {
            let new = all.iter().all(|known| known != person);
            if new && self.bars(person, links).is_none() {
                all.push(person.to_owned());
            }
        }
        all
    }

    fn named(&self) -> Vec<&str> {
        self.by.iter().map(String::as_str).collect()
    }
}

#[cfg(test)]
mod tests {
    use semel_engine::token::Groups;

    use super::*;

    fn request(by: &[&str], maker: Option<&str>, allow_maker: bool) -> Request {
        let text = serde_json::json!({"approve": {
            "ask": "?", "show": null, "by": by, "needed": 1, "maker": maker,
            "allow_maker": allow_maker, "run": "run_0", "step": "ok", "flow": "f", "until": 0, "round": 1,
        }});
        serde_json::from_str::<Written>(&text.to_string())
            .unwrap()
            .approve
    }

    #[test]
    fn persons_groups_and_makers_are_told_apart() {
        let groups: Groups = [("finance".to_owned(), vec!["ann".into(), "bob".into()])].into();
        let links = Links::default().with_groups(groups);
        let both = request(&["group:finance", "eve", "group:gone"], Some("bob"), false);
        for (person, barred) in [
            ("ann", None),
            ("eve", None),
            ("bob", Some("maker and checker")),
            ("mallory", Some("group:finance, eve")),
            ("finance", Some("not among")),
            ("group:finance", Some("not among")),
            ("", Some("not among")),
        ] {
            let why = both.bars(person, &links);
            match barred {
                None => assert_eq!(why, None, "{person}"),
                Some(word) => assert!(why.as_deref().unwrap().contains(word), "{why:?}"),
            }
        }
        assert_eq!(both.persons(&links), ["ann", "eve"]);
        let own = request(&["bob"], Some("bob"), true);
        assert_eq!(own.bars("bob", &links), None);
    }
}
