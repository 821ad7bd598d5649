//! Settings of a store that can be changed while it runs.
//!
//! `kv.resolver.inline` and `kv.resolver.batch_ranged` reproduce history (see "the story" in README.md). The numbers are
//! bounds: [`NUMBERS`] lists each with its name, its default with the reason, and the values it may take.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// A whole-number setting.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Number {
    /// `kv.lock.max_waiters`
    MaxWaiters,
    /// `kv.range.max_bytes`
    RangeBytes,
    /// `kv.resolver.batch_points`
    BatchPoints,
    /// `kv.resolver.inbox`
    Inbox,
    /// `kv.resolver.inline_limit`
    InlineLimit,
    /// `kv.resolver.max_idle_ms`
    MaxIdleMs,
    /// `kv.resolver.max_in_flight`
    MaxInFlight,
    /// `kv.resolver.max_wait_ms`
    MaxWaitMs,
    /// `kv.resolver.pass_bytes`
    PassBytes,
    /// `kv.resolver.pass_keys`
    PassKeys,
    /// `kv.resolver.range_cost`
    RangeCost,
    /// `kv.snapshot.history_rows`
    HistoryRows,
    /// `kv.txn.spill_bytes`
    SpillBytes,
}

/// What is known of a whole-number setting.
#[derive(Debug)]
pub struct NumberSetting {
    /// Which one.
    pub number: Number,
    /// Its name for users.
    pub name: &'static str,
    /// What it does, in a sentence.
    pub description: &'static str,
    /// Its value until somebody sets another.
    pub default: u64,
    /// The least value it may have.
    pub min: u64,
    /// The greatest.
    pub max: u64,
}

/// All whole-number settings, in the order of [`Number`], which is that of their names.
pub static NUMBERS: [NumberSetting; 13] = [
    NumberSetting {
        number: Number::MaxWaiters,
        name: "kv.lock.max_waiters",
        description: "Requests that may wait for one key; the next one is refused.",
        // Twice the connections a server is built for: a hot row may have them all.
        default: 20_000,
        min: 1,
        max: 1_000_000,
    },
    NumberSetting {
        number: Number::RangeBytes,
        name: "kv.range.max_bytes",
        description: "A larger range is split.",
        default: 64 << 20,
        // Less would cut faster than the size check looks.
        min: 64 << 10,
        max: 1 << 40,
    },
    NumberSetting {
        number: Number::BatchPoints,
        name: "kv.resolver.batch_points",
        description: "Points' worth of resolutions that fill a batch.",
        default: 100,
        min: 1,
        max: 10_000,
    },
    NumberSetting {
        number: Number::Inbox,
        name: "kv.resolver.inbox",
        description: "Clean-ups that may wait for the resolver; a commit that finds it full resolves by itself.",
        default: 10_000,
        min: 0,
        max: MAX_INBOX,
    },
    NumberSetting {
        number: Number::InlineLimit,
        name: "kv.resolver.inline_limit",
        description: "Intents that a commit resolves itself; the rest is the resolver's.",
        // About 0.2 ms of work.
        default: 500,
        min: 0,
        max: u64::MAX,
    },
    NumberSetting {
        number: Number::MaxIdleMs,
        name: "kv.resolver.max_idle_ms",
        description: "A batch goes out when nothing was added for so many milliseconds.",
        default: 5,
        min: 0,
        max: 60_000,
    },
    NumberSetting {
        number: Number::MaxInFlight,
        name: "kv.resolver.max_in_flight",
        description: "Batches on their way at which the resolver takes nothing more in, until less than four fifths are.",
        default: 64,
        min: 1,
        max: MAX_IN_FLIGHT,
    },
    NumberSetting {
        number: Number::MaxWaitMs,
        name: "kv.resolver.max_wait_ms",
        description: "A batch goes out when its oldest item has waited so many milliseconds.",
        default: 10,
        min: 0,
        max: 60_000,
    },
    NumberSetting {
        number: Number::PassBytes,
        name: "kv.resolver.pass_bytes",
        description: "Bytes that a batch of resolutions may turn into versions before the rest is resumed.",
        default: 4 << 20,
        min: 1,
        max: 1 << 30,
    },
    NumberSetting {
        number: Number::PassKeys,
        name: "kv.resolver.pass_keys",
        description: "Intents that a batch of resolutions may touch before the rest is resumed.",
        default: 200,
        min: 1,
        max: 100_000,
    },
    NumberSetting {
        number: Number::RangeCost,
        name: "kv.resolver.range_cost",
        description: "Points that a ranged resolution counts for in a batch: it may fan out to many intents.",
        default: 10,
        min: 1,
        max: 10_000,
    },
    NumberSetting {
        number: Number::HistoryRows,
        name: "kv.snapshot.history_rows",
        description: "Old versions kept on disk for open snapshots; past it the oldest ones are cancelled (72000).",
        // One or two gigabytes of usual rows. A single old snapshot keeps at most one version of each row.
        default: 10_000_000,
        min: 1000,
        max: 1 << 40,
    },
    NumberSetting {
        number: Number::SpillBytes,
        name: "kv.txn.spill_bytes",
        description: "Memory that a transaction's locks and writes may take before they move to disk.",
        // About ten thousand small rows: all but bulk work stays in memory.
        default: 4 << 20,
        min: 1 << 10,
        max: 1 << 40,
    },
];

