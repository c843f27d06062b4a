//! Text in, findings out: secrets, so that none is written or shown.
