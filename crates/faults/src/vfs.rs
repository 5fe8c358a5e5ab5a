//! Owns the VFS table: its registration, the opening and deleting of files,
//! and the forwarding of everything that does not touch a file.
//!
//! Does not own what happens on open files (`file.rs`).
//!
//! Invariant: each callback reaches the real VFS with the real table as its
//! first argument, and a registered table lives as long as the process.

use crate::disk::Disk;
use crate::file::{Recorded, ShimFile};
use rusqlite::ffi::{self, sqlite3_file, sqlite3_int64, sqlite3_syscall_ptr, sqlite3_vfs};
use std::ffi::{CStr, CString, OsStr, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::{io, ptr};

/// Why a disk could not be registered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RegisterError {
    /// The directory or a file in it could not be read.
    #[error("the directory to record cannot be read")]
    Directory(#[from] io::Error),
    /// The name has a NUL in it.
    #[error("the name of a VFS must not hold a NUL")]
    Name(#[from] std::ffi::NulError),
    /// A VFS of this name is there already.
    #[error("a VFS named {0:?} is registered already")]
    Taken(String),
    /// SQLite has no default VFS, or one that is too old to sit on.
    #[error("SQLite has no default VFS of version 3 or later")]
    NoDefault,
    /// SQLite refused the VFS, with this code.
    #[error("SQLite refused to register the VFS, with code {0}")]
    Refused(i32),
}

/// What our table carries for its callbacks.
struct Shim {
    real: *mut sqlite3_vfs,
    disk: Arc<Disk>,
}

pub(crate) fn register(name: &str, disk: Arc<Disk>) -> Result<(), RegisterError> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);

    let c_name = CString::new(name)?;
    // SAFETY: the name is a C string that outlives the call.
    if !unsafe { ffi::sqlite3_vfs_find(c_name.as_ptr()) }.is_null() {
        return Err(RegisterError::Taken(name.to_owned()));
    }
    // SAFETY: a null name asks for the default VFS. What SQLite returns is
    // null or a table that stays registered, since nothing unregisters one.
    let real = unsafe { ffi::sqlite3_vfs_find(ptr::null()) };
    // SAFETY: as above.
    let found = unsafe { real.as_ref() };
    let found = found.filter(|real| real.iVersion >= 3);
    let found = found.ok_or(RegisterError::NoDefault)?;

    let shim = Box::new(Shim { real, disk });
    // The three leaks are the price of handing the table to SQLite for good.
    let table = Box::leak(Box::new(table(found, c_name.into_raw(), Box::leak(shim))));
    // SAFETY: the table, its name and its data are leaked, hence valid for
    // ever, and all its callbacks follow the contract of SQLite.
    match unsafe { ffi::sqlite3_vfs_register(table, 0) } {
        ffi::SQLITE_OK => Ok(()),
        code => Err(RegisterError::Refused(code)),
    }
}

fn table(real: &sqlite3_vfs, name: *const c_char, shim: &'static Shim) -> sqlite3_vfs {
    let own_size = c_int::try_from(size_of::<ShimFile>()).expect("our part of a file is small");
    sqlite3_vfs {
        iVersion: 3,
        szOsFile: own_size + real.szOsFile,
        mxPathname: real.mxPathname,
        pNext: ptr::null_mut(),
        zName: name,
        pAppData: ptr::from_ref(shim).cast_mut().cast(),
        xOpen: Some(open),
        xDelete: Some(delete),
        xAccess: Some(access),
        xFullPathname: Some(full_pathname),
        xDlOpen: Some(dl_open),
        xDlError: Some(dl_error),
        xDlSym: Some(dl_sym),
        xDlClose: Some(dl_close),
        xRandomness: Some(randomness),
        xSleep: Some(sleep),
        xCurrentTime: Some(current_time),
        xGetLastError: Some(get_last_error),
        xCurrentTimeInt64: Some(current_time_int64),
        xSetSystemCall: Some(set_system_call),
        xGetSystemCall: Some(get_system_call),
        xNextSystemCall: Some(next_system_call),
    }
}

/// The data of one of our tables.
///
/// # Safety
///
/// The table must be one that [`register`] made.
unsafe fn shim_of(vfs: *mut sqlite3_vfs) -> &'static Shim {
    // SAFETY: `register` put a leaked `Shim` there, which nothing changes.
    unsafe { &*(*vfs).pAppData.cast::<Shim>() }
}

impl Shim {
    /// The name by which the file is recorded, if it is.
    ///
    /// # Safety
    ///
    /// The name must be null or a C string.
    unsafe fn relative(&self, name: *const c_char) -> Option<PathBuf> {
        if name.is_null() {
            return None;
        }
        // SAFETY: it is a C string, as the caller promises.
        let name = unsafe { CStr::from_ptr(name) };
        self.disk
            .relative(Path::new(OsStr::from_bytes(name.to_bytes())))
    }
}