/// Room of the resolver's channel, whatever `kv.resolver.inbox` says.
pub(crate) const MAX_INBOX: u64 = 10_000;

/// Room of the resolver's channel of answers, whatever `kv.resolver.max_in_flight` says.
pub(crate) const MAX_IN_FLIGHT: u64 = 1_000;

/// Live settings, shared by everybody who reads or sets them.
#[derive(Debug)]
pub struct KvSettings {
    inline: AtomicBool,
    batch_ranged: AtomicBool,
    validate: AtomicBool,
    numbers: [AtomicU64; NUMBERS.len()],
}

impl Default for KvSettings {
    fn default() -> Self {
        KvSettings {
            inline: AtomicBool::new(true),
            batch_ranged: AtomicBool::new(true),
            validate: AtomicBool::new(true),
            numbers: std::array::from_fn(|at| AtomicU64::new(NUMBERS[at].default)),
        }
    }
}

impl KvSettings {
    /// `kv.resolver.inline`: resolve within the commit what is on this store. Off: everything goes through the batcher.
    pub fn inline(&self) -> bool {
        self.inline.load(Ordering::Relaxed)
    }

    /// Sets `kv.resolver.inline`.
    pub fn set_inline(&self, on: bool) {
        self.inline.store(on, Ordering::Relaxed);
    }

    /// `kv.resolver.batch_ranged`: ranged resolutions share batches with points. Off: each goes alone, which once cost a
    /// large database 4-5 % of TPC-C.
    pub fn batch_ranged(&self) -> bool {
        self.batch_ranged.load(Ordering::Relaxed)
    }

    /// Sets `kv.resolver.batch_ranged`.
    pub fn set_batch_ranged(&self, on: bool) {
        self.batch_ranged.store(on, Ordering::Relaxed);
    }

    /// Do commits validate what they read? Always, but for the history checker's own test, which must be seen to fail; no statement can
    /// reach this.
    pub(crate) fn validates(&self) -> bool {
        self.validate.load(Ordering::Relaxed)
    }

    /// Breaks SERIALIZABLE.
    #[doc(hidden)]
    pub fn break_validation(&self) {
        self.validate.store(false, Ordering::Relaxed);
    }

    /// A number's value.
    pub fn number(&self, number: Number) -> u64 {
        self.numbers[number as usize].load(Ordering::Relaxed)
    }

    /// Sets a number; a value outside of its bounds is refused with a sentence that says so.
    pub fn set_number(&self, number: Number, value: u64) -> Result<(), String> {
        let NumberSetting { name, min, max, .. } = NUMBERS[number as usize];
        if !(min..=max).contains(&value) {
            return Err(format!("{value} is outside the valid range for parameter \"{name}\" ({min} .. {max})"));
        }
        self.numbers[number as usize].store(value, Ordering::Relaxed);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_numbers() {
        for (at, setting) in NUMBERS.iter().enumerate() {
            assert_eq!(setting.number as usize, at, "{}", setting.name);
            assert!((setting.min..=setting.max).contains(&setting.default), "{}", setting.name);
        }
        assert!(NUMBERS.is_sorted_by_key(|setting| setting.name));
    }

    #[test]
    fn a_value_outside_of_its_bounds_is_refused() {
        let settings = KvSettings::default();
        assert!(settings.set_number(Number::PassKeys, 0).is_err());
        assert!(settings.set_number(Number::PassKeys, 7).is_ok());
        assert_eq!(settings.number(Number::PassKeys), 7);
    }
}
