# Thin names for `cargo xtask`; `just` lists them.

_default:
    @just --list --unsorted

# formatting, lints, the quick tests: under a minute when warm
check:
    cargo xtask check

# what a change must pass; installs what it needs
test:
    cargo xtask test

# and what a release must pass
test-all:
    cargo xtask test --all

# exactly what CI runs
ci:
    .ci/run

# speed of the hot paths and of the gateway
bench:
    cargo xtask bench

# every fuzz target, or one
fuzz seconds="60" target="":
    cargo xtask fuzz {{seconds}} {{target}}

# crate directions, left-over markers, links, file sizes
tidy:
    cargo xtask tidy

# tests of one crate: `just crate dialect`
crate name:
    cargo test --package callgate-{{name}}
