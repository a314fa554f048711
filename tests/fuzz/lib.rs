//! The fuzz targets' checks, and the run that they share with the tests.

pub mod checks;
#[path = "../it/run.rs"]
mod run;
