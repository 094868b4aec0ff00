//! How often what costs or could be guessed may be tried. A proxy on the same machine speaks for many, so that
//! loopback counts for nobody.

use store::limits::{Window, Windows};

const MINUTE_MS: i64 = 60_000;
const HOUR_MS: i64 = 60 * MINUTE_MS;
const DAY_MS: i64 = 24 * HOUR_MS;

const fn windows(short: (u32, i64), long: (u32, i64)) -> Windows {
    Windows {
        short: Window { max: short.0, span_ms: short.1 },
        long: Window { max: long.0, span_ms: long.1 },
    }
}

/// Passwords tried for one nickname.
pub const PASSWORDS_OF_NICKNAME: Windows = windows((10, 15 * MINUTE_MS), (50, DAY_MS));
/// Passwords tried from one address, which may be of many people.
pub const PASSWORDS_OF_ADDRESS: Windows = windows((50, 15 * MINUTE_MS), (500, DAY_MS));
/// Ceremonies of passkeys that begin, from one address.
pub const PASSKEYS_OF_ADDRESS: Windows = windows((50, 15 * MINUTE_MS), (500, DAY_MS));
/// Passkeys tried of one person.
pub const PASSKEYS_OF_PERSON: Windows = windows((20, 15 * MINUTE_MS), (200, DAY_MS));
/// New people from one address.
pub const SIGN_UPS_OF_ADDRESS: Windows = windows((10, HOUR_MS), (50, DAY_MS));
/// Pairing codes typed by one person.
pub const CODES_OF_PERSON: Windows = windows((10, 15 * MINUTE_MS), (40, DAY_MS));
/// Command lines that begin to wait, from one address.
pub const PAIRINGS_OF_ADDRESS: Windows = windows((20, 15 * MINUTE_MS), (200, DAY_MS));
/// Clients that register from one address, and from all together.
pub const CLIENTS_OF_ADDRESS: Windows = windows((20, HOUR_MS), (100, DAY_MS));
pub const CLIENTS_OF_ALL: Windows = windows((500, HOUR_MS), (5_000, DAY_MS));
