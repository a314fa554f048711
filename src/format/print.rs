//! A row as the TOML file that describes the same format.

use std::fmt::Write as _;

use crate::format::spec::{
    ANY, Begin, Block, Call, End, Failure, Log, Outcome, Row, Rule, Spec, Start, Warn, Weak, Word,
};
use crate::format::support::usage::{Field, Op};

impl Row {
    /// Returns the TOML file that describes the format.
    pub fn to_toml(&self) -> String {
        print(self.0)
    }
}

/// Returns a row as TOML: [`load`](crate::format::load()) reads it. Of what may differ in records
/// that repeat it says nothing, as a user's row can't.
fn print(spec: &Spec) -> String {
    let mut head = Table::default();
    if spec.on.iter().any(|rule| rule.hook.is_some()) {
        head.0.push(
            "# The program has code of its own for what one of these rules reads.".to_owned(),
        );
    }
    head.text("name", spec.name);
    head.list("aliases", spec.aliases);
    head.text("about", spec.about);
    head.text("link", spec.link);
    head.list("evidence", spec.evidence);
    head.list("kind", spec.kind);
    head.table("start", start(&spec.start));
    head.table("session", start(&spec.session));
    let mut detect = Table::default();
    detect.list("has", spec.detect.has);
    detect.list("not", spec.detect.not);
    head.table("detect", detect);
    if let Some(done) = &spec.done {
        let mut table = Table::default();
        table.flag("ends", true);
        table.text("warn", done.warn.map_or("", |code| code.name()));
        table.text("missing", done.missing.map_or("", |code| code.name()));
        head.table("done", table);
    }
    head.flag("hold", spec.hold);
    head.text("executor", spec.executor.map_or("", |executor| executor.name()));
    head.inner("log", spec.log.as_ref().map(log));
    let mut words = Table::default();
    spec.finish_words.iter().for_each(|(word, reason)| words.text(word, reason.name()));
    head.table("finish_words", words);
    let mut out = head.0.join("\n") + "\n";
    rules(spec.on, &mut out);
    for group in spec.groups {
        out.push_str(&format!("\n[group.{}]\n", group.name));
        let mut table = Table::default();
        table.list("kind", group.kind);
        table.flag("encoded", group.encoded);
        table.flag("native", group.native);
        table.0.iter().for_each(|line| out.push_str(&format!("{line}\n")));
        rules(group.on, &mut out);
    }
    let usage = usage(spec);
    if !usage.is_empty() {
        out.push_str(&format!("\n[usage]\n{}\n", usage.join("\n")));
    }
    out
}

fn rules(on: &[Rule], out: &mut String) {
    out.push_str("on = [\n");
    for it in on {
        // Writing to a string never fails.
        let _ = writeln!(out, "  {},", rule(it).inline());
    }
    out.push_str("]\n");
}

fn rule(rule: &Rule) -> Table {
    let mut table = Table::default();
    if rule.kind != ANY {
        table.0.push(format!("kind = {}", quote(rule.kind)));
    }
    table.list("has", rule.has);
    table.list("not", rule.not);
    let mut is = Table::default();
    let said = |(places, words): &(&str, &str)| format!("{} = {}", name(places), quote(words));
    is.0.extend(rule.is.iter().map(said));
    table.table("is", is);
    table.list("needs", rule.needs);
    table.flag("first", rule.first);
    match rule.weak {
        Weak::No => {}
        Weak::Yes => table.flag("weak", true),
        Weak::Without(places) => table.text("weak", places),
    }
    match rule.begin {
        Begin::Late => {}
        Begin::No => table.0.push("begin = false".to_owned()),
        Begin::Yes => table.flag("begin", true),
        Begin::Cut => table.text("begin", "cut"),
    }
    table.flag("prompt", rule.prompt);
    table.flag("release", rule.release);
    table.flag("aside", rule.aside);
    table.flag("whole", rule.whole);
    table.flag("cumulative", rule.cumulative);
    table.text("origin", rule.origin);
    table.text("channel", rule.channel);
    table.text("choice", rule.choice);
    table.list("at", rule.at);
    table.flag("open", rule.open);
    table.flag("close", rule.close);
    table.text("part", if rule.part { "new" } else { "" });
    table.texts(&[
        ("of", rule.of),
        ("role", rule.role),
        ("native", rule.native),
        ("thought", rule.thought),
        ("hidden", rule.hidden),
        ("text", rule.text),
        ("refusal", rule.refusal),
        ("signature", rule.signature),
        ("redacted", rule.redacted),
    ]);
    table.inner("call", rule.call.as_ref().map(call));
    table.inner("result", rule.result.as_ref().map(outcome));
    table.list("each", rule.each);
    table.inner("block", rule.block.as_ref().map(block));
    table.list("blocks", rule.blocks);
    table.inner("rest", rule.rest.as_ref().map(block));
    table.text("call_end", rule.call_end);
    table.inner("warn", rule.warn.as_ref().map(warn));
    table.text("provider_event", rule.provider_event);
    table.list("usage", rule.usage);
    table.flag("total", rule.total);
    table.texts(&[("finish", rule.finish), ("stop_sequence", rule.stop_sequence)]);
    table.inner("error", rule.error.as_ref().map(failure));
    table.flag("stop", rule.stop);
    match rule.end {
        End::No => {}
        End::Yes => table.flag("end", true),
        End::If(places) => table.text("end", places),
        End::Stopped => table.text("end", "stopped"),
    }
    table
}

