//! What the exchange whose paths are borrowed would charge. It is shown beside trades and charged to nobody.

use super::{money::Money, price::Cents};

/// How finely a fee is rounded up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grid {
    Cent,
    Unit,
}

/// Whether an order took or was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Taker,
    Maker,
}

/// `rate × count × price × (1 − price)`, rounded up, with a rate of 0.07 for takers and 0.0175 for makers.
pub fn estimate(role: Role, count: u32, price: Cents, grid: Grid) -> Money {
    // Rates in units of 0.0001.
    let rate: i128 = match role {
        Role::Taker => 700,
        Role::Maker => 175,
    };
    let (count, price) = (i128::from(count), i128::from(price.get()));
    // In units of $0.0001 × 0.0001: cents times cents is already that, and the rate has four digits more.
    let exact = rate * count * price * (100 - price);
    let step = match grid {
        Grid::Cent => 1_000_000,
        Grid::Unit => 10_000,
    };
    let units = (exact + step - 1) / step * (step / 10_000);
    Money::from_units(i64::try_from(units).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fees_are_those_of_the_public_table() {
        // Count, price; in units of $0.0001: taker to the cent, taker to the unit, maker to the cent.
        let table = [
            (1, 50, 200, 175, 100),
            (10, 50, 1_800, 1_750, 500),
            (100, 50, 17_500, 17_500, 4_400),
            (1, 1, 100, 7, 100),
            (100, 5, 3_400, 3_325, 900),
            (100, 99, 700, 693, 200),
            (7, 33, 1_100, 1_084, 300),
        ];
        for (count, cents, to_cent, to_unit, maker) in table {
            let price = Cents::new(cents).unwrap();
            let fee = |role, grid| estimate(role, count, price, grid).units();
            assert_eq!(
                [fee(Role::Taker, Grid::Cent), fee(Role::Taker, Grid::Unit), fee(Role::Maker, Grid::Cent)],
                [to_cent, to_unit, maker],
                "{count} at {cents}"
            );
        }
        let most = estimate(Role::Taker, u32::MAX, Cents::new(50).unwrap(), Grid::Cent);
        assert_eq!(most.to_string(), "75161927.67");
    }
}
