//! A find made small: what the law is broken without is left out.

use crate::Law;
use crate::case::Case;
use crate::mutated::broken;
use crate::mutated::parts::{parts, tokens};

/// The most inputs that are tried for one find.
const TRIES: usize = 4000;

/// Returns the smallest input, and the fewest arguments, that are found to break a law.
pub(super) fn shrink(case: &Case, law: &Law) -> Case {
    let mut best = case.again(case.input.clone(), case.args.clone());
    let mut tries = 0;
    let mut breaks = |case: &Case| {
        tries += 1;
        tries < TRIES && broken(law, case).is_some()
    };
    let bare = best.again(best.input.clone(), Vec::new());
    if breaks(&bare) {
        best = bare;
    }
    loop {
        let before = best.input.len();
        for split in [parts, stretches, bytes] {
            let mut pieces = split(&best.input);
            let mut size = pieces.len().div_ceil(2);
            while size > 0 {
                let mut at = 0;
                while at < pieces.len() {
                    let mut fewer = pieces.clone();
                    fewer.drain(at..pieces.len().min(at + size));
                    let smaller = best.again(fewer.concat(), best.args.clone());
                    if breaks(&smaller) {
                        (best, pieces) = (smaller, fewer);
                    } else {
                        at += size;
                    }
                }
                size /= 2;
            }
        }
        if best.input.len() == before {
            return best;
        }
    }
}

fn stretches(input: &[u8]) -> Vec<Vec<u8>> {
    tokens(input).into_iter().map(<[u8]>::to_vec).collect()
}

fn bytes(input: &[u8]) -> Vec<Vec<u8>> {
    input.iter().map(|byte| vec![*byte]).collect()
}
