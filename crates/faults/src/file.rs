//! Owns the methods on open files: it records and judges writes, truncations
//! and syncs, and forwards the rest.
//!
//! Does not own the opening of files (`vfs.rs`), nor the log (`log.rs`).
//!
//! Invariant: every change of a recorded file goes through [`Disk::perform`].
//! This is why no file is mapped into memory, why no file grows in chunks
//! behind our back, and why a device never claims to write batches atomically.
//! Apart from that, a device has the characteristics which the real VFS
//! reports. In particular `SQLITE_IOCAP_POWERSAFE_OVERWRITE` stays as it is,
//! since production runs with it: SQLite then does not pad the WAL to full
//! sectors, and the images keep the promise that the flag makes.

use crate::disk::Disk;
use crate::fault::Kind;
use crate::log::{Inode, Op};
use rusqlite::ffi::{self, sqlite3_file, sqlite3_int64, sqlite3_io_methods};
use std::ffi::{c_int, c_void};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{ptr, slice};

/// Our part of an open file. SQLite allocates it, and the file of the real VFS
/// lies right behind it.
#[repr(C)]
pub(crate) struct ShimFile {
    base: sqlite3_file,
    /// Null if the file is not recorded.
    recorded: *mut Recorded,
}

/// What a recorded file needs to be recorded.
pub(crate) struct Recorded {
    disk: Arc<Disk>,
    file: Arc<Path>,
    inode: Inode,
    /// Whether the next sync takes the directory along.
    syncs_directory: AtomicBool,
}

impl Recorded {
    pub(crate) fn new(disk: Arc<Disk>, file: Arc<Path>, inode: Inode, flags: c_int) -> Self {
        // The condition on which the unix VFS syncs the directory along with
        // the first sync of the file.
        let journals =
            ffi::SQLITE_OPEN_MAIN_JOURNAL | ffi::SQLITE_OPEN_SUPER_JOURNAL | ffi::SQLITE_OPEN_WAL;
        let syncs_directory = flags & ffi::SQLITE_OPEN_CREATE != 0 && flags & journals != 0;
        Self {
            disk,
            file,
            inode,
            syncs_directory: AtomicBool::new(syncs_directory),
        }
    }

    fn perform(
        &self,
        kind: Kind,
        real: impl FnOnce() -> c_int,
        op: impl FnOnce(c_int) -> Option<Op>,
    ) -> c_int {
        self.disk.perform(kind, &self.file, self.inode, real, op)
    }

    fn sync_op(&self, flags: c_int, code: c_int) -> Op {
        if code != ffi::SQLITE_OK {
            return Op::SyncFailed { flags };
        }
        let directory = self.syncs_directory.swap(false, Ordering::Relaxed);
        Op::Sync { flags, directory }
    }
}

impl ShimFile {
    /// The file of the real VFS.
    ///
    /// # Safety
    ///
    /// The file must lie in memory that SQLite allocated for one of our files.
    pub(crate) unsafe fn real(file: *mut Self) -> *mut sqlite3_file {
        // SAFETY: the memory has room for the real file behind ours. Both have
        // the alignment of a pointer at least, and the size of ours is a
        // multiple of it.
        unsafe { file.add(1).cast() }
    }

    /// Makes a file out of what the real VFS made of its part.
    ///
    /// # Safety
    ///
    /// As for [`ShimFile::real`]; besides, the real file must be open if the
    /// code is `SQLITE_OK`, and have methods or null as them otherwise.
    pub(crate) unsafe fn finish_open(
        file: *mut Self,
        code: c_int,
        recorded: Option<Recorded>,
    ) -> c_int {
        let is_open = code == ffi::SQLITE_OK;
        let methods = if is_open {
            &raw const METHODS
        } else {
            ptr::null()
        };
        let base = sqlite3_file { pMethods: methods };
        let recorded = recorded.map(|recorded| Box::into_raw(Box::new(recorded)));
        let recorded = recorded.unwrap_or(ptr::null_mut());
        // SAFETY: the memory is ours to fill, as the caller promises.
        unsafe { file.write(Self { base, recorded }) };
        // A VFS may fail to open a file and still want it closed, which SQLite
        // cannot know of, as it sees no methods of ours.
        // SAFETY: the methods are null or valid, as the caller promises.
        unsafe {
            if !is_open && !(*Self::real(file)).pMethods.is_null() {
                real_close(file.cast());
            }
        }
        code
    }
}

