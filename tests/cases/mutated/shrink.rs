//! A find made small: what the law is broken without is left out.

use std::time::{Duration, Instant};

use toolstream::internals::{self, stretches};

use crate::Law;
use crate::case::Case;
use crate::mutated::broken;
use crate::mutated::parts::parts;

/// How long a find is made smaller.
const TIME: Duration = Duration::from_secs(60);

/// Returns the smallest input, and the fewest arguments, that are found to break a law.
pub(super) fn shrink(case: &Case, law: &Law) -> Case {
    let bare = case.again(case.input.clone(), Vec::new());
    let args = if broken(law, &bare).is_some() { Vec::new() } else { case.args.clone() };
    let bytes = |input: &[u8]| input.iter().map(|byte| vec![*byte]).collect();
    let mut holds = |input: &[u8]| broken(law, &case.again(input.to_vec(), args.clone())).is_some();
    let end = Instant::now() + TIME;
    let small = internals::shrink(&case.input, &[&parts, &stretches, &bytes], end, &mut holds);
    case.again(small, args)
}
