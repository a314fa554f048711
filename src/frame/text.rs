//! Plain text: each read is a frame.

use std::io;

use crate::frame::framer::{Content, Frame, FrameOut, Framed, Framer, Framing, Holds, Sniff};

pub(super) static FRAMING: Framing = Framing {
    name: "text",
    about: "plain text, as it comes",
    content: Content::Text,
    ends_with_done: false,
    holds: Holds::Stream,
    sniff: |_| Sniff::Yes,
    framer: |_| Box::new(TextFramer { offset: 0 }),
    media_type: "text/plain; charset=utf-8",
    idle: "",
    add: None,
};

struct TextFramer {
    offset: u64,
}

impl Framer for TextFramer {
    fn step<'b>(&mut self, bytes: &'b [u8], out: &mut FrameOut<'_>) -> io::Result<&'b [u8]> {
        let offset = self.offset;
        self.offset += bytes.len() as u64;
        out(Framed::Frame(Frame::new(&FRAMING, bytes, offset)))?;
        Ok(&[])
    }

    fn finish(&mut self, _: &mut FrameOut<'_>) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::framer::FrameConfig;

    #[test]
    fn every_read_is_a_frame_with_its_place() {
        let mut framer = (FRAMING.framer)(FrameConfig::default());
        let mut frames = Vec::new();
        let mut out = |framed: Framed<'_>| {
            let Framed::Frame(frame) = framed else { panic!("{framed:?}") };
            frames.push((frame.offset, frame.data.to_vec()));
            Ok(())
        };
        for read in ["ab", "c", "de"] {
            framer.feed(read.as_bytes(), &mut out).unwrap();
        }
        assert_eq!(frames, [(0, b"ab".to_vec()), (2, b"c".to_vec()), (3, b"de".to_vec())]);
    }
}
