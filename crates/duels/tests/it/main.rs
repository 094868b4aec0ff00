//! Duels on real stores of both engines, through the same first step and commands as the doors.

mod contract;
mod cursors;
mod deadlines;
mod histories;
mod model;
mod publics;
mod rates;
mod scripts;
mod world;
