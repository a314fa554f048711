//! The fuzz targets' checks, and the run that they share with the tests.

pub mod checks;
#[allow(dead_code)]
#[path = "../cases/run.rs"]
mod run;
