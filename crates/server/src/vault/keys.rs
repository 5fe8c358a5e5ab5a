//! The keys that secrets are sealed with: where they are kept, outside of the database.
//!
//! There may be several: the first seals, all open. They come from the environment, from a file that
//! somebody else looks after, or from our own file in the data directory, which is made on first use
//! and changed by a rotation. The invariants: a file that others can read is not used; our own file
//! is always whole, whenever the power fails.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use semel_store::secret::Sealed;

use super::seal::Key;
use super::{VaultError, strange};

/// Our own file in the data directory.
const FILE: &str = "secrets.key";
/// A file of keys is far shorter.
const MAX_BYTES: u64 = 64 * 1024;

/// Why there are no keys.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// There are none.
    #[error("the key that secrets are sealed with is not here{}", of(path.as_deref()))]
    Missing {
        /// Where it should be.
        path: Option<PathBuf>,
    },
    /// Others can read the file.
    #[error("{path} can be read by others (mode {mode:03o}): chmod 600 {path}")]
    Readable {
        /// The file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// It holds something else.
    #[error(
        "{place} holds no key: write 64 hexadecimal digits, such as openssl rand -hex 32 makes; of several, the first seals"
    )]
    NotAKey {
        /// A variable, or a file.
        place: String,
    },
    /// The file cannot be read or written.
    #[error("{path} cannot be read or written")]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

fn of(path: Option<&Path>) -> String {
    path.map(|path| format!(": there is no {}", path.display()))
        .unwrap_or_default()
}

/// Keys: the first seals, all open.
#[derive(Clone, Debug)]
pub(crate) struct Keys(Vec<Key>);

impl Keys {
    fn read(text: &str, place: &str) -> Result<Keys, KeyError> {
        let keys: Option<Vec<Key>> = text.split_whitespace().map(Key::read).collect();
        let keys = keys.filter(|keys| !keys.is_empty());
        keys.map(Keys).ok_or_else(|| KeyError::NotAKey {
            place: place.to_owned(),
        })
    }

    /// These, with a new one that seals from now on.
    pub(super) fn with_new(old: Option<Keys>) -> Keys {
        let mut keys = vec![Key::made()];
        keys.extend(old.into_iter().flat_map(|old| old.0));
        Keys(keys)
    }

    /// The one that seals, alone.
    pub(super) fn newest_alone(&self) -> Keys {
        Keys(self.0[..1].to_vec())
    }

    /// The one that seals.
    pub(super) fn newest(&self) -> &Key {
        &self.0[0]
    }

    pub(super) fn find(&self, id: [u8; 8]) -> Option<&Key> {
        self.0.iter().find(|key| key.id() == id)
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    fn text(&self) -> String {
        self.0.iter().map(|key| key.text() + "\n").collect()
    }
}

/// Where keys come from.
#[derive(Clone, Debug)]
pub struct KeySource(Kept);

#[derive(Clone, Debug)]
enum Kept {
    Nowhere,
    Given(Keys),
    /// A file that is read and never written.
    Theirs(PathBuf),
    /// A file that is made and changed here.
    Own(PathBuf),
}

impl KeySource {
    /// There are no keys, and none are made: nothing can be sealed.
    #[must_use]
    pub fn none() -> KeySource {
        KeySource(Kept::Nowhere)
    }

    /// The keys that a text holds; `place` is what it is called in messages.
    ///
    /// # Errors
    /// [`KeyError::NotAKey`].
    pub fn given(text: &str, place: &str) -> Result<KeySource, KeyError> {
        Ok(KeySource(Kept::Given(Keys::read(text, place)?)))
    }

    /// A file that somebody else looks after: it is never written.
    #[must_use]
    pub fn file(path: PathBuf) -> KeySource {
        KeySource(Kept::Theirs(path))
    }

    /// The file `secrets.key` of a data directory, made on first use.
    #[must_use]
    pub fn own(data: &Path) -> KeySource {
        KeySource(Kept::Own(data.join(FILE)))
    }

    /// The file of a data directory, but as somebody else's.
    #[must_use]
    pub fn of_another(data: &Path) -> KeySource {
        KeySource(Kept::Theirs(data.join(FILE)))
    }

