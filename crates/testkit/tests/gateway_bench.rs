//! The gateway's benchmark works from end to end. No time is judged here: the program itself
//! compares every byte that arrives with what was sent, and fails if one differs.

use std::path::{Path, PathBuf};
use std::process::Command;

#[test]
fn every_frame_arrives_through_every_proxy() {
    let Some(bench) = built("examples/gateway") else {
        callgate_testkit::skipped("the example `gateway` is not built; `cargo test` builds it");
        return;
    };
    let mut proxies = "direct,bytecopy".to_owned();
    let mut command = Command::new(bench);
    command.arg("--quick");
    match built("callgate").filter(|binary| can_serve(binary)) {
        Some(binary) => {
            proxies += ",callgate,callgate-disk,callgate-off";
            command.arg("--callgate").arg(binary);
        }
        None => eprintln!("without callgate: its binary is not built; a test of all crates does"),
    }
    let done = command.args(["--proxies", &proxies]).output().unwrap();
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success(), "{said}\n{}", String::from_utf8_lossy(&done.stderr));
    assert!(said.contains("every frame arrived as it was sent"), "{said}");
}

/// What cargo built next to the folder `deps`, which contains this test.
fn built(name: &str) -> Option<PathBuf> {
    let us = std::env::current_exe().ok()?;
    Some(us.parent()?.parent()?.join(name)).filter(|path| path.exists())
}

/// Whether a binary is of a version that has a gateway: one may lie there from an earlier build.
fn can_serve(binary: &Path) -> bool {
    let help = Command::new(binary).args(["serve", "--help"]).output();
    help.is_ok_and(|done| done.status.success())
}
