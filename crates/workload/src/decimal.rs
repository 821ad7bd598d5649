//! Exact decimal values as TPC-C uses them: up to a dozen digits, a few after the point.

use bytes::BufMut;
use std::error::Error;
use std::fmt;
use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, accepts, to_sql_checked};

/// `units / 10^scale`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Decimal {
    /// The digits, as one number.
    pub units: i64,
    /// How many of them stand after the point.
    pub scale: u32,
}

impl Decimal {
    /// Amounts of money.
    pub fn cents(units: i64) -> Decimal {
        Decimal { units, scale: 2 }
    }

    /// The same value with another scale; digits that fall off are dropped.
    pub fn with_scale(self, scale: u32) -> Decimal {
        let units =
            if scale >= self.scale { self.units * 10i64.pow(scale - self.scale) } else { self.units / 10i64.pow(self.scale - scale) };
        Decimal { units, scale }
    }

    /// Reads `-12.50`.
    pub fn parse(text: &str) -> Option<Decimal> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let units = format!("{whole}{fraction}").parse().ok()?;
        Some(Decimal { units, scale: fraction.len() as u32 })
    }

    /// PostgreSQL's base-10000 digits around the point, most significant first, and the weight of the first.
    fn groups(self) -> (Vec<i16>, i16) {
        let scale = self.scale.div_ceil(4) * 4;
        let mut rest = self.with_scale(scale).units.unsigned_abs();
        let mut groups = Vec::new();
        while rest > 0 {
            groups.push((rest % 10_000) as i16);
            rest /= 10_000;
        }
        let weight = groups.len() as i16 - 1 - (scale / 4) as i16;
        groups.reverse();
        (groups, weight)
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.units < 0 { "-" } else { "" };
        let size = 10u64.pow(self.scale);
        let units = self.units.unsigned_abs();
        write!(f, "{sign}{}", units / size)?;
        if self.scale > 0 {
            write!(f, ".{:0width$}", units % size, width = self.scale as usize)?;
        }
        Ok(())
    }
}

impl ToSql for Decimal {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        let (groups, weight) = self.groups();
        out.put_i16(groups.len() as i16);
        out.put_i16(weight);
        out.put_u16(if self.units < 0 { 0x4000 } else { 0 });
        out.put_i16(self.scale as i16);
        groups.into_iter().for_each(|group| out.put_i16(group));
        Ok(IsNull::No)
    }

    accepts!(NUMERIC);
    to_sql_checked!();
}

impl<'a> FromSql<'a> for Decimal {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Decimal, Box<dyn Error + Sync + Send>> {
        let word = |at: usize| raw.get(at * 2..at * 2 + 2).map(|b| i16::from_be_bytes([b[0], b[1]])).ok_or("a short numeric");
        let (count, weight, sign, scale) = (word(0)?, word(1)?, word(2)?, word(3)? as u32);
        let mut units = 0i64;
        // Digits from the first group down to the last one that the scale reaches.
        let last = -i32::try_from(scale.div_ceil(4))?;
        for position in (last..=i32::from(weight).max(0)).rev() {
            let at = i32::from(weight) - position;
            let group = if (0..i32::from(count)).contains(&at) { word(4 + at as usize)? } else { 0 };
            units = units * 10_000 + i64::from(group);
        }
        if sign as u16 == 0x4000 {
            units = -units;
        }
        Ok(Decimal { units, scale: scale.div_ceil(4) * 4 }.with_scale(scale))
    }

    accepts!(NUMERIC);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binary_form_comes_back() {
        for text in ["0.00", "0.05", "-12.50", "300000.00", "0.1234", "9999999.99", "10000", "-0.0001"] {
            let value = Decimal::parse(text).unwrap();
            let mut out = BytesMut::new();
            value.to_sql(&Type::NUMERIC, &mut out).unwrap();
            assert_eq!(Decimal::from_sql(&Type::NUMERIC, &out).unwrap().to_string(), text);
        }
    }
}
