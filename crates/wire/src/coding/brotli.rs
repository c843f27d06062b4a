//! brotli, with the windows of RFC 7932 only: the large-window extension is not a content coding,
//! and would let a few bytes claim a gigabyte.

use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState, StandardAlloc};

use super::{Coding, CodingError, CodingStep};

pub(super) struct Brotli {
    state: Box<BrotliState<StandardAlloc, StandardAlloc, StandardAlloc>>,
    ended: bool,
}

impl Brotli {
    pub(super) fn new() -> Self {
        let alloc = StandardAlloc::default;
        Self { state: Box::new(BrotliState::new_strict(alloc(), alloc(), alloc())), ended: false }
    }

    pub(super) fn at_end(&self) -> bool {
        self.ended
    }

    pub(super) fn step(&mut self, input: &[u8], out: &mut [u8]) -> Result<CodingStep, CodingError> {
        let (mut left, mut room) = (input.len(), out.len());
        let mut step = CodingStep { consumed: 0, produced: 0 };
        let mut total = 0;
        // If it is called again after its end, it reports success again and consumes nothing.
        let result = BrotliDecompressStream(
            &mut left,
            &mut step.consumed,
            input,
            &mut room,
            &mut step.produced,
            out,
            &mut total,
            &mut self.state,
        );
        match result {
            BrotliResult::ResultFailure => return Err(CodingError::Corrupt(Coding::Brotli)),
            BrotliResult::ResultSuccess => self.ended = true,
            BrotliResult::NeedsMoreInput | BrotliResult::NeedsMoreOutput => {}
        }
        if self.ended && step.consumed == 0 && step.produced == 0 && !input.is_empty() {
            return Err(CodingError::Trailing(Coding::Brotli));
        }
        Ok(step)
    }
}
