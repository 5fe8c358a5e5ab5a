//! A SQLite disk that remembers, loses power and breaks: for tests only.
//!
//! Owns a pass-through VFS over SQLite's own. It records what SQLite does to
//! the files of a directory, derives what a power cut at any moment may leave
//! of them, and makes chosen operations fail or kill the process.
//!
//! Does not own any knowledge of what is stored: tests bring the database and
//! say what must be in it.
//!
//! Invariant: without a fault in the plan, SQLite behaves as it would over its
//! own VFS, except that it maps no file into memory.
//!
//! ```
//! use rusqlite::{Connection, OpenFlags};
//! use semel_faults::{Disk, Survival};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let dir = tempfile::tempdir()?;
//! let disk = Disk::register("doc-example", dir.path())?;
//! let path = dir.path().join("a.db");
//! let db = Connection::open_with_flags_and_vfs(path, OpenFlags::default(), "doc-example")?;
//! db.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")?;
//! db.execute_batch("CREATE TABLE t (n INTEGER); INSERT INTO t VALUES (7)")?;
//! let acknowledged = disk.position();
//!
//! let after = tempfile::tempdir()?;
//! disk.image(acknowledged, Survival::Nothing, 1).write_to(after.path())?;
//! let db = Connection::open(after.path().join("a.db"))?;
//! let n: i64 = db.query_row("SELECT n FROM t", [], |row| row.get(0))?;
//! assert_eq!(n, 7);
//! # Ok(())
//! # }
//! ```

mod disk;
mod fault;
mod file;
mod image;
mod log;
mod survival;
mod vfs;

pub use disk::Disk;
pub use fault::{Counts, Fault, Lasting, Moment, On};
pub use image::Image;
pub use log::{Entry, Inode, Op};
pub use survival::Survival;
pub use vfs::RegisterError;
