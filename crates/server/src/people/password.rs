//! Passwords: hashed slowly on purpose, a few at a time.
//!
//! One hash takes 19 MiB and tens of milliseconds of a processor, so only a few are made at once, off the threads that
//! answer requests, and only some more may wait. Who comes when the line is full is told to come back.

use std::sync::{Arc, LazyLock};

use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher as _, PasswordVerifier as _};
use argon2::{Algorithm, Argon2, Params, Version};
use semel_store::store::random_bytes;
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::code::Code;
use crate::problem::Problem;

/// How many are hashed at once.
const AT_ONCE: usize = 2;
/// How many may be hashed or wait for it.
const IN_LINE: usize = 32;

/// Compared with where there is no such person, so that this takes as long.
static NOBODYS: LazyLock<Box<str>> =
    LazyLock::new(|| hash("nobody has this one").unwrap_or_default());

/// Where passwords are hashed.
#[derive(Debug)]
pub(crate) struct Hashers {
    at_once: Arc<Semaphore>,
    line: Semaphore,
}

impl Default for Hashers {
    fn default() -> Hashers {
        Hashers {
            at_once: Arc::new(Semaphore::new(AT_ONCE)),
            line: Semaphore::new(IN_LINE),
        }
    }
}

impl Hashers {
    /// The hash of a new password, with its salt.
    pub(crate) async fn hash(&self, password: String) -> Result<Box<str>, Problem> {
        let hashed = self.apart(move || hash(&password)).await?;
        hashed.ok_or_else(|| Problem::new(Code::Internal, "the password could not be hashed"))
    }

    /// Whether a password is the one of that hash. Without a hash it is not, and that takes as long.
    pub(crate) async fn verify(
        &self,
        hash: Option<Box<str>>,
        password: String,
    ) -> Result<bool, Problem> {
        self.apart(move || {
            let right = verify(hash.as_ref().unwrap_or(&NOBODYS), &password);
            right && hash.is_some()
        })
        .await
    }

    fn place(&self) -> Result<SemaphorePermit<'_>, Problem> {
        self.line.try_acquire().map_err(|_| {
            let detail = "too many are logging in at this moment; nothing was changed";
            Problem::new(Code::Overloaded, detail).retry_after(1)
        })
    }

    async fn apart<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Problem> {
        let failed = || Problem::new(Code::Internal, "the password could not be compared");
        let _place = self.place()?;
        let turn = Arc::clone(&self.at_once).acquire_owned().await;
        let turn = turn.map_err(|_| failed())?;
        // The turn goes with the work: whoever hangs up does not make room for one more at once.
        let done = tokio::task::spawn_blocking(move || {
            let done = work();
            drop(turn);
            done
        });
        done.await.map_err(|_| failed())
    }
}

/// Argon2id with 19 MiB, two passes, one lane.
fn argon2() -> Argon2<'static> {
    let params = Params::new(19 * 1024, 2, 1, None).unwrap_or_default();
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
}

fn hash(password: &str) -> Option<Box<str>> {
    let salt: [u8; 16] = random_bytes();
    let hashed = argon2().hash_password_with_salt(password.as_bytes(), &salt);
    Some(hashed.ok()?.to_string().into())
}

fn verify(hash: &str, password: &str) -> bool {
    let Ok(hash) = PasswordHash::new(hash) else {
        return false;
    };
    argon2().verify_password(password.as_bytes(), &hash).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_password_is_told_from_others() {
        let hashers = Hashers::default();
        let hash = hashers.hash("correct horse".to_owned()).await.unwrap();
        let other = hashers.hash("correct horse".to_owned()).await.unwrap();
        assert!(
            hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"),
            "{hash}"
        );
        assert_ne!(hash, other, "each has its salt");
        for (hash, password, right) in [
            (Some(hash.clone()), "correct horse", true),
            (Some(hash), "Correct horse", false),
            (None, "nobody has this one", false),
            (Some("".into()), "", false),
        ] {
            let verified = hashers.verify(hash, password.to_owned()).await.unwrap();
            assert_eq!(verified, right, "{password}");
        }
        let _all = hashers.line.try_acquire_many(32).unwrap();
        let problem = hashers.hash(String::new()).await.unwrap_err();
        assert_eq!(problem.code, Code::Overloaded);
    }
}
