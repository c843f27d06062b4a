//! A store that other users of the machine could write.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use callgate_testkit::upstream::{Answer, Upstream};

use crate::support::{ALLOW, setup};

#[test]
fn a_store_that_everybody_can_write_is_not_used() {
    let upstream = Upstream::always(Answer::json(200, "{}"));
    let chmod =
        |path: &Path, mode| fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    let table = [
        ("callgate.db", 0o666),
        ("callgate.db.state", 0o602),
        ("callgate.db.journal", 0o770),
        ("callgate.db.journal/000000000001.log", 0o620),
        (".", 0o777),
    ];
    for (name, mode) in table {
        let setup = setup(&upstream, ALLOW, "");
        let path = setup.folder().join(name);
        // It makes the store.
        assert!(setup.run(&["keys", "add", "ci"]).status.success());
        let store = setup.folder().join("callgate.db");
        assert_eq!(fs::metadata(store).unwrap().permissions().mode() & 0o777, 0o600);
        chmod(&path, mode);
        let ran = setup.run(&["keys", "add", "other"]);
        assert!(!ran.status.success(), "{name} {mode:o}");
        let said = setup.try_start().expect_err("it starts");
        assert!(said.contains("can be written by other users"), "{name}: {said}");
        assert!(said.contains("hint: run `chmod go-w"), "{said}");
    }
    // Users who can write to `/tmp` cannot replace the files of others there.
    let setup = setup(&upstream, ALLOW, "");
    chmod(setup.folder(), 0o1777);
    setup.start();
}

/// Who can write the folder of a link, or the one it leads to, can put another store there.
#[test]
fn a_store_behind_a_link_is_looked_at_where_it_lies() {
    let upstream = Upstream::always(Answer::json(200, "{}"));
    let chmod =
        |path: &Path, mode| fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    // The folder that the link to a store, or to its folder, leads to.
    for (mode, is_used) in [(0o777, false), (0o755, true), (0o1777, true)] {
        for of_folder in [false, true] {
            let elsewhere = tempfile::tempdir().unwrap();
            chmod(elsewhere.path(), mode);
            let setup = setup(&upstream, ALLOW, "");
            let link = setup.folder().join("callgate.db");
            let target = match of_folder {
                false => elsewhere.path().join("store.db"),
                true => {
                    // A link on the way: the folder with the link in it counts.
                    let real = setup.folder().join("real");
                    fs::create_dir(&real).unwrap();
                    symlink(&real, elsewhere.path().join("way")).unwrap();
                    elsewhere.path().join("way/store.db")
                }
            };
            fs::write(&target, "").unwrap();
            chmod(&target, 0o600);
            symlink(&target, &link).unwrap();
            let ran = setup.run(&["keys", "add", "ci"]);
            let said = String::from_utf8_lossy(&ran.stderr).into_owned();
            assert_eq!(ran.status.success(), is_used, "{mode:o} {of_folder}: {said}");
            assert!(is_used || said.contains("can be written by other users"), "{said}");
        }
    }
}
