//! How far a response is.

use callgate_dialect::Blame;

use crate::Ending;

/// How far a response is.
///
/// ```text
///             fail               the error is written        the driver asks
///   Passing ────────► Failing ─────────────────────► Closed ─────────────────► Ended
///      │                 └── stop, end_without_answer ─►▲
///      └──────────────────── close, stop ───────────────┘
/// ```
///
/// What has failed does not end well because the upstream ends afterwards.
#[derive(Debug)]
pub(crate) struct ResponseProgress(ProgressState);

#[derive(Debug)]
enum ProgressState {
    /// Frames are read.
    Passing,
    /// An error ends it: the error is written next, and nothing more is read.
    Failing(Failure),
    /// Everything was written; the driver gets the ending next.
    Closed(Ending),
    /// The driver has received the ending.
    Ended(Ending),
}

/// An error that ends a response.
#[derive(Debug, Clone)]
pub(crate) struct Failure {
    pub(crate) blame: Blame,
    pub(crate) message: String,
    pub(crate) form: FailureForm,
}

/// How an error is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FailureForm {
    /// As the last event of a stream.
    Event,
    /// As a body.
    Body,
}

impl ResponseProgress {
    pub(crate) fn new() -> Self {
        Self(ProgressState::Passing)
    }

    #[inline]
    pub(crate) fn is_passing(&self) -> bool {
        matches!(self.0, ProgressState::Passing)
    }

    /// The error that is written next.
    pub(crate) fn failure(&self) -> Option<&Failure> {
        match &self.0 {
            ProgressState::Failing(failure) => Some(failure),
            ProgressState::Passing | ProgressState::Closed(_) | ProgressState::Ended(_) => None,
        }
    }

    /// An error ends the response, unless it has ended.
    pub(crate) fn fail(&mut self, failure: Failure) {
        if self.is_passing() {
            self.0 = ProgressState::Failing(failure);
        }
    }

    /// Everything was written, unless the response has failed or ended.
    pub(crate) fn close(&mut self, ending: Ending) {
        if self.is_passing() {
            self.0 = ProgressState::Closed(ending);
        }
    }

    /// A text rule has stopped the response, and its ending was written. An error that is not
    /// written yet is not needed then.
    pub(crate) fn stop(&mut self) {
        if let ProgressState::Passing | ProgressState::Failing(_) = self.0 {
            self.0 = ProgressState::Closed(Ending::Blocked);
        }
    }

    /// The error was written.
    pub(crate) fn close_failed(&mut self) {
        if let ProgressState::Failing(failure) = &mut self.0 {
            let ending = Ending::Error(std::mem::take(&mut failure.message));
            self.0 = ProgressState::Closed(ending);
        }
    }

    /// The response ends well in spite of the error, without the answer that failed.
    pub(crate) fn end_without_answer(&mut self) {
        if let ProgressState::Failing(_) = self.0 {
            self.0 = ProgressState::Closed(Ending::Clean);
        }
    }

    /// The ending for the driver, once everything was written.
    pub(crate) fn hand_out(&mut self) -> Option<Ending> {
        let ending = match &self.0 {
            ProgressState::Closed(ending) | ProgressState::Ended(ending) => ending.clone(),
            ProgressState::Passing | ProgressState::Failing(_) => return None,
        };
        self.0 = ProgressState::Ended(ending.clone());
        Some(ending)
    }
}
