//! `SequenceNext`, `SequenceSet`: sequences stand outside of transactions, as in PostgreSQL: what was given out is never given
//! out again, whatever becomes of the transaction that took it. The change is logged like a commit, and not waited for: any
//! commit that uses the value comes later in the log.

use super::Evaluation;
use crate::store::storage_error;
use tidelock_base::{Key, Timestamp, Value};
use tidelock_kvapi::{KvError, Response, SequenceStep};

/// Last value, and whether it was given out.
struct State {
    last: i64,
    called: bool,
}

impl Evaluation<'_> {
    pub(super) fn sequence_next(&self, key: &Key, step: &SequenceStep) -> Result<Response, KvError> {
        if step.increment == 0 || step.count == 0 || step.min > step.max {
            return Err(KvError::BadRequest("a sequence must move"));
        }
        let _one_at_a_time = self.store.sequences.lock();
        let stored = self.store.storage.get(key, Timestamp::MAX).map_err(storage_error)?;
        let first = match stored.and_then(|version| version.value).as_deref().and_then(decode) {
            None => step.start,
            Some(State { last, called: false }) => last,
            Some(State { last, called: true }) => follow(last, step)?,
        };
        let (last, count) = take(first, step);
        self.store.commit_system(vec![(key.clone(), Some(encode(last, true)))])?;
        Ok(Response::Sequence { first, count })
    }

    pub(super) fn sequence_set(&self, key: &Key, value: i64, called: bool) -> Result<Response, KvError> {
        let _one_at_a_time = self.store.sequences.lock();
        self.store.commit_system(vec![(key.clone(), Some(encode(value, called)))])?;
        Ok(Response::Done)
    }
}

/// The value after `last`: the other end when a cycling sequence is through.
fn follow(last: i64, step: &SequenceStep) -> Result<i64, KvError> {
    let next = last.checked_add(step.increment).filter(|next| (step.min..=step.max).contains(next));
    match next {
        Some(next) => Ok(next),
        None if step.cycle => Ok(if step.increment > 0 { step.min } else { step.max }),
        None => Err(KvError::SequenceExhausted),
    }
}

/// Takes up to `count` values from `first` on, not past the end: the last one taken, and how many.
fn take(first: i64, step: &SequenceStep) -> (i64, u32) {
    let room = if step.increment > 0 { step.max.abs_diff(first) } else { first.abs_diff(step.min) };
    let more = (room / step.increment.unsigned_abs()).min(u64::from(step.count) - 1);
    (first + step.increment * more as i64, more as u32 + 1)
}

fn encode(last: i64, called: bool) -> Value {
    let mut bytes = last.to_le_bytes().to_vec();
    bytes.push(u8::from(called));
    Value::from(bytes)
}

fn decode(bytes: &[u8]) -> Option<State> {
    let (last, called) = bytes.split_first_chunk::<8>()?;
    Some(State { last: i64::from_le_bytes(*last), called: called.first() == Some(&1) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(increment: i64, min: i64, max: i64, cycle: bool, count: u32) -> SequenceStep {
        SequenceStep { start: min, increment, min, max, cycle, count }
    }

    #[test]
    fn a_block_stops_at_the_end() {
        assert_eq!(take(8, &step(1, 1, 10, false, 5)), (10, 3));
        assert_eq!(take(1, &step(1, 1, i64::MAX, false, 5)), (5, 5));
        assert_eq!(take(-8, &step(-1, -10, -1, false, 5)), (-10, 3));
    }

    #[test]
    fn the_end_is_an_error_or_the_beginning() {
        assert_eq!(follow(10, &step(1, 1, 10, false, 1)), Err(KvError::SequenceExhausted));
        assert_eq!(follow(10, &step(1, 1, 10, true, 1)), Ok(1));
        assert_eq!(follow(i64::MAX, &step(1, 1, i64::MAX, false, 1)), Err(KvError::SequenceExhausted));
    }
}
