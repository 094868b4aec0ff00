//! Intervals of 95 %: Wilson's for rates, Student's for means and for a quotient of two sums. All treat the
//! duels of a run as independent of each other.

use serde::Serialize;

/// The normal quantile of 95 %.
const Z: f64 = 1.959_964;
/// Student's quantiles for 1 to 4 degrees of freedom, where the expansion below is too far off.
const T_OF_FEW: [f64; 4] = [12.706, 4.303, 3.182, 2.776];

/// A share in percent with one decimal, and its interval. One duel alone has no spread, so that a mean of it
/// has no interval.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Figure {
    pub(crate) percent: f64,
    pub(crate) low: Option<f64>,
    pub(crate) high: Option<f64>,
}

impl Figure {
    fn new(share: f64, half: Option<f64>) -> Self {
        Self {
            percent: percent(share),
            low: half.map(|half| percent(share - half)),
            high: half.map(|half| percent(share + half)),
        }
    }

    /// How often something happened among `of` duels; half a time is taken, too.
    pub(crate) fn rate(times: f64, of: u64) -> Self {
        if of == 0 {
            return Self::default();
        }
        let n = real(of);
        let p = times / n;
        let middle = (p + Z * Z / (2.0 * n)) / (1.0 + Z * Z / n);
        let half = Z / (1.0 + Z * Z / n) * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
        Self {
            percent: percent(p),
            low: Some(percent((middle - half).max(0.0))),
            high: Some(percent((middle + half).min(1.0))),
        }
    }
}

/// Pairs of a part and its whole, of which the mean share and the quotient of the sums are wanted.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Shares {
    count: u64,
    share: f64,
    share_squares: f64,
    part: f64,
    whole: f64,
    part_squares: f64,
    whole_squares: f64,
    products: f64,
}

impl Shares {
    /// A whole of nothing counts as a share of nothing.
    pub(crate) fn add(&mut self, part: i64, whole: i64) {
        #[expect(clippy::cast_precision_loss, reason = "points of one duel are far below 2^52")]
        let (part, whole) = (part as f64, whole as f64);
        let share = if whole > 0.0 { part / whole } else { 0.0 };
        self.count += 1;
        self.share += share;
        self.share_squares += share * share;
        self.part += part;
        self.whole += whole;
        self.part_squares += part * part;
        self.whole_squares += whole * whole;
        self.products += part * whole;
    }

    /// The mean of the shares, of which none is below nothing or above the whole.
    pub(crate) fn mean(&self) -> Figure {
        if self.count == 0 {
            return Figure::default();
        }
        let mean = self.share / real(self.count);
        let Figure { percent, low, high } =
            Figure::new(mean, self.half(self.share_squares - mean * self.share, 1.0));
        Figure { percent, low: low.map(|low| low.max(0.0)), high: high.map(|high| high.min(100.0)) }
    }

    /// The sum of the parts over the sum of the wholes, less one: what was gained on it.
    pub(crate) fn gain(&self) -> Figure {
        if self.whole <= 0.0 {
            return Figure::default();
        }
        let quotient = self.part / self.whole;
        // How far each part is from what the quotient predicts of its whole.
        let squares =
            self.part_squares - 2.0 * quotient * self.products + quotient * quotient * self.whole_squares;
        Figure::new(quotient - 1.0, self.half(squares, self.whole / real(self.count)))
    }

    /// Half of the interval of a mean whose deviations have the squares' sum `squares`, in units of `scale`.
    fn half(&self, squares: f64, scale: f64) -> Option<f64> {
        let freedom = self.count.checked_sub(1).filter(|freedom| *freedom > 0)?;
        let variance = squares.max(0.0) / real(freedom);
        Some(student(freedom) * (variance / real(self.count)).sqrt() / scale)
    }
}

/// Student's quantile of 95 %, by the expansion of Cornish and Fisher.
fn student(freedom: u64) -> f64 {
    let few = usize::try_from(freedom).ok().and_then(|freedom| T_OF_FEW.get(freedom.checked_sub(1)?));
    few.copied().unwrap_or_else(|| {
        let v = real(freedom);
        let first = (Z.powi(3) + Z) / (4.0 * v);
        let second = (5.0 * Z.powi(5) + 16.0 * Z.powi(3) + 3.0 * Z) / (96.0 * v * v);
        let third = (3.0 * Z.powi(7) + 19.0 * Z.powi(5) + 17.0 * Z.powi(3) - 15.0 * Z) / (384.0 * v.powi(3));
        Z + first + second + third
    })
}

#[expect(clippy::cast_precision_loss, reason = "counts of duels are far below 2^52")]
fn real(count: u64) -> f64 {
    count as f64
}

fn percent(share: f64) -> f64 {
    // Adding zero makes a negative one positive.
    (share * 1000.0).round() / 10.0 + 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(percent: f64, low: f64, high: f64) -> Figure {
        Figure { percent, low: Some(low), high: Some(high) }
    }

    #[test]
    fn rates_have_wilsons_interval() {
        assert_eq!(Figure::rate(10.0, 20), figure(50.0, 29.9, 70.1));
        assert_eq!(Figure::rate(0.0, 10), figure(0.0, 0.0, 27.8));
        assert_eq!(Figure::rate(10.0, 10), figure(100.0, 72.2, 100.0));
        assert_eq!(Figure::rate(0.0, 0), Figure::default());
    }

    #[test]
    fn means_have_students_interval_or_none() {
        let mut shares = Shares::default();
        assert_eq!(shares.mean(), Figure::default());
        shares.add(40, 100);
        assert_eq!(shares.mean(), Figure { percent: 40.0, low: None, high: None });
        shares.add(50, 100);
        shares.add(60, 100);
        // Standard deviation 10 points, standard error 5.77, quantile of two degrees 4.303.
        assert_eq!(shares.mean(), figure(50.0, 25.2, 74.8));
        // With equal wholes the quotient of the sums is the mean.
        assert_eq!(shares.gain(), figure(-50.0, -74.8, -25.2));
        let mut shares = Shares::default();
        for part in [0, 0, 0, 100] {
            shares.add(part, 100);
        }
        assert_eq!(shares.mean(), figure(25.0, 0.0, 100.0), "a share is no less than nothing");
    }

    #[test]
    fn a_quotient_weighs_its_wholes() {
        let mut shares = Shares::default();
        for (part, whole) in [(5, 10), (30, 20), (20, 20)] {
            shares.add(part, whole);
        }
        // 55 of 50; residuals -6, 8 and -2 have the squares' sum 104: √(104 / 2 / 3) / (50 / 3) · 4.303.
        assert_eq!(shares.gain(), figure(10.0, -97.5, 117.5));
        assert!((shares.mean().percent - 100.0).abs() < 0.05);
    }

    #[test]
    fn quantiles_are_those_of_the_tables() {
        for (freedom, table) in [(1, 12.706), (4, 2.776), (5, 2.571), (10, 2.228), (30, 2.042), (1000, 1.962)]
        {
            assert!((student(freedom) - table).abs() < 0.004, "{freedom}: {}", student(freedom));
        }
    }
}
