//! Statistics of pairs `(y, x)`: `corr`, `covar_*`, `regr_*`.
//!
//! One pass keeps the sums and, by Youngs and Cramer's update, the sums of squares around the means, as PostgreSQL does.

/// Which of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)] // the names are SQL's
pub enum PairKind {
    Corr,
    CovarPop,
    CovarSamp,
    AvgX,
    AvgY,
    Count,
    Intercept,
    R2,
    Slope,
    Sxx,
    Sxy,
    Syy,
}

/// What one pass keeps.
#[derive(Clone, Debug, Default)]
pub(super) struct PairMoments {
    count: f64,
    sum_x: f64,
    sum_y: f64,
    xx: f64,
    yy: f64,
    xy: f64,
}

impl PairMoments {
    pub(super) fn add(&mut self, y: f64, x: f64) {
        let before = self.count;
        self.count += 1.0;
        self.sum_x += x;
        self.sum_y += y;
        if before > 0.0 {
            let (dx, dy) = (x * self.count - self.sum_x, y * self.count - self.sum_y);
            let scale = 1.0 / (self.count * before);
            self.xx += dx * dx * scale;
            self.yy += dy * dy * scale;
            self.xy += dx * dy * scale;
            return;
        }
        if !x.is_finite() {
            (self.xx, self.xy) = (f64::NAN, f64::NAN);
        }
        if !y.is_finite() {
            (self.yy, self.xy) = (f64::NAN, f64::NAN);
        }
    }

    pub(super) fn merge(&mut self, other: &PairMoments) {
        if other.count == 0.0 {
            return;
        }
        if self.count == 0.0 {
            *self = other.clone();
            return;
        }
        let count = self.count + other.count;
        let dx = self.sum_x / self.count - other.sum_x / other.count;
        let dy = self.sum_y / self.count - other.sum_y / other.count;
        let weight = self.count * other.count / count;
        self.xx += other.xx + weight * dx * dx;
        self.yy += other.yy + weight * dy * dy;
        self.xy += other.xy + weight * dx * dy;
        self.sum_x += other.sum_x;
        self.sum_y += other.sum_y;
        self.count = count;
    }

    pub(super) fn count(&self) -> i64 {
        self.count as i64
    }

    pub(super) fn finish(&self, kind: PairKind) -> Option<f64> {
        if self.count < if kind == PairKind::CovarSamp { 2.0 } else { 1.0 } {
            return None;
        }
        let needs_spread = matches!(kind, PairKind::Corr | PairKind::R2 | PairKind::Slope | PairKind::Intercept);
        if needs_spread && self.xx == 0.0 || kind == PairKind::Corr && self.yy == 0.0 {
            return None;
        }
        Some(match kind {
            PairKind::Corr => self.xy / (self.xx * self.yy).sqrt(),
            PairKind::CovarPop => self.xy / self.count,
            PairKind::CovarSamp => self.xy / (self.count - 1.0),
            PairKind::AvgX => self.sum_x / self.count,
            PairKind::AvgY => self.sum_y / self.count,
            PairKind::Count => self.count,
            PairKind::Intercept => (self.sum_y - self.sum_x * self.xy / self.xx) / self.count,
            PairKind::R2 if self.yy == 0.0 => 1.0,
            PairKind::R2 => self.xy * self.xy / (self.xx * self.yy),
            PairKind::Slope => self.xy / self.xx,
            PairKind::Sxx => self.xx,
            PairKind::Sxy => self.xy,
            PairKind::Syy => self.yy,
        })
    }
}