static METHODS: sqlite3_io_methods = sqlite3_io_methods {
    iVersion: 3,
    xClose: Some(close),
    xRead: Some(read),
    xWrite: Some(write),
    xTruncate: Some(truncate),
    xSync: Some(sync),
    xFileSize: Some(file_size),
    xLock: Some(lock),
    xUnlock: Some(unlock),
    xCheckReservedLock: Some(check_reserved_lock),
    xFileControl: Some(file_control),
    xSectorSize: Some(sector_size),
    xDeviceCharacteristics: Some(device_characteristics),
    xShmMap: Some(shm_map),
    xShmLock: Some(shm_lock),
    xShmBarrier: Some(shm_barrier),
    xShmUnmap: Some(shm_unmap),
    xFetch: Some(fetch),
    xUnfetch: Some(unfetch),
};

/// Methods that hand their arguments to the real file. The value at the end is
/// the answer if the real file lacks the method.
macro_rules! forward {
    ($($name:ident = $method:ident($($arg:ident: $type:ty),*) -> $ret:ty, or $absent:expr;)*) => {
        $(unsafe extern "C" fn $name(file: *mut sqlite3_file, $($arg: $type),*) -> $ret {
            // SAFETY: SQLite passes a file that `finish_open` made, hence the
            // real file is open, and arguments that are valid for the same
            // method of the real file.
            unsafe {
                let real = ShimFile::real(file.cast());
                match (*(*real).pMethods).$method {
                    Some(method) => method(real, $($arg),*),
                    None => $absent,
                }
            }
        })*
    };
}

forward! {
    real_close = xClose() -> c_int, or ffi::SQLITE_OK;
    read = xRead(out: *mut c_void, len: c_int, offset: sqlite3_int64)
        -> c_int, or ffi::SQLITE_IOERR_READ;
    real_write = xWrite(bytes: *const c_void, len: c_int, offset: sqlite3_int64)
        -> c_int, or ffi::SQLITE_IOERR_WRITE;
    real_truncate = xTruncate(size: sqlite3_int64) -> c_int, or ffi::SQLITE_IOERR_TRUNCATE;
    real_sync = xSync(flags: c_int) -> c_int, or ffi::SQLITE_IOERR_FSYNC;
    file_size = xFileSize(out: *mut sqlite3_int64) -> c_int, or ffi::SQLITE_IOERR_FSTAT;
    lock = xLock(level: c_int) -> c_int, or ffi::SQLITE_IOERR_LOCK;
    unlock = xUnlock(level: c_int) -> c_int, or ffi::SQLITE_IOERR_UNLOCK;
    check_reserved_lock = xCheckReservedLock(out: *mut c_int)
        -> c_int, or ffi::SQLITE_IOERR_CHECKRESERVEDLOCK;
    real_file_control = xFileControl(op: c_int, arg: *mut c_void)
        -> c_int, or ffi::SQLITE_NOTFOUND;
    sector_size = xSectorSize() -> c_int, or 4096;
    real_device_characteristics = xDeviceCharacteristics() -> c_int, or 0;
    shm_map = xShmMap(region: c_int, size: c_int, extend: c_int, out: *mut *mut c_void)
        -> c_int, or ffi::SQLITE_IOERR_SHMMAP;
    shm_lock = xShmLock(offset: c_int, n: c_int, flags: c_int)
        -> c_int, or ffi::SQLITE_IOERR_SHMLOCK;
    shm_barrier = xShmBarrier() -> (), or ();
    shm_unmap = xShmUnmap(delete: c_int) -> c_int, or ffi::SQLITE_OK;
    unfetch = xUnfetch(offset: sqlite3_int64, memory: *mut c_void) -> c_int, or ffi::SQLITE_OK;
}