fn start(start: &Start) -> Table {
    let mut table = Table::default();
    table.texts(&[("id", start.id), ("model", start.model), ("created", start.created)]);
    table.text("late", start.late.map_or("", |code| code.name()));
    table
}

fn log(log: &Log) -> Table {
    let mut table = Table::default();
    table.flag("ends", log.ends);
    table.text("subagent", log.subagent);
    table
}

fn call(call: &Call) -> Table {
    let mut table = Table::default();
    table.list("key", call.key);
    table.texts(&[
        ("id", call.id),
        ("name", call.name),
        ("arguments", call.arguments),
        ("free", call.free),
        ("invalid", call.invalid),
        ("provider", call.provider),
        ("signature", call.signature),
        ("item", call.item),
        ("namespace", call.namespace),
        ("type", call.of_type),
        ("until", if call.until { "other" } else { "" }),
    ]);
    table
}

fn outcome(result: &Outcome) -> Table {
    let mut table = Table::default();
    table.texts(&[
        ("if", result.condition),
        ("id", result.id),
        ("name", result.name),
        ("output", result.output),
        ("is_error", result.is_error),
        ("is_ok", result.is_ok),
    ]);
    table
}

fn block(block: &Block) -> Table {
    let mut table = Table::default();
    table.texts(&[("name", block.name), ("at", block.at), ("text", block.text)]);
    table
}

fn warn(warn: &Warn) -> Table {
    let mut table = Table::default();
    table.texts(&[("code", warn.code.name()), ("text", warn.text)]);
    table
}

fn failure(failure: &Failure) -> Table {
    let mut table = Table::default();
    table.texts(&[("at", failure.at), ("message", failure.message), ("code", failure.code)]);
    table
}

/// Returns the lines of the counts.
fn usage(spec: &Spec) -> Vec<String> {
    let fields = [
        ("input", Field::Input),
        ("output", Field::Output),
        ("total", Field::Total),
        ("cached", Field::Cached),
        ("cache_write", Field::CacheWrite),
        ("reasoning", Field::Reasoning),
    ];
    let mut table = Table::default();
    for (name, field) in fields {
        let of_field = || spec.usage.iter().filter(|(_, _, of)| of.contains(&field));
        let adds = of_field().any(|(_, op, _)| *op == Op::Adds);
        let places: Vec<&str> = of_field().map(|(places, ..)| *places).collect();
        table.text(name, &places.join(if adds { " + " } else { "|" }));
    }
    let kept = spec.usage.iter().filter(|(_, _, of)| of.is_empty()).map(|(places, ..)| *places);
    table.list("keep", &kept.collect::<Vec<_>>());
    table.0
}

/// The members of a table, but for those that say nothing.
#[derive(Default)]
struct Table(Vec<String>);

impl Table {
    fn text(&mut self, key: &str, text: &str) {
        if !text.is_empty() {
            self.0.push(format!("{} = {}", name(key), quote(text)));
        }
    }

    fn texts(&mut self, all: &[(&str, Word)]) {
        all.iter().for_each(|(key, text)| self.text(key, text));
    }

    fn list(&mut self, key: &str, all: &[Word]) {
        match all {
            [] => {}
            [one] if key != "aliases" && key != "evidence" => self.text(key, one),
            all => {
                let all: Vec<_> = all.iter().map(|text| quote(text)).collect();
                self.0.push(format!("{key} = [{}]", all.join(", ")));
            }
        }
    }

    fn flag(&mut self, key: &str, flag: bool) {
        if flag {
            self.0.push(format!("{key} = true"));
        }
    }

    fn table(&mut self, key: &str, table: Table) {
        if !table.0.is_empty() {
            self.0.push(format!("{key} = {}", table.inline()));
        }
    }

    fn inner(&mut self, key: &str, table: Option<Table>) {
        if let Some(table) = table {
            self.0.push(format!("{key} = {}", table.inline()));
        }
    }

    fn inline(&self) -> String {
        if self.0.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", self.0.join(", ")) }
    }
}

/// Returns a key, in quotes if it needs them.
fn name(key: &str) -> String {
    let is_bare = key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    if is_bare { key.to_owned() } else { quote(key) }
}

fn quote(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}
