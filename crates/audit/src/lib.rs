//! What happened, provably: the records, their chain and their store.
