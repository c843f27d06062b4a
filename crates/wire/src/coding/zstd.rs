//! zstd, by the reference library: frames after frames, skippable ones among them.

use zstd_safe::{DCtx, DParameter, InBuffer, OutBuffer};

use super::{Coding, CodingError, Step};

pub(super) struct Zstd {
    /// `None` if it could not be set up, for want of memory; then nothing can be decoded.
    context: Option<DCtx<'static>>,
    /// Whether the last frame is complete and all of it was handed out.
    between: bool,
}

impl Zstd {
    pub(super) fn new() -> Self {
        let context = DCtx::try_create().and_then(|mut context| {
            context.set_parameter(DParameter::WindowLogMax(WINDOW_LOG)).ok()?;
            Some(context)
        });
        Self { context, between: true }
    }

    pub(super) fn at_end(&self) -> bool {
        self.between
    }

    pub(super) fn step(&mut self, input: &[u8], out: &mut [u8]) -> Result<Step, CodingError> {
        // Asked again here, the library would report the frame to come as begun.
        if self.between && input.is_empty() {
            return Ok(Step { consumed: 0, produced: 0 });
        }
        let corrupt = CodingError::Corrupt(Coding::Zstd);
        let context = self.context.as_mut().ok_or(corrupt)?;
        let mut source = InBuffer::around(input);
        let mut target = OutBuffer::around(out);
        let hint = context.decompress_stream(&mut target, &mut source).map_err(|_| corrupt)?;
        self.between = hint == 0;
        Ok(Step { consumed: source.pos(), produced: target.pos() })
    }
}

/// 8 MiB: the largest window RFC 9659 lets a server use in a content coding.
const WINDOW_LOG: u32 = 23;
