//! See `checks::codec_parameters`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| toolstream_fuzz::checks::codec_parameters(bytes));
