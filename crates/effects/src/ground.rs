//! What effects are resolved against.

use std::borrow::Cow;
use std::fmt;

use callgate_call::SessionFiles;

use crate::effect::Scope;
use crate::extent::Extent;

/// The folders a call runs in. Parts of it may be unknown.
#[derive(Clone, Copy, Default)]
pub struct Ground<'a> {
    /// The working directory.
    pub cwd: Option<&'a str>,
    /// The user's home directory.
    pub home: Option<&'a str>,
    /// The session's project directory.
    pub workspace: Option<&'a str>,
    /// Looks at the disk; only where callgate runs on the agent's machine.
    pub resolver: Option<&'a dyn Resolver>,
    /// The files that earlier calls of the session have written.
    pub earlier: Option<&'a SessionFiles>,
}

/// Answers questions about the disk. The crate itself does no I/O.
pub trait Resolver: Sync {
    /// The same absolute path with the symbolic links of its existing part resolved, or `None` if
    /// it is the same.
    fn resolve(&self, path: &str) -> Option<String>;

    /// Whether the file system at this path ignores the case of names.
    fn ignores_case(&self, path: &str) -> bool;

    /// What deleting this absolute path touches. `budget` is the number of entries that may be
    /// looked at; what was used of it is taken away.
    fn extent(&self, path: &str, scope: Scope, budget: &mut usize) -> Extent {
        let _ = (path, scope, budget);
        Extent::UNKNOWN
    }

    /// The text of a script that is about to run, if it exists, is text and is short enough.
    fn script(&self, path: &str) -> Option<Cow<'_, str>> {
        let _ = path;
        None
    }
}

impl fmt::Debug for Ground<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ground")
            .field("cwd", &self.cwd)
            .field("home", &self.home)
            .field("workspace", &self.workspace)
            .field("resolver", &self.resolver.is_some())
            .field("earlier", &self.earlier.is_some())
            .finish()
    }
}
