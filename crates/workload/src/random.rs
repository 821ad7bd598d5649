//! TPC-C's random values (clause 2.1.6 and 4.3.2): uniform, NURand, names and strings.

/// A small generator (SplitMix64): the same seed gives the same load everywhere.
#[derive(Clone, Debug)]
pub(crate) struct Random {
    state: u64,
}

/// The constant C of NURand for last names, order items and customers (clause 2.1.6.1).
const C_LAST: u32 = 157;
const C_ITEM: u32 = 5987;
const C_CUSTOMER: u32 = 259;

const SYLLABLES: [&str; 10] = ["BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING"];
const LETTERS: &[u8; 62] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random { state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) }
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from `low` to `high`, both included.
    pub(crate) fn range(&mut self, low: u32, high: u32) -> u32 {
        low + (self.next() % (u64::from(high - low) + 1)) as u32
    }

    pub(crate) fn percent(&mut self, chance: u32) -> bool {
        self.range(1, 100) <= chance
    }

    /// Between 0 and 1.
    pub(crate) fn fraction(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn nurand(&mut self, a: u32, c: u32, low: u32, high: u32) -> u32 {
        ((self.range(0, a) | self.range(low, high)) + c) % (high - low + 1) + low
    }

    pub(crate) fn customer_id(&mut self) -> u32 {
        self.nurand(1023, C_CUSTOMER, 1, 3000)
    }

    pub(crate) fn item_id(&mut self) -> u32 {
        self.nurand(8191, C_ITEM, 1, 100_000)
    }

    pub(crate) fn last_name(&mut self) -> String {
        let number = self.nurand(255, C_LAST, 0, 999);
        last_name(number)
    }

    pub(crate) fn letters(&mut self, low: u32, high: u32) -> String {
        (0..self.range(low, high)).map(|_| LETTERS[(self.next() % 62) as usize] as char).collect()
    }

    pub(crate) fn digits(&mut self, count: u32) -> String {
        (0..count).map(|_| (b'0' + (self.next() % 10) as u8) as char).collect()
    }

    pub(crate) fn zip(&mut self) -> String {
        format!("{}11111", self.digits(4))
    }

    /// A data string; one in ten contains ORIGINAL somewhere.
    pub(crate) fn data(&mut self) -> String {
        let mut text = self.letters(26, 50);
        if self.percent(10) {
            let at = self.range(0, text.len() as u32 - 8) as usize;
            text.replace_range(at..at + 8, "ORIGINAL");
        }
        text
    }

    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, (self.next() % (last as u64 + 1)) as usize);
        }
    }
}

/// The last name that a number spells (clause 4.3.2.3).
pub(crate) fn last_name(number: u32) -> String {
    [number / 100, number / 10 % 10, number % 10].map(|digit| SYLLABLES[digit as usize % 10]).concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_spelled_as_the_specification_says() {
        assert_eq!(last_name(371), "PRICALLYOUGHT");
        assert_eq!(last_name(40), "BARPRESBAR");
    }

    #[test]
    fn nurand_stays_in_its_bounds_and_is_not_uniform() {
        let mut random = Random::new(1);
        let mut counts = vec![0u32; 3001];
        for _ in 0..300_000 {
            counts[random.customer_id() as usize] += 1;
        }
        assert_eq!(counts[0], 0);
        assert!(counts[1..].iter().max() > counts[1..].iter().min().map(|least| least * 4).as_ref());
    }
}
