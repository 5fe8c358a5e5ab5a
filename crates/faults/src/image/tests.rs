use super::{Image, Survival};
use crate::log::{Inode, Log, Op};
use std::path::Path;
use std::sync::Arc;

const SYNC: Op = Op::Sync {
    flags: 2,
    directory: false,
};

fn write(offset: u64, bytes: &[u8]) -> Op {
    let bytes = Arc::from(bytes);
    Op::Write { offset, bytes }
}

fn push(log: &mut Log, file: &str, inode: Inode, ops: impl IntoIterator<Item = Op>) {
    for op in ops {
        log.push(Arc::from(Path::new(file)), inode, op);
    }
}

fn image(log: &Log, survival: Survival) -> Image {
    Image::of(log, usize::MAX, survival, 1)
}

/// How many of 64 seeds give a random image of which the question holds.
fn seeds(log: &Log, question: impl Fn(&Image) -> bool) -> usize {
    let images = (0..64).map(|seed| Image::of(log, usize::MAX, Survival::RandomSubset, seed));
    images.filter(question).count()
}

#[test]
fn what_was_synced_is_there_and_the_rest_is_at_risk() {
    let mut log = Log::default();
    let inode = log.create("a".into());
    assert_eq!(image(&log, Survival::Nothing).file("a"), None);
    push(
        &mut log,
        "a",
        inode,
        [write(0, b"one"), SYNC, write(2, b"E two")],
    );
    push(&mut log, "a", inode, [Op::Truncate { size: 5 }]);
    assert_eq!(image(&log, Survival::Nothing).file("a"), Some(&b"one"[..]));
    assert_eq!(
        image(&log, Survival::Everything).file("a"),
        Some(&b"onE t"[..])
    );
    assert!(seeds(&log, |image| image.file("a") == Some(&b"one"[..])) > 0);
    assert!(seeds(&log, |image| image.file("a") == Some(&b"onE two"[..])) > 0);
}

#[test]
fn a_cut_ends_what_happened() {
    let mut log = Log::default();
    let inode = log.create("a".into());
    push(&mut log, "a", inode, [write(0, b"x"), SYNC]);
    let at = |cut| Image::of(&log, cut, Survival::Nothing, 1);
    assert_eq!(at(2).file("a"), None);
    assert_eq!(at(3).file("a"), Some(&b"x"[..]));
}

#[test]
fn sectors_of_one_write_survive_independently() {
    let mut log = Log::default();
    let inode = log.find("a".into(), vec![0; 2048]);
    push(&mut log, "a", inode, [write(0, &[1; 2048])]);
    let has_first_alone = |image: &Image| {
        let content = image.file("a").unwrap_or_default();
        content[..512] == [1; 512] && content[512..1024] == [0; 512]
    };
    assert!(seeds(&log, has_first_alone) > 0);
    let is_uniform_in_sectors = |image: &Image| {
        let mut sectors = image.file("a").unwrap_or_default().chunks(512);
        sectors.all(|sector| sector == [0; 512] || sector == [1; 512])
    };
    assert_eq!(seeds(&log, is_uniform_in_sectors), 64);
}

#[test]
fn a_failed_sync_is_not_made_good_by_a_later_one() {
    let mut log = Log::default();
    let inode = log.find("a".into(), b"........".to_vec());
    let failed = Op::SyncFailed { flags: 2 };
    push(&mut log, "a", inode, [write(0, b"lost"), failed]);
    push(&mut log, "a", inode, [write(4, b"kept"), SYNC]);
    let nothing = image(&log, Survival::Nothing);
    assert_eq!(nothing.file("a"), Some(&b"....kept"[..]));
    let everything = image(&log, Survival::Everything);
    assert_eq!(everything.file("a"), Some(&b"lostkept"[..]));
}

#[test]
fn a_delete_has_a_coin_until_its_directory_is_synced() {
    let mut log = Log::default();
    log.find("a".into(), b"a".to_vec());
    log.delete(Path::new("a"), false);
    assert!(image(&log, Survival::Nothing).file("a").is_some());
    assert!(image(&log, Survival::Everything).file("a").is_none());
    let alive = seeds(&log, |image| image.file("a").is_some());
    assert!((1..64).contains(&alive), "{alive} of 64");

    let wal = log.create("b-wal".into());
    let directory = true;
    push(
        &mut log,
        "b-wal",
        wal,
        [Op::Sync {
            flags: 2,
            directory,
        }],
    );
    assert!(image(&log, Survival::Nothing).file("a").is_none());
}

#[test]
fn a_delete_that_syncs_settles_its_own_directory_only() {
    let mut log = Log::default();
    for name in ["a", "b", "sub/c"] {
        log.find(name.into(), Vec::new());
    }
    log.delete(Path::new("sub/c"), false);
    log.delete(Path::new("a"), false);
    log.delete(Path::new("b"), true);
    let left = image(&log, Survival::Nothing);
    let names: Vec<_> = left.files().map(|(name, _)| name).collect();
    assert_eq!(names, [Path::new("sub/c")]);
}

#[test]
fn a_file_that_is_made_anew_never_mixes_with_the_old_one() {
    let mut log = Log::default();
    log.find("a".into(), b"old content".to_vec());
    log.delete(Path::new("a"), false);
    let anew = log.create("a".into());
    push(&mut log, "a", anew, [write(0, b"new")]);
    let contents: [Option<&[u8]>; 4] = [None, Some(b"old content"), Some(b"new"), Some(b"")];
    for wanted in contents {
        assert!(seeds(&log, |image| image.file("a") == wanted) > 0);
    }
    let is_one_of_these = |image: &Image| contents.contains(&image.file("a"));
    assert_eq!(seeds(&log, is_one_of_these), 64);
}

#[test]
fn an_image_is_not_written_among_other_files() {
    let mut log = Log::default();
    log.find("sub/a".into(), b"a".to_vec());
    let image = image(&log, Survival::Nothing);
    let dir = tempfile::tempdir().expect("a temporary directory");
    let at = dir.path().join("at");
    image.write_to(&at).expect("a new directory is made");
    assert_eq!(std::fs::read(at.join("sub/a")).expect("it is there"), b"a");
    let again = image.write_to(&at).expect_err("something is there");
    assert_eq!(again.kind(), std::io::ErrorKind::DirectoryNotEmpty);
}