unsafe extern "C" fn open(
    vfs: *mut sqlite3_vfs,
    name: *const c_char,
    file: *mut sqlite3_file,
    flags: c_int,
    out_flags: *mut c_int,
) -> c_int {
    // SAFETY: SQLite passes the table that the callback came from, a name that
    // is null or a C string, and `szOsFile` bytes for the file: room for a
    // `ShimFile` and for the real file after it.
    unsafe {
        let shim = shim_of(vfs);
        let file = file.cast::<ShimFile>();
        let real_file = ShimFile::real(file);
        (*real_file).pMethods = ptr::null();
        let real_open = || match (*shim.real).xOpen {
            Some(open) => open(shim.real, name, real_file, flags, out_flags),
            None => ffi::SQLITE_CANTOPEN,
        };
        // Temporary files are gone after a power cut by definition.
        let is_temporary = flags & ffi::SQLITE_OPEN_DELETEONCLOSE != 0;
        let relative = shim.relative(name).filter(|_| !is_temporary);
        let Some(relative) = relative else {
            let code = real_open();
            return ShimFile::finish_open(file, code, None);
        };
        match shim.disk.open(relative.clone(), real_open) {
            Ok(inode) => {
                let disk = Arc::clone(&shim.disk);
                let recorded = Recorded::new(disk, relative.into(), inode, flags);
                ShimFile::finish_open(file, ffi::SQLITE_OK, Some(recorded))
            }
            Err(code) => ShimFile::finish_open(file, code, None),
        }
    }
}

unsafe extern "C" fn delete(
    vfs: *mut sqlite3_vfs,
    name: *const c_char,
    sync_directory: c_int,
) -> c_int {
    // SAFETY: SQLite passes the table that the callback came from and a name
    // that is a C string.
    unsafe {
        let shim = shim_of(vfs);
        let real_delete = || match (*shim.real).xDelete {
            Some(delete) => delete(shim.real, name, sync_directory),
            None => ffi::SQLITE_IOERR_DELETE,
        };
        match shim.relative(name) {
            Some(relative) => {
                let directory = sync_directory != 0;
                shim.disk.delete(&relative, directory, real_delete)
            }
            None => real_delete(),
        }
    }
}

/// Callbacks that hand their arguments to the real VFS. The value at the end
/// is the answer if the real VFS lacks the method.
macro_rules! forward {
    ($($name:ident = $method:ident($($arg:ident: $type:ty),*) -> $ret:ty, or $absent:expr;)*) => {
        $(unsafe extern "C" fn $name(vfs: *mut sqlite3_vfs, $($arg: $type),*) -> $ret {
            // SAFETY: SQLite passes the table that the callback came from, and
            // arguments that are valid for the same method of the real VFS.
            unsafe {
                let real = shim_of(vfs).real;
                match (*real).$method {
                    Some(method) => method(real, $($arg),*),
                    None => $absent,
                }
            }
        })*
    };
}

/// What SQLite calls a pointer to a function of a loaded library.
type Symbol = Option<unsafe extern "C" fn(*mut sqlite3_vfs, *mut c_void, *const c_char)>;

forward! {
    access = xAccess(name: *const c_char, flags: c_int, out: *mut c_int)
        -> c_int, or ffi::SQLITE_IOERR_ACCESS;
    full_pathname = xFullPathname(name: *const c_char, len: c_int, out: *mut c_char)
        -> c_int, or ffi::SQLITE_CANTOPEN;
    dl_open = xDlOpen(name: *const c_char) -> *mut c_void, or ptr::null_mut();
    dl_error = xDlError(len: c_int, out: *mut c_char) -> (), or ();
    dl_sym = xDlSym(library: *mut c_void, name: *const c_char) -> Symbol, or None;
    dl_close = xDlClose(library: *mut c_void) -> (), or ();
    randomness = xRandomness(len: c_int, out: *mut c_char) -> c_int, or 0;
    sleep = xSleep(microseconds: c_int) -> c_int, or 0;
    current_time = xCurrentTime(out: *mut f64) -> c_int, or ffi::SQLITE_ERROR;
    get_last_error = xGetLastError(len: c_int, out: *mut c_char) -> c_int, or 0;
    current_time_int64 = xCurrentTimeInt64(out: *mut sqlite3_int64)
        -> c_int, or ffi::SQLITE_ERROR;
    set_system_call = xSetSystemCall(name: *const c_char, call: sqlite3_syscall_ptr)
        -> c_int, or ffi::SQLITE_NOTFOUND;
    get_system_call = xGetSystemCall(name: *const c_char) -> sqlite3_syscall_ptr, or None;
    next_system_call = xNextSystemCall(name: *const c_char) -> *const c_char, or ptr::null();
}
