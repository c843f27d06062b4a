//! zstd, by the reference library: a sequence of frames, including skippable ones.

use zstd_safe::{DCtx, DParameter, InBuffer, OutBuffer};

use super::{Coding, CodingError, CodingStep};

pub(super) struct Zstd {
    /// `None` if it could not be set up because of missing memory; then nothing can be decoded.
    context: Option<DCtx<'static>>,
    /// Whether the last frame is complete and all of it was returned.
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

    pub(super) fn step(&mut self, input: &[u8], out: &mut [u8]) -> Result<CodingStep, CodingError> {
        // If it were called here, the library would report the next frame as begun.
        if self.between && input.is_empty() {
            return Ok(CodingStep { consumed: 0, produced: 0 });
        }
        let corrupt = CodingError::Corrupt(Coding::Zstd);
        let context = self.context.as_mut().ok_or(corrupt)?;
        let mut source = InBuffer::around(input);
        let mut target = OutBuffer::around(out);
        let hint = context.decompress_stream(&mut target, &mut source).map_err(|_| corrupt)?;
        self.between = hint == 0;
        Ok(CodingStep { consumed: source.pos(), produced: target.pos() })
    }
}

/// 8 MiB: the largest window that RFC 9659 allows in a content coding.
const WINDOW_LOG: u32 = 23;
