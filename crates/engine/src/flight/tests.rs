use super::*;
use semel_ledger::Outcome;

const BOOT: [u8; 16] = [7; 16];

fn done(result: String) -> Settlement {
    Settlement {
        outcome: Outcome::Done,
        result: Some(result.into()),
        note: None,
    }
}

fn flight(directory: &Path) -> Arc<Flight> {
    Arc::new(Flight::begin(directory, BOOT, 3, 8).expect("a file"))
}

#[test]
fn each_act_is_found_as_far_as_it_came() {
    let dir = tempfile::tempdir().expect("dir");
    let flight = flight(dir.path());
    let long = done(format!("\"{}\"", "x".repeat(9000)));
    let slots: Vec<Slot> = (1..=4)
        .map(|n| flight.slot(Fence([n; 16])).expect("free"))
        .collect();
    slots[1].sent();
    slots[2].sent();
    slots[2].known(&done("{}".to_owned()));
    slots[3].sent();
    slots[3].known(&long);
    let remains = Remains::read(dir.path(), BOOT).expect("readable");
    assert_eq!(remains.node, Some(3));
    assert_eq!(remains.mark(Fence([1; 16])), None);
    assert_eq!(remains.mark(Fence([2; 16])), Some(&Mark::Sent));
    assert_eq!(
        remains.mark(Fence([3; 16])),
        Some(&Mark::Known(done("{}".to_owned())))
    );
    assert_eq!(remains.mark(Fence([4; 16])), Some(&Mark::Known(long)));
}

#[test]
fn another_boot_believes_nothing() {
    let dir = tempfile::tempdir().expect("dir");
    let slot = flight(dir.path()).slot(Fence([1; 16])).expect("free");
    slot.sent();
    let remains = Remains::read(dir.path(), [8; 16]).expect("readable");
    assert_eq!(remains.node, None);
    assert_eq!(remains.mark(Fence([1; 16])), None);
}

#[test]
fn a_torn_second_mark_counts_as_the_first() {
    let dir = tempfile::tempdir().expect("dir");
    let slot = flight(dir.path()).slot(Fence([1; 16])).expect("free");
    slot.known(&done("\"whole\"".to_owned()));
    let path = dir.path().join(FILE);
    let mut bytes = std::fs::read(&path).expect("file");
    bytes[4096 + 60] ^= 1;
    std::fs::write(&path, bytes).expect("written");
    let remains = Remains::read(dir.path(), BOOT).expect("readable");
    assert_eq!(remains.mark(Fence([1; 16])), Some(&Mark::Sent));
}

#[test]
fn slots_are_used_again_and_never_twice_at_once() {
    let dir = tempfile::tempdir().expect("dir");
    let flight = flight(dir.path());
    let taken: Vec<_> = (0..8).map_while(|n| flight.slot(Fence([n; 16]))).collect();
    assert_eq!(taken.len(), 8);
    assert!(flight.slot(Fence([9; 16])).is_none());
    drop(taken);
    assert!(flight.slot(Fence([9; 16])).is_some());
}
