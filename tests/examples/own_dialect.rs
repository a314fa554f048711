//! A dialect of one's own: how a model that nobody knows writes its calls and its thoughts.
//!
//! ```sh
//! cargo run --example own_dialect < answer.txt
//! ```

use std::error::Error;
use std::io::{self, Read, Write};

use toolstream::dialect::{Selection, load};
use toolstream::sink::{Join, Label, Ndjson};
use toolstream::{Config, Pipeline};

/// What `-d FILE` reads.
const DIALECT: &str = r#"
name = "house"

[tags]
scratch = "reasoning"

[[call]]
open = "@call {name}{ws}"
close = "@end"
body = "arguments"
"#;

fn main() -> Result<(), Box<dyn Error>> {
    run(io::stdin().lock(), io::stdout().lock())
}

pub(crate) fn run(mut input: impl Read, output: impl Write) -> Result<(), Box<dyn Error>> {
    let config = Config { dialect: Selection::Row(load(DIALECT)?), ..Config::default() };
    let mut sink = Join::new(Ndjson::new(output, Label::default()));
    let mut pipeline = Pipeline::new(&config);
    let mut bytes = Vec::new();
    input.read_to_end(&mut bytes)?;
    pipeline.feed(&bytes, &mut sink)?;
    Ok(pipeline.finish(&mut sink)?)
}
