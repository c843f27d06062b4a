//! Tests of the crate as a whole.

mod actors;
mod broken;
mod calls;
mod combine;
mod effects;
mod equivalence;
mod explain;
mod extra;
mod findings;
mod go;
mod operators;
mod permits;
mod protect;
mod pydantic;
mod python_sdk;
mod roles;
mod sanitize;
mod scope;
mod sketch;
mod starter;
mod steps;
mod support;
mod text;
mod tools;
mod waiting;
mod wrappers;
