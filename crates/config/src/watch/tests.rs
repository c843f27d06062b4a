use std::os::unix::fs::symlink;
use std::sync::mpsc::{Receiver, channel};

use tempfile::TempDir;

use super::*;

/// Longer than a look takes on a busy machine.
const SOON: Duration = Duration::from_secs(120);

/// Quick enough that a look has happened, were there a reason.
const NOT_YET: Duration = Duration::from_millis(700);

/// Never within a test: what is found was noticed.
const NOTICES_ONLY: WatchDelays = WatchDelays { poll: Duration::from_secs(600), ..PACE };

struct Place {
    dir: TempDir,
}

impl Place {
    fn new() -> Self {
        Self { dir: TempDir::new().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    /// As editors do it.
    fn replace(&self, name: &str, text: &str) {
        self.write(".new~", text);
        fs::rename(self.path(".new~"), self.path(name)).unwrap();
    }

    fn watch(&self, names: &[&str]) -> (Watch, Receiver<()>) {
        self.watch_with(names, NOTICES_ONLY, Notices::On)
    }

    fn watch_with(
        &self,
        names: &[&str],
        pace: WatchDelays,
        notices: Notices,
    ) -> (Watch, Receiver<()>) {
        let watched = names.iter().map(|name| match crate::glob::is_glob(name) {
            true => Watched::glob(FileGlob::new(&self.path(name)).unwrap()),
            false => Watched::file(&self.path(name)),
        });
        let (sender, receiver) = channel();
        let on_change = move || {
            sender.send(()).unwrap();
            None
        };
        let watch = Watch::start_with(watched.collect(), pace, notices, on_change).unwrap();
        (watch, receiver)
    }
}

#[track_caller]
fn changed(receiver: &Receiver<()>) {
    receiver.recv_timeout(SOON).expect("a change is reported");
}

#[track_caller]
fn unchanged(receiver: &Receiver<()>) {
    assert!(receiver.recv_timeout(NOT_YET).is_err(), "nothing changed");
}

#[test]
fn renamed_over_twice() {
    let place = Place::new();
    place.write("p.yaml", "one");
    let (_watch, changes) = place.watch(&["p.yaml"]);
    place.replace("p.yaml", "two");
    changed(&changes);
    place.replace("p.yaml", "three");
    changed(&changes);
    unchanged(&changes);
}

#[test]
fn written_in_place() {
    let place = Place::new();
    place.write("p.yaml", "one");
    let (_watch, changes) = place.watch(&["p.yaml"]);
    place.write("p.yaml", "two");
    changed(&changes);
    unchanged(&changes);
}

#[test]
fn the_same_content_is_no_change() {
    let place = Place::new();
    place.write("p.yaml", "one");
    let (watch, changes) = place.watch(&["p.yaml"]);
    place.replace("p.yaml", "one");
    place.write("other.yaml", "two");
    fs::read(place.path("p.yaml")).unwrap();
    unchanged(&changes);
    watch.trigger();
    changed(&changes);
}

#[test]
fn deleted_and_made_again() {
    let place = Place::new();
    fs::create_dir(place.path("sub")).unwrap();
    place.write("sub/p.yaml", "one");
    let (_watch, changes) = place.watch(&["sub/p.yaml"]);
    fs::remove_file(place.path("sub/p.yaml")).unwrap();
    changed(&changes);
    place.write("sub/p.yaml", "one");
    changed(&changes);
    fs::remove_dir_all(place.path("sub")).unwrap();
    changed(&changes);
    fs::create_dir(place.path("sub")).unwrap();
    // The folder is noticed first, and watched only then: a file written in between may go unseen.
    let noticed = (0..100).any(|number| {
        place.write("sub/p.yaml", &format!("two, written {number} times before"));
        changes.recv_timeout(NOT_YET).is_ok()
    });
    assert!(noticed, "a change is reported");
}

/// As Kubernetes mounts a config: the file links through `..data`, which is turned.
#[test]
fn a_link_that_is_turned() {
    let place = Place::new();
    for (folder, text) in [("..1", "one"), ("..2", "two"), ("..3", "three")] {
        fs::create_dir(place.path(folder)).unwrap();
        place.write(&format!("{folder}/p.yaml"), text);
    }
    symlink("..1", place.path("..data")).unwrap();
    symlink("..data/p.yaml", place.path("p.yaml")).unwrap();
    let (_watch, changes) = place.watch(&["p.yaml"]);
    for folder in ["..2", "..3"] {
        symlink(folder, place.path("..tmp")).unwrap();
        fs::rename(place.path("..tmp"), place.path("..data")).unwrap();
        changed(&changes);
    }
    place.write("..3/p.yaml", "four");
    changed(&changes);
    place.write("..1/p.yaml", "nobody looks here");
    unchanged(&changes);
}

#[test]
fn the_target_of_a_link_elsewhere() {
    let (place, elsewhere) = (Place::new(), Place::new());
    elsewhere.write("real.yaml", "one");
    symlink(elsewhere.path("real.yaml"), place.path("p.yaml")).unwrap();
    let (_watch, changes) = place.watch(&["p.yaml"]);
    elsewhere.replace("real.yaml", "two");
    changed(&changes);
    symlink("p.yaml", place.path("circle.yaml")).unwrap();
    place.replace("p.yaml", "three");
    changed(&changes);
}

#[test]
fn a_new_file_that_matches() {
    let place = Place::new();
    fs::create_dir_all(place.path("rules/team")).unwrap();
    let (_watch, changes) = place.watch(&["rules/*.yaml", "rules/**/*.yml"]);
    place.write("rules/a.yaml", "one");
    changed(&changes);
    place.write("rules/notes.txt", "not a policy");
    place.write("rules/.a.yaml.swp", "an editor's");
    unchanged(&changes);
    place.write("rules/team/b.yml", "deep");
    changed(&changes);
    fs::remove_file(place.path("rules/a.yaml")).unwrap();
    changed(&changes);
}

#[test]
fn without_notices_it_looks_by_itself() {
    let place = Place::new();
    place.write("p.yaml", "one");
    let pace = WatchDelays { poll: Duration::from_millis(50), ..PACE };
    let (_watch, changes) = place.watch_with(&["p.yaml"], pace, Notices::Off);
    unchanged(&changes);
    place.replace("p.yaml", "two");
    changed(&changes);
}

#[test]
fn what_is_watched_may_change() {
    let place = Place::new();
    place.write("a.yaml", "one");
    place.write("b.yaml", "one");
    let (sender, changes) = channel();
    let other = place.path("b.yaml");
    let on_change = move || {
        sender.send(()).unwrap();
        Some(vec![Watched::file(&other)])
    };
    let watched = vec![Watched::file(&place.path("a.yaml"))];
    let watch = Watch::start_with(watched, NOTICES_ONLY, Notices::On, on_change).unwrap();
    place.replace("a.yaml", "two");
    changed(&changes);
    // The other file is so new that it may have changed since it was read: it is looked at again.
    changed(&changes);
    unchanged(&changes);
    place.replace("a.yaml", "three");
    unchanged(&changes);
    place.replace("b.yaml", "two");
    changed(&changes);
    drop(watch);
    place.replace("b.yaml", "three");
    unchanged(&changes);
}
