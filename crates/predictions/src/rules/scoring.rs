//! How good probabilities were that somebody stated, once it is known what happened.
//!
//! Brier score and log loss are means over forecasts; smaller is better. The Brier score is also taken apart as
//! Murphy did, with the two terms that Stephenson added for forecasts which differ within a bin:
//! `brier = reliability − resolution + uncertainty + within_variance − within_covariance`.

/// One forecast and what happened.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Forecast {
    /// The probability of YES, 0 to 1.
    pub prob: f64,
    pub came_true: bool,
}

/// Bins of equal width; a probability of 1 is in the last.
pub const BINS: usize = 10;
/// Log loss takes no probability for smaller than this, nor for greater than 1 less this: one certainty that
/// fails would outweigh every other forecast.
pub const LOG_CLAMP: f64 = 1e-6;

/// One bin of a calibration curve.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub struct Bin {
    pub count: u32,
    /// The mean of the probabilities; 0 for an empty bin.
    pub mean_prob: f64,
    /// The share that came true; 0 for an empty bin.
    pub share_true: f64,
}

/// The scores of at least one forecast.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scores {
    pub count: u32,
    pub share_true: f64,
    pub brier: f64,
    pub log_loss: f64,
    pub reliability: f64,
    pub resolution: f64,
    pub uncertainty: f64,
    pub within_variance: f64,
    /// Twice the covariance of probability and outcome within bins.
    pub within_covariance: f64,
    /// Expected calibration error.
    pub ece: f64,
    /// 1 − Brier over uncertainty: 0 for whoever always says the base rate. `None` where that is never wrong.
    pub skill: Option<f64>,
    pub bins: [Bin; BINS],
}

impl Forecast {
    const fn outcome(self) -> f64 {
        if self.came_true { 1.0 } else { 0.0 }
    }

    pub const fn brier(self) -> f64 {
        let miss = self.prob - self.outcome();
        miss * miss
    }

    pub fn log_loss(self) -> f64 {
        let said = if self.came_true { self.prob } else { 1.0 - self.prob };
        -libm::log(said.clamp(LOG_CLAMP, 1.0 - LOG_CLAMP))
    }

    /// Bits better than a coin, times 100: the baseline score for a question with two outcomes.
    pub fn baseline(self) -> f64 {
        let said = if self.came_true { self.prob } else { 1.0 - self.prob };
        100.0 * (libm::log2(said.clamp(LOG_CLAMP, 1.0 - LOG_CLAMP)) + 1.0)
    }

    fn bin(self) -> usize {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 10")]
        let at = (self.prob.clamp(0.0, 1.0) * 10.0) as usize;
        at.min(BINS - 1)
    }
}

/// The scores of forecasts; `None` without any.
pub fn score(forecasts: &[Forecast]) -> Option<Scores> {
    let count = u32::try_from(forecasts.len()).ok().filter(|count| *count > 0)?;
    let all = f64::from(count);
    let mean = |value: fn(Forecast) -> f64| forecasts.iter().map(|one| value(*one)).sum::<f64>() / all;
    let share_true = mean(Forecast::outcome);
    let uncertainty = share_true * (1.0 - share_true);
    let brier = mean(Forecast::brier);
    let bins = bins(forecasts);
    let over_bins = |value: &dyn Fn(&Bin) -> f64| {
        bins.iter().map(|bin| f64::from(bin.count) * value(bin)).sum::<f64>() / all
    };
    let within = |value: &dyn Fn(f64, f64) -> f64| {
        let of = |one: &Forecast| {
            let bin = &bins[one.bin()];
            value(one.prob - bin.mean_prob, one.outcome() - bin.share_true)
        };
        forecasts.iter().map(of).sum::<f64>() / all
    };
    Some(Scores {
        count,
        share_true,
        brier,
        log_loss: mean(Forecast::log_loss),
        reliability: over_bins(&|bin| squared(bin.mean_prob - bin.share_true)),
        resolution: over_bins(&|bin| squared(bin.share_true - share_true)),
        uncertainty,
        within_variance: within(&|prob, _| squared(prob)),
        within_covariance: 2.0 * within(&|prob, outcome| prob * outcome),
        ece: over_bins(&|bin| (bin.mean_prob - bin.share_true).abs()),
        skill: (uncertainty > 0.0).then(|| 1.0 - brier / uncertainty),
        bins,
    })
}

fn bins(forecasts: &[Forecast]) -> [Bin; BINS] {
    let mut bins = [Bin::default(); BINS];
    for one in forecasts {
        let bin = &mut bins[one.bin()];
        bin.count += 1;
        bin.mean_prob += one.prob;
        bin.share_true += one.outcome();
    }
    for bin in bins.iter_mut().filter(|bin| bin.count > 0) {
        bin.mean_prob /= f64::from(bin.count);
        bin.share_true /= f64::from(bin.count);
    }
    bins
}

const fn squared(value: f64) -> f64 {
    value * value
}
