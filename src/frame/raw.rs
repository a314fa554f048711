//! Plain text: what was read is a frame.

use std::io;

use super::{Frame, FrameOut, Framer, Framing, Sniff};

pub(super) static FRAMING: Framing = Framing {
    name: "text",
    about: "plain text, as it comes",
    sniff: |_| Sniff::Yes,
    framer: |_| Box::new(Raw { offset: 0 }),
};

struct Raw {
    offset: u64,
}

impl Framer for Raw {
    fn feed(&mut self, bytes: &[u8], out: &mut FrameOut<'_>) -> io::Result<()> {
        let offset = self.offset;
        self.offset += bytes.len() as u64;
        out.frame(Ok(Frame {
            framing: FRAMING.name,
            event_type: "",
            headers: &[],
            data: bytes,
            id: "",
            offset,
        }))
    }

    fn finish(&mut self, _: &mut FrameOut<'_>) -> io::Result<()> {
        Ok(())
    }
}
