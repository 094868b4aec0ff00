//! Vectors as they are stored and compared: one signed byte a component. Their length is a number
//! beside them, so that all that follows is arithmetic of integers and gives one order everywhere.
//!
//! The largest component becomes 127. A scale of the vector's own uses all of the byte's range whatever
//! the vector's spread, clips nothing, and cancels out of a cosine; a fixed scale would have to be
//! chosen for the worst vector and would waste bits of all others.

/// The largest component by size.
const COMPONENT_MAX: f64 = 127.0;
/// The largest number of components. Sums of products of so many still fit into 32 bits.
pub const DIMS_MAX: usize = 8_192;
/// Bits after the point of a reciprocal length.
const RECIPROCAL_BITS: u32 = 44;

/// A direction. Vectors of different models must not be compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vector {
    components: Box<[i8]>,
}

impl Vector {
    /// Rounds components to bytes, half away from zero. What is not a finite number counts as zero, and
    /// what is beyond `DIMS_MAX` is left out. Without a component there is the zero vector, which is as far from
    /// everything as anything.
    pub fn quantise(components: &[f32]) -> Self {
        let components = &components[..components.len().min(DIMS_MAX)];
        let finite = |value: &f32| if value.is_finite() { f64::from(*value) } else { 0.0 };
        let largest = components.iter().map(|value| finite(value).abs()).fold(0.0, f64::max);
        let scale = if largest > 0.0 { COMPONENT_MAX / largest } else { 0.0 };
        #[expect(clippy::cast_possible_truncation, reason = "the largest is 127 by construction")]
        let components = components.iter().map(|value| (finite(value) * scale).round() as i8).collect();
        Self { components }
    }

    pub fn dims(&self) -> usize {
        self.components.len()
    }

    pub fn components(&self) -> &[i8] {
        &self.components
    }

    /// One byte a component, in two's complement.
    pub fn as_bytes(&self) -> Vec<u8> {
        bytemuck::cast_slice(&self.components).to_vec()
    }

    /// Reads what `as_bytes` wrote. `None` if it has another number of components, or a component that is
    /// never written.
    pub fn from_bytes(bytes: &[u8], dims: usize) -> Option<Self> {
        let components: &[i8] = bytemuck::cast_slice(bytes);
        let whole = components.len() == dims && dims <= DIMS_MAX && !components.contains(&i8::MIN);
        whole.then(|| Self { components: components.into() })
    }

    /// The sum of the products of the components.
    pub fn dot(&self, other: &Self) -> i32 {
        let pairs = self.components.iter().zip(&other.components);
        pairs.map(|(one, two)| i32::from(*one) * i32::from(*two)).sum()
    }

    /// 2^44 divided by the vector's length, rounded down; 0 for the zero vector. A product with it has the
    /// order of the cosines to nine digits, while a component has two.
    pub(crate) fn reciprocal_length(&self) -> i64 {
        let square = u128::from(self.dot(self).unsigned_abs());
        (1_u128 << (2 * RECIPROCAL_BITS))
            .checked_div(square)
            .and_then(|quotient| i64::try_from(quotient.isqrt()).ok())
            .unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn components() -> impl Strategy<Value = Vec<f32>> {
        prop::collection::vec(-1.0e3_f32..1.0e3, 1..600)
    }

    proptest! {
        #[test]
        fn order_and_sign_of_components_survive(components in components()) {
            let vector = Vector::quantise(&components);
            for (one, byte) in components.iter().zip(vector.components()) {
                for (two, other) in components.iter().zip(vector.components()) {
                    prop_assert!(one > two || byte <= other, "{one} {two} {byte} {other}");
                }
                prop_assert!(f32::from(*byte) * one >= 0.0);
            }
            let largest = vector.components().iter().map(|byte| byte.unsigned_abs()).max();
            let zero = components.iter().all(|value| *value == 0.0);
            prop_assert_eq!(largest, Some(if zero { 0 } else { 127 }));
        }

        #[test]
        fn each_component_is_off_by_half_a_step_at_most(components in components()) {
            let vector = Vector::quantise(&components);
            let largest = components.iter().map(|value| f64::from(value.abs())).fold(0.0, f64::max);
            for (value, byte) in components.iter().zip(vector.components()) {
                let back = f64::from(*byte) * largest / 127.0;
                prop_assert!((back - f64::from(*value)).abs() <= largest / 254.0 * 1.000_001);
            }
        }

        #[test]
        fn a_longer_vector_of_the_same_direction_is_the_same(components in components(), shift in 0..8_i32) {
            let scaled: Vec<f32> = components.iter().map(|value| value * 2_f32.powi(shift)).collect();
            prop_assert_eq!(Vector::quantise(&components), Vector::quantise(&scaled));
        }

        #[test]
        fn bytes_come_back(components in components()) {
            let vector = Vector::quantise(&components);
            let bytes = vector.as_bytes();
            prop_assert_eq!(Vector::from_bytes(&bytes, components.len()), Some(vector));
            prop_assert_eq!(Vector::from_bytes(&bytes, components.len() + 1), None);
            prop_assert_eq!(Vector::from_bytes(&bytes[1..], components.len()), None);
        }

        /// A product with the reciprocal length is the cosine with the common factor of the query.
        #[test]
        fn the_reciprocal_length_gives_cosines(
            (one, two) in (1_usize..600).prop_flat_map(|dims| {
                let vector = || prop::collection::vec(-1.0_f32..1.0, dims);
                (vector(), vector())
            })
        ) {
            let (one, two) = (Vector::quantise(&one), Vector::quantise(&two));
            let length = |vector: &Vector| f64::from(vector.dot(vector)).sqrt();
            prop_assume!(length(&one) > 0.0 && length(&two) > 0.0);
            let cosine = f64::from(one.dot(&two)) / length(&one) / length(&two);
            #[expect(clippy::cast_precision_loss, reason = "a product has 56 bits and 31 are compared")]
            let product = (i64::from(one.dot(&two)) * two.reciprocal_length()) as f64;
            let fixed = product / 2_f64.powi(44) / length(&one);
            prop_assert!((fixed - cosine).abs() < 1e-9, "{fixed} {cosine}");
        }
    }

    #[test]
    fn nothing_becomes_zero() {
        for components in [vec![], vec![0.0; 7], vec![f32::NAN, f32::INFINITY], vec![-0.0]] {
            let vector = Vector::quantise(&components);
            assert_eq!(vector.components(), vec![0; components.len()]);
            assert_eq!((vector.dot(&vector), vector.reciprocal_length()), (0, 0));
        }
        assert_eq!(Vector::quantise(&[f32::NAN, 1.0, f32::MIN_POSITIVE]).components(), [0, 127, 0]);
        assert_eq!(Vector::quantise(&[1e-45, -1e-45]).components(), [127, -127]);
        assert_eq!(Vector::quantise(&[f32::MAX, f32::MIN]).components(), [127, -127]);
    }

    #[test]
    fn a_byte_that_is_never_written_is_refused() {
        assert_eq!(Vector::from_bytes(&[0x80, 1], 2), None);
        assert!(Vector::from_bytes(&[0x81, 1], 2).is_some());
        assert!(Vector::from_bytes(&[], 0).is_some());
    }

    #[test]
    fn the_largest_sums_fit() {
        let vector = Vector::quantise(&vec![1.0; DIMS_MAX + 5]);
        assert_eq!(vector.dims(), DIMS_MAX);
        assert_eq!(vector.dot(&vector), 127 * 127 * 8_192);
        assert!(vector.reciprocal_length() > 0);
    }
}
