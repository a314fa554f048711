//! What needs Unix, on machines that are not: it says so.

use std::io;

use anyhow::bail;

use crate::cli::{Agent, Replay, Running, Tools};
use crate::commands::service::Service;
use crate::format::turn::Declaration;
use crate::io::Signals;
use crate::request::{CallResult, LastMessage};
use crate::sink::Sink;

/// Fails: this needs what only Unix has.
fn needs_unix<T>(what: &str) -> anyhow::Result<T> {
    bail!("`{what}` needs Unix: use Linux, macOS, FreeBSD or WSL")
}

pub(super) fn agent(_: &Agent) -> anyhow::Result<u8> {
    needs_unix("agent")
}

pub(super) fn listen(_: Service, _: &str, _: &Replay, _: &Signals) -> anyhow::Result<u8> {
    needs_unix("replay --listen")
}

pub(super) fn review<T>(_: &mut [T], _: &Signals) -> anyhow::Result<()> {
    needs_unix("check --review")
}

pub(super) fn tools(_: &Tools) -> anyhow::Result<u8> {
    needs_unix("tools")
}

/// No tools.
pub(super) struct LocalTools;

impl LocalTools {
    pub(super) fn new(args: &Running) -> anyhow::Result<Self> {
        if args.tools.is_some() { needs_unix("next --tools") } else { Ok(LocalTools) }
    }

    pub(super) fn declarations(&self) -> Vec<Declaration> {
        Vec::new()
    }

    pub(super) fn listen(&self) -> io::Result<Signals> {
        Signals::listen()
    }

    pub(super) fn run(
        &self,
        _: &LastMessage,
        _: &Signals,
        _: &mut dyn Sink,
    ) -> anyhow::Result<Option<Vec<CallResult>>> {
        Ok(None)
    }
}
