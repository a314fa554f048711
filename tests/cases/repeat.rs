//! The output is the same with and without the layer of repeats: of each case,
//! and of each case with every record three times.

use toolstream::Config;

use crate::case::{Case, Print, run};

#[track_caller]
pub(crate) fn check(name: &str, config: &Config, input: &[u8], sizes: &[usize]) {
    let plain = Config { repeat: false, ..config.clone() };
    let expected = run(&plain, Print::Joined, [input]);
    for &size in sizes {
        let got = run(config, Print::Joined, input.chunks(size));
        assert_eq!(got, expected, "{name} in reads of {size}");
    }
    let whole = run(config, Print::Events, [input]);
    assert_eq!(whole, run(&plain, Print::Events, [input]), "{name}, not joined");
}

/// Returns an input with each record three times.
fn stutter(input: &[u8]) -> Vec<u8> {
    let end: &[u8] = if input.windows(2).any(|ends| ends == b"\n\n") { b"\n\n" } else { b"\n" };
    let mut out = Vec::new();
    let mut rest = input;
    while let Some(at) = rest.windows(end.len()).position(|bytes| bytes == end) {
        let (record, tail) = rest.split_at(at + end.len());
        (0..3).for_each(|_| out.extend_from_slice(record));
        rest = tail;
    }
    out.extend_from_slice(rest);
    out
}

pub(crate) fn changes_nothing(case: &Case) -> bool {
    // A turn is made of every record.
    let config = Config { turn: false, ..case.full_config() };
    check("as it is", &config, &case.input, &[1, 7, 100, 4096]);
    check("stuttering", &config, &stutter(&case.input), &[64, 65536]);
    true
}
