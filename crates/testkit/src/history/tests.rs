//! The checker sees each anomaly, and only where the level forbids it.

use super::*;

fn read(key: u32, list: &[u64]) -> Op {
    Op::Read { key, list: list.to_vec() }
}

fn append(key: u32, element: u64) -> Op {
    Op::Append { key, element }
}

/// Transactions that all overlap.
fn together(all: Vec<(Vec<Op>, Outcome)>) -> Vec<HistoryTxn> {
    let ended = all.len() as u64;
    all.into_iter().enumerate().map(|(n, (ops, outcome))| HistoryTxn { ops, outcome, began: n as u64, ended: ended + n as u64 }).collect()
}

fn committed(all: Vec<Vec<Op>>) -> Vec<HistoryTxn> {
    together(all.into_iter().map(|ops| (ops, Outcome::Committed)).collect())
}

fn last(lists: &[(u32, &[u64])]) -> BTreeMap<u32, Vec<u64>> {
    lists.iter().map(|(key, list)| (*key, list.to_vec())).collect()
}

/// What each level says: READ COMMITTED, REPEATABLE READ, SERIALIZABLE.
fn kinds(history: &[HistoryTxn], last: &BTreeMap<u32, Vec<u64>>) -> [Option<&'static str>; 3] {
    [Level::ReadCommitted, Level::RepeatableRead, Level::Serializable]
        .map(|level| check(history, last, level).err().map(|found| found.kind))
}

#[test]
fn a_serial_history_is_fine() {
    let history =
        committed(vec![vec![append(1, 1)], vec![read(1, &[1]), append(1, 2)], vec![read(1, &[1, 2]), append(1, 3), read(1, &[1, 2, 3])]]);
    assert_eq!(kinds(&history, &last(&[(1, &[1, 2, 3])])), [None; 3]);
}

#[test]
fn write_cycle_is_forbidden_everywhere() {
    let history = committed(vec![vec![append(1, 1), append(2, 2)], vec![append(1, 3), append(2, 4)]]);
    assert_eq!(kinds(&history, &last(&[(1, &[1, 3]), (2, &[4, 2])])), [Some("G0"); 3]);
}

#[test]
fn aborted_and_intermediate_reads_are_forbidden_everywhere() {
    let aborted = together(vec![(vec![append(1, 1)], Outcome::Aborted), (vec![read(1, &[1])], Outcome::Committed)]);
    assert_eq!(kinds(&aborted, &last(&[(1, &[1])])), [Some("G1a"); 3]);
    let intermediate = committed(vec![vec![append(1, 1), append(1, 2)], vec![read(1, &[1])]]);
    assert_eq!(kinds(&intermediate, &last(&[(1, &[1, 2])])), [Some("G1b"); 3]);
    let unknown = together(vec![(vec![append(1, 1)], Outcome::Unknown), (vec![read(1, &[1])], Outcome::Committed)]);
    assert_eq!(kinds(&unknown, &last(&[(1, &[1])])), [None; 3]);
}

#[test]
fn circular_information_flow_is_forbidden_everywhere() {
    let history = committed(vec![vec![append(1, 1), read(2, &[2])], vec![append(2, 2), read(1, &[1])]]);
    assert_eq!(kinds(&history, &last(&[(1, &[1]), (2, &[2])])), [Some("G1c"); 3]);
}

#[test]
fn lost_update_and_read_skew_are_allowed_at_read_committed_only() {
    let lost_update = committed(vec![vec![read(1, &[]), append(1, 1)], vec![read(1, &[]), append(1, 2)]]);
    assert_eq!(kinds(&lost_update, &last(&[(1, &[1, 2])])), [None, Some("G-single"), Some("G-single")]);
    let skew = committed(vec![vec![read(1, &[]), read(2, &[2])], vec![append(1, 1), append(2, 2)]]);
    assert_eq!(kinds(&skew, &last(&[(1, &[1]), (2, &[2])])), [None, Some("G-single"), Some("G-single")]);
}

#[test]
fn write_skew_is_forbidden_at_serializable_only() {
    let history = committed(vec![vec![read(1, &[]), append(2, 2)], vec![read(2, &[]), append(1, 1)]]);
    assert_eq!(kinds(&history, &last(&[(1, &[1]), (2, &[2])])), [None, None, Some("G2")]);
}

#[test]
fn a_read_of_the_past_is_forbidden_when_real_time_counts() {
    let mut history = committed(vec![vec![append(1, 1)], vec![read(1, &[])]]);
    assert_eq!(kinds(&history, &last(&[(1, &[1])])), [None; 3]);
    history[1].began = history[0].ended + 1;
    history[1].ended = history[1].began + 1;
    assert_eq!(kinds(&history, &last(&[(1, &[1])])), [None, None, Some("real time")]);
}

#[test]
fn lost_appends_and_forks_are_seen() {
    let lost = committed(vec![vec![append(1, 1)]]);
    assert_eq!(kinds(&lost, &last(&[])), [Some("lost append"); 3]);
    let fork = committed(vec![vec![append(1, 1)], vec![append(1, 2)], vec![read(1, &[2])]]);
    assert_eq!(kinds(&fork, &last(&[(1, &[1, 2])])), [Some("incompatible order"); 3]);
}