    /// Where the file of keys is, if there is one.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        match &self.0 {
            Kept::Theirs(path) | Kept::Own(path) => Some(path),
            Kept::Given(_) | Kept::Nowhere => None,
        }
    }

    /// Our own file, if the keys are kept there.
    pub(super) fn own_file(&self) -> Option<&Path> {
        match &self.0 {
            Kept::Own(path) => Some(path),
            _ => None,
        }
    }

    /// The keys as they are now; `None` if there are none yet.
    pub(super) fn read(&self) -> Result<Option<Keys>, KeyError> {
        match &self.0 {
            Kept::Nowhere => Ok(None),
            Kept::Given(keys) => Ok(Some(keys.clone())),
            Kept::Theirs(path) | Kept::Own(path) => load(path),
        }
    }

    /// Looks whether all of these can be opened, and gives how many keys there are.
    ///
    /// # Errors
    /// [`VaultError`] for the first that cannot.
    pub fn check(&self, sealed: &[Sealed]) -> Result<usize, VaultError> {
        let keys = self.read()?;
        for it in sealed {
            self.open(keys.as_ref(), it)?;
        }
        Ok(keys.map_or(0, |keys| keys.len()))
    }

    /// The value of a secret.
    pub(super) fn open(&self, keys: Option<&Keys>, sealed: &Sealed) -> Result<String, VaultError> {
        let keys = keys.ok_or_else(|| self.missing())?;
        let key = keys.find(sealed.key).ok_or_else(|| strange(sealed))?;
        let opened = key.open(&sealed.name, &sealed.bytes);
        opened.ok_or_else(|| VaultError::Changed {
            name: sealed.name.clone(),
        })
    }

    pub(super) fn missing(&self) -> KeyError {
        KeyError::Missing {
            path: self.path().map(Path::to_owned),
        }
    }
}

fn failed(path: &Path) -> impl Fn(std::io::Error) -> KeyError {
    move |source| KeyError::Io {
        path: path.to_owned(),
        source,
    }
}

fn load(path: &Path) -> Result<Option<Keys>, KeyError> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(path)(error)),
    };
    let mode = file.metadata().map_err(failed(path))?.mode() & 0o777;
    if mode & 0o077 != 0 {
        let path = path.to_owned();
        return Err(KeyError::Readable { path, mode });
    }
    let mut text = String::new();
    file.take(MAX_BYTES)
        .read_to_string(&mut text)
        .map_err(failed(path))?;
    Keys::read(&text, &path.display().to_string()).map(Some)
}

/// Makes our own file with a first key; whoever comes second takes the key that is there.
pub(super) fn make(path: &Path) -> Result<Keys, KeyError> {
    let draft = draft(path, &Keys::with_new(None)).map_err(failed(path))?;
    let linked = std::fs::hard_link(&draft, path);
    std::fs::remove_file(&draft).map_err(failed(path))?;
    match linked {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(failed(path)(error)),
        _ => sync_parent(path).map_err(failed(path))?,
    }
    load(path)?.ok_or_else(|| KeyError::Missing {
        path: Some(path.to_owned()),
    })
}

/// Puts other keys into our own file: after a crash it holds the former ones or these.
pub(super) fn replace(path: &Path, keys: &Keys) -> Result<(), KeyError> {
    let replaced = draft(path, keys).and_then(|draft| {
        std::fs::rename(draft, path)?;
        sync_parent(path)
    });
    replaced.map_err(failed(path))
}

/// Writes keys to a file beside, whole and for its owner alone.
fn draft(path: &Path, keys: &Keys) -> std::io::Result<PathBuf> {
    let draft = path.with_extension(format!("key.{}", std::process::id()));
    // What a crash left there may have other permissions.
    match std::fs::remove_file(&draft) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&draft)?;
    file.write_all(keys.text().as_bytes())?;
    file.sync_all()?;
    Ok(draft)
}

fn sync_parent(path: &Path) -> std::io::Result<()> {
    let parent = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    File::open(parent.unwrap_or(Path::new(".")))?.sync_all()
}

#[cfg(test)]
mod tests;
