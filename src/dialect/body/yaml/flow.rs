//! Flow style: lists and maps in brackets.

use crate::dialect::body::yaml::{Kind, Reader, types};
use crate::tools::Schema;

impl<'s> Reader<'_, 's> {
    /// Reads a list or a map in brackets; further lines begin at the `least`
    /// column.
    pub(super) fn flow(&mut self, least: usize, schema: Option<Schema<'s>>) -> Option<()> {
        let outside = self.open.len();
        self.flow_begin(schema)?;
        loop {
            self.space(least)?;
            let kind = self.open.last()?.kind;
            let close = if kind == Kind::Map { '}' } else { ']' };
            if self.lines.take(close).is_some() {
                self.close();
            } else {
                let schema = match kind {
                    Kind::List => self.item()?,
                    Kind::Map => self.flow_key(least)?,
                };
                if let Some('[' | '{') = self.lines.peek() {
                    self.flow_begin(schema)?;
                    continue;
                }
                self.line_scalar(least, true, schema)?;
            }
            let Some(open) = self.open.get(outside..).and_then(<[_]>::last) else {
                return Some(());
            };
            let close = if open.kind == Kind::Map { '}' } else { ']' };
            self.space(least)?;
            if self.lines.peek() != Some(close) {
                self.lines.take(',')?;
            }
        }
    }

    fn flow_begin(&mut self, schema: Option<Schema<'s>>) -> Option<()> {
        let kind = if self.lines.peek() == Some('{') { Kind::Map } else { Kind::List };
        self.lines.skip(1);
        self.begin(kind, 0, schema)
    }

    /// Reads a key and its colon. Where there is no colon, or no value, it isn't
    /// read.
    fn flow_key(&mut self, least: usize) -> Option<Option<Schema<'s>>> {
        let key = match self.lines.peek()? {
            '"' | '\'' => self.lines.quoted(usize::MAX)?,
            _ => self.lines.plain(usize::MAX, true).filter(|key| types::is_key(key))?,
        };
        self.space(least)?;
        self.lines.take(':')?;
        let schema = self.member(&key)?;
        self.space(least)?;
        Some(schema)
    }

    /// Passes blanks, comments and line ends.
    fn space(&mut self, least: usize) -> Option<()> {
        self.lines.blanks();
        if !self.lines.is_over() {
            return Some(());
        }
        self.lines.end()?;
        let column = self.lines.indentation()??;
        // Many close a bracket at the column of its key.
        let is_closer = self.lines.rest.starts_with(['}', ']']);
        (column + usize::from(is_closer) >= least).then_some(())
    }
}
