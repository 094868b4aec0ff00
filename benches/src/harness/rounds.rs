//! The figures of repeated rounds: the median, and how far they were apart.

/// A count as a figure.
#[expect(clippy::cast_precision_loss, reason = "nothing that is counted here comes near 2^52")]
pub(crate) fn figure(count: usize) -> f64 {
    count as f64
}

/// Values of one measurement, one a round.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rounds(pub(crate) Vec<f64>);

impl Rounds {
    pub(crate) fn add(&mut self, value: f64) {
        self.0.push(value);
    }

    fn sorted(&self) -> Vec<f64> {
        let mut values = self.0.clone();
        values.sort_by(f64::total_cmp);
        values
    }

    /// Zero without a round.
    pub(crate) fn median(&self) -> f64 {
        let values = self.sorted();
        let middle = values.len() / 2;
        match (values.get(middle), values.len() % 2, middle.checked_sub(1).and_then(|at| values.get(at))) {
            (Some(value), 1, _) => *value,
            (Some(high), _, Some(low)) => f64::midpoint(*low, *high),
            _ => 0.0,
        }
    }

    pub(crate) fn min(&self) -> f64 {
        self.sorted().first().copied().unwrap_or(0.0)
    }

    pub(crate) fn max(&self) -> f64 {
        self.sorted().last().copied().unwrap_or(0.0)
    }

    /// Round by round: this one's value over the other's.
    pub(crate) fn over(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(one, two)| one / two).collect())
    }

    /// The spread as words, with so many decimals.
    pub(crate) fn spread(&self, decimals: usize) -> String {
        format!("{:.decimals$} to {:.decimals$}, {} rounds", self.min(), self.max(), self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::Rounds;

    #[test]
    fn the_median_is_the_middle_or_between_the_two() {
        assert!((Rounds(vec![9.0, 1.0, 2.0]).median() - 2.0).abs() < 1e-9);
        assert!((Rounds(vec![4.0, 1.0, 2.0, 9.0]).median() - 3.0).abs() < 1e-9);
        assert!(Rounds::default().median().abs() < 1e-9);
        let ratio = Rounds(vec![2.0, 6.0]).over(&Rounds(vec![1.0, 2.0]));
        assert_eq!(ratio.spread(1), "2.0 to 3.0, 2 rounds");
    }
}