/// What is needed to record the file, unless it is not recorded.
///
/// # Safety
///
/// The file must be one that [`ShimFile::finish_open`] made and that is open.
unsafe fn recorded_of<'open>(file: *mut sqlite3_file) -> Option<&'open Recorded> {
    // SAFETY: `finish_open` put null or a box there, which `close` frees.
    unsafe { (*file.cast::<ShimFile>()).recorded.as_ref() }
}

unsafe extern "C" fn close(file: *mut sqlite3_file) -> c_int {
    // SAFETY: SQLite closes a file once and does not use it afterwards, hence
    // the box is freed once.
    unsafe {
        let code = real_close(file);
        let recorded = (*file.cast::<ShimFile>()).recorded;
        if !recorded.is_null() {
            drop(Box::from_raw(recorded));
        }
        (*file).pMethods = ptr::null();
        code
    }
}

unsafe extern "C" fn write(
    file: *mut sqlite3_file,
    bytes: *const c_void,
    len: c_int,
    offset: sqlite3_int64,
) -> c_int {
    // SAFETY: SQLite passes an open file of ours.
    let recorded = unsafe { recorded_of(file) };
    // SAFETY: the arguments are those of SQLite.
    let real = || unsafe { real_write(file, bytes, len, offset) };
    let (Ok(size), Ok(start)) = (usize::try_from(len), u64::try_from(offset)) else {
        return ffi::SQLITE_IOERR_WRITE;
    };
    let Some(recorded) = recorded else {
        return real();
    };
    recorded.perform(Kind::Write, real, |code| {
        // SAFETY: SQLite passes that many bytes, which stay as they are until
        // the callback returns.
        let bytes = unsafe { slice::from_raw_parts(bytes.cast::<u8>(), size) };
        let bytes = Arc::from(bytes);
        let offset = start;
        (code == ffi::SQLITE_OK).then_some(Op::Write { offset, bytes })
    })
}

unsafe extern "C" fn truncate(file: *mut sqlite3_file, size: sqlite3_int64) -> c_int {
    // SAFETY: SQLite passes an open file of ours.
    let recorded = unsafe { recorded_of(file) };
    // SAFETY: the arguments are those of SQLite.
    let real = || unsafe { real_truncate(file, size) };
    let Ok(size) = u64::try_from(size) else {
        return ffi::SQLITE_IOERR_TRUNCATE;
    };
    let Some(recorded) = recorded else {
        return real();
    };
    recorded.perform(Kind::Truncate, real, |code| {
        (code == ffi::SQLITE_OK).then_some(Op::Truncate { size })
    })
}

unsafe extern "C" fn sync(file: *mut sqlite3_file, flags: c_int) -> c_int {
    // SAFETY: SQLite passes an open file of ours.
    let recorded = unsafe { recorded_of(file) };
    // SAFETY: the arguments are those of SQLite.
    let real = || unsafe { real_sync(file, flags) };
    let Some(recorded) = recorded else {
        return real();
    };
    recorded.perform(Kind::Sync, real, |code| Some(recorded.sync_op(flags, code)))
}

unsafe extern "C" fn file_control(file: *mut sqlite3_file, op: c_int, arg: *mut c_void) -> c_int {
    // A file that grows in chunks has a size which no recorded write gave it.
    if op == ffi::SQLITE_FCNTL_CHUNK_SIZE {
        return ffi::SQLITE_NOTFOUND;
    }
    // SAFETY: the arguments are those of SQLite.
    unsafe { real_file_control(file, op, arg) }
}

unsafe extern "C" fn device_characteristics(file: *mut sqlite3_file) -> c_int {
    // SAFETY: the argument is that of SQLite.
    let reported = unsafe { real_device_characteristics(file) };
    reported & !ffi::SQLITE_IOCAP_BATCH_ATOMIC
}

/// Declines to map the file into memory, so that SQLite reads it instead.
unsafe extern "C" fn fetch(
    _file: *mut sqlite3_file,
    _offset: sqlite3_int64,
    _len: c_int,
    out: *mut *mut c_void,
) -> c_int {
    // SAFETY: SQLite passes a place for the answer.
    unsafe { *out = ptr::null_mut() };
    ffi::SQLITE_OK
}
