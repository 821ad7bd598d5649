//! Seeds of the simulation: so many each time, the same again for the same seed, and a failure when validation is broken.
//!
//! `SIM_SEEDS=1000` and `SIM_FIRST=1` choose others.

use tidelock_testkit::history::Level;
use tidelock_testkit::sim::{SimOptions, run};

/// Seeds run each time.
const SEEDS: u64 = 40;

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

#[test]
fn seeds_hold() {
    let (first, seeds) = (number("SIM_FIRST").unwrap_or(1), number("SIM_SEEDS").unwrap_or(SEEDS));
    let (mut committed, mut crashes) = (0, 0);
    for seed in first..first + seeds {
        let report = run(SimOptions::new(seed)).unwrap_or_else(|failure| panic!("{failure}"));
        committed += report.committed;
        crashes += report.crashes;
    }
    assert!(committed > seeds * 20 && crashes > seeds / 2, "{committed} commits and {crashes} crashes show nothing");
}

#[test]
fn a_seed_replays_exactly() {
    for seed in [3, 17] {
        let first = run(SimOptions::new(seed)).expect("holds");
        let second = run(SimOptions::new(seed)).expect("holds");
        assert_eq!(first, second);
    }
}

#[test]
fn broken_validation_is_noticed() {
    let noticed = (1..40).filter_map(|seed| run(SimOptions { break_validation: true, ..SimOptions::new(seed) }).err());
    let anomalies: Vec<String> = noticed.map(|failure| failure.story).collect();
    let cycles = anomalies.iter().filter(|story| story.starts_with("G2") || story.starts_with("G-single"));
    assert!(cycles.count() > 3, "{anomalies:?}");
}

#[test]
fn every_level_is_simulated() {
    for level in [Level::ReadCommitted, Level::RepeatableRead, Level::Serializable] {
        let found =
            (1..30).any(|seed| run(SimOptions { transactions: 2, ..SimOptions::new(seed) }).is_ok_and(|report| report.level == level));
        assert!(found, "{level:?}");
    }
}
