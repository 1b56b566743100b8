//! The documents kind over real folders: what is found, what is kept, what survives.

mod calibration;
mod contributions;
mod damage;
mod expansion;
mod refresh;
mod support;
