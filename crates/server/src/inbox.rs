//! `/v1/inbox…`: everything that waits for a person, in one list.
//!
//! Owns what an item is (an effect in review: a lost answer, or a request for leave), who may decide
//! it, votes, and the answers to whoever comes late. How a decision becomes durable and wakes its run
//! is `crate::decide`, for every way in. Leaves to `semel-engine` what a run makes of it.
//!
//! The invariants: whoever looks changes nothing; a decision speaks only for the attempt, and counts
//! only for the content, that its author saw; of two opposite ones the first stands, and the second
//! is told so.

pub(crate) mod answer;
pub(crate) mod bulk;
pub(crate) mod item;
pub(crate) mod link;
pub(crate) mod list;
pub(crate) mod one;
pub(crate) mod person;
pub(crate) mod refuse;
pub(crate) mod request;
pub(crate) mod show;
pub(crate) mod votes;
