//! What a call would do, analysed when a rule first asks for it and at most once per judgement.

use std::cell::{Cell, OnceCell};
use std::fmt;

use callgate_call::{FileWrite, Surface, ToolCall};
use callgate_effects::{
    Bound, EffectKind, Effects, Entry, Extent, Fill, Ground, Path, PreparedPath, Resolver, Role,
    Scope, Word, analyse_whole,
};
use callgate_json::Value;

use crate::names::CallName;
use crate::roles::{self, RoleArgument};

/// The most tools of the catalogue that one name is compared with.
const MAX_TOOLS: usize = 4;

/// The most entries of folders that are counted for one judgement. That takes about a tenth of a second.
pub(crate) const MAX_ENTRIES: usize = 20_000;

/// Effects that can destroy something.
const DESTROYS: Bound = Bound::just(EffectKind::Writes)
    .with(EffectKind::Deletes)
    .with(EffectKind::Runs)
    .with(EffectKind::Sql);

/// What a call's name means, and what the call would do.
pub(crate) struct CallEffects<'c> {
    call: &'c ToolCall,
    /// Looks at the disk; only where callgate runs on the agent's machine.
    pub(crate) disk: Option<&'c dyn Resolver>,
    bound: OnceCell<Bound>,
    list: OnceCell<Vec<Effects>>,
    /// Where the effects of each kind are.
    places: OnceCell<[Vec<EffectPosition>; EffectKind::COUNT]>,
    /// The path of each effect that has one, in the order of all effects. Many rules ask about each.
    paths: OnceCell<Vec<OnceCell<PathForms>>>,
    /// The arguments of each role, in the order of [`Role::ALL`].
    carriers: [OnceCell<Vec<RoleArgument>>; Role::ALL.len()],
    /// The entries of folders that may still be looked at.
    budget: Cell<usize>,
}

impl fmt::Debug for CallEffects<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallEffects").field("call", self.call).finish_non_exhaustive()
    }
}

/// Where an effect is: in which list, where there, and where among all effects.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EffectPosition {
    pub(crate) list: usize,
    pub(crate) effect: usize,
    pub(crate) at: usize,
}

/// The path of an effect, ready to be compared with the paths of many rules.
pub(crate) struct PathForms {
    pub(crate) own: PreparedPath,
    /// The folder that `dir/*` has everything of.
    pub(crate) folder: Option<PreparedPath>,
    /// What deleting it touches.
    extent: OnceCell<Extent>,
}

impl PathForms {
    fn new(path: &Path, call: &ToolCall) -> Self {
        let ground = ground(call);
        let folder = whole_folder(path).map(|folder| PreparedPath::new(&folder, &ground));
        Self { own: PreparedPath::new(path, &ground), folder, extent: OnceCell::new() }
    }
}

/// What the catalogue knows about a name.
#[derive(Debug, Clone)]
pub(crate) enum CatalogueMatch<'c> {
    /// It is this tool and can do no more than the catalogue says.
    Known(&'c Entry),
    /// It can do anything. If it is one of these tools, its arguments mean what the catalogue says.
    Unknown(Vec<&'c Entry>),
}

impl CatalogueMatch<'_> {
    /// What the tool can do at most.
    pub(crate) fn bound(&self) -> Bound {
        match self {
            Self::Known(entry) => entry.bound(),
            Self::Unknown(_) => Bound::ALL,
        }
    }
}

impl<'c> CallEffects<'c> {
    pub(crate) fn new(call: &'c ToolCall, disk: Option<&'c dyn Resolver>) -> Self {
        Self {
            call,
            disk,
            bound: OnceCell::new(),
            list: OnceCell::new(),
            places: OnceCell::new(),
            paths: OnceCell::new(),
            carriers: Default::default(),
            budget: Cell::new(MAX_ENTRIES),
        }
    }

    /// Where the effects of a kind are.
    pub(crate) fn places(&self, kind: EffectKind, list: &[Effects]) -> &[EffectPosition] {
        let places = self.places.get_or_init(|| {
            let mut places: [Vec<EffectPosition>; EffectKind::COUNT] = Default::default();
            let effects = list.iter().enumerate().flat_map(|(list, effects)| {
                let effects = effects.all().iter().enumerate();
                effects.map(move |(effect, it)| (list, effect, it.action.kind()))
            });
            for (at, (list, effect, kind)) in effects.enumerate() {
                if let Some(places) = places.get_mut(kind as usize) {
                    places.push(EffectPosition { list, effect, at });
                }
            }
            places
        });
        places.get(kind as usize).map_or(&[], Vec::as_slice)
    }

    /// The path of the effect at that place of all effects.
    pub(crate) fn path(&self, at: usize, path: &Path, list: &[Effects]) -> Option<&PathForms> {
        let count = || list.iter().map(|effects| effects.all().len()).sum();
        let places = || std::iter::repeat_with(OnceCell::new).take(count()).collect();
        let place = self.paths.get_or_init(places).get(at)?;
        Some(place.get_or_init(|| PathForms::new(path, self.call)))
    }

    /// What the deletion at that place touches.
    pub(crate) fn extent(&self, at: usize, path: &Path, scope: Scope, list: &[Effects]) -> Extent {
        let Some(forms) = self.path(at, path, list) else { return Extent::UNKNOWN };
        *forms.extent.get_or_init(|| self.measured(path, scope))
    }

    fn measured(&self, path: &Path, scope: Scope) -> Extent {
        let on_disk = |path: &str, scope: Scope| {
            let mut budget = self.budget.get();
            let found = self.disk.filter(|_| path.starts_with('/'));
            let found = found.map(|disk| disk.extent(path, scope, &mut budget));
            self.budget.set(budget);
            found
        };
        if let Some(text) = path.resolved.text() {
            let found = on_disk(text, scope);
            let unseen = if scope == Scope::One { Extent::A_FILE } else { Extent::UNKNOWN };
            return found.unwrap_or(unseen);
        }
        if let Some(folder) = whole_folder(path) {
            let found = folder.resolved.text().and_then(|folder| on_disk(folder, Scope::Tree));
            return found.unwrap_or(Extent::UNKNOWN);
        }
        if path.resolved.misses_value() {
            return Extent::UNKNOWN;
        }
        // A pattern: some of what is in the folder.
        let folder = path.resolved.known_start().rsplit_once('/').map(|(folder, _)| folder);
        let folder = folder.map(|folder| if folder.is_empty() { "/" } else { folder });
        let found = folder.and_then(|folder| on_disk(folder, Scope::Tree));
        found.map_or(Extent::UNKNOWN, Extent::part)
    }

    /// What a tool of this name can do at most.
    pub(crate) fn bound(&self, name: &CallName<'_>) -> Bound {
        *self.bound.get_or_init(|| {
            let tool = name.tool(MAX_TOOLS);
            tool.bound().or(self.hinted(&tool))
        })
    }

    /// The arguments that carry a role.
    pub(crate) fn carriers(&self, role: Role, name: &CallName<'_>) -> &[RoleArgument] {
        let cell = Role::ALL.iter().zip(&self.carriers).find(|(known, _)| **known == role);
        let find = || roles::carriers(role, name, MAX_TOOLS, self.call);
        cell.map_or(&[], |(_, cell)| cell.get_or_init(find))
    }

    /// Whether a tool of this name can have an argument of this role.
    pub(crate) fn may_carry(&self, role: Role, name: &CallName<'_>) -> bool {
        match name.tool(MAX_TOOLS) {
            CatalogueMatch::Known(entry) => roles::may_carry(entry, role),
            CatalogueMatch::Unknown(_) => true,
        }
    }

    /// What the call would do, once for every way to read its name.
    pub(crate) fn list(&self, name: &CallName<'_>) -> &[Effects] {
        self.list.get_or_init(|| {
            let ground = Ground { resolver: self.disk, ..ground(self.call) };
            let read = |entry: Option<&Entry>| {
                let own = entry.map_or(name.own(), |entry| &entry.name);
                analyse_whole(self.call.name.raw(), own, entry, &self.call.arguments, &ground)
            };
            let tool = name.tool(MAX_TOOLS);
            let mut list: Vec<Effects> = match &tool {
                CatalogueMatch::Known(entry) => vec![read(Some(entry))],
                CatalogueMatch::Unknown(entries) => {
                    let entries = entries.iter().map(|entry| Some(*entry));
                    std::iter::once(None).chain(entries).map(read).collect()
                }
            };
            let effects = self.hinted(&tool);
            if !effects.is_empty() {
                let hinted = Entry { effects, ..Entry::new(name.own(), &[]) };
                list.push(read(Some(&hinted)));
            }
            list
        })
    }

    /// What the call writes into files, once for each.
    pub(crate) fn files(&self, name: &CallName<'_>) -> Vec<FileWrite> {
        let writes = Bound::just(EffectKind::Writes).with(EffectKind::Runs);
        let is_call = self.call.origin.surface != Surface::Inbound;
        if !is_call || self.bound(name).and(writes).is_empty() {
            return Vec::new();
        }
        let mut files = Vec::new();
        for write in self.list(name).iter().flat_map(|effects| &effects.files) {
            if !files.contains(write) {
                files.push(write.clone());
            }
        }
        files
    }

    /// What the tool can do according to its server, in addition to what is known. A server's word
    /// never takes anything away.
    fn hinted(&self, tool: &CatalogueMatch<'_>) -> Bound {
        let hints = self.call.origin.effect_hints;
        let known = match tool {
            CatalogueMatch::Known(entry) => entry.bound(),
            CatalogueMatch::Unknown(_) => Bound::NONE,
        };
        let mut hinted = Bound::NONE;
        // A tool that is known to change something is destructive in that way.
        if hints.destroys && known.and(DESTROYS).is_empty() {
            hinted = hinted.with(EffectKind::Writes).with(EffectKind::Deletes);
        }
        if hints.writes {
            hinted = hinted.with(EffectKind::Writes);
        }
        if hints.connects {
            hinted = hinted.with(EffectKind::Connects);
        }
        hinted.without(known)
    }
}

/// The folder that `dir/*` has everything of.
fn whole_folder(path: &Path) -> Option<Path> {
    let resolved = &path.resolved;
    let text = resolved.known_part();
    let slash = text.rfind('/')?;
    let name = resolved.from(slash + 1);
    let is_star = match name.text() {
        // Tools that take a glob as text do not expand it as a shell does.
        Some(text) => matches!(text, "*" | "**" | ".*"),
        None => {
            matches!(name.known_part(), "" | ".")
                && name.gaps().iter().any(|gap| gap.fill == Fill::Name)
        }
    };
    if !is_star {
        return None;
    }
    let folder: Word = if slash == 0 { Word::known("/") } else { resolved.until(slash) };
    Some(Path { resolved: folder, real: None, ..path.clone() })
}

/// What the effects of a call are resolved against. The project is the working folder; if that is not
/// known, it is the folder that the call itself names, as relative paths would be inside, too.
pub(crate) fn ground(call: &ToolCall) -> Ground<'_> {
    let cwd = call.origin.cwd.as_deref();
    let workspace = cwd.or_else(|| own_folder(call));
    Ground {
        cwd,
        home: call.origin.home.as_deref(),
        workspace,
        resolver: None,
        earlier: call.origin.session_files.as_deref(),
    }
}

/// The folder that a shell tool runs in according to its arguments. A home is not a project.
fn own_folder(call: &ToolCall) -> Option<&str> {
    let Ok(Value::Object(members)) = call.arguments.value() else { return None };
    let is_folder = |key: &str| FOLDERS.iter().any(|known| key.eq_ignore_ascii_case(known));
    let (_, value) = members.iter().find(|(key, _)| is_folder(key))?;
    let folder = value.as_str()?.trim_end_matches('/');
    let depth = folder.split('/').skip(1).filter(|name| !name.is_empty()).count();
    let is_plain = !folder.split('/').any(|name| matches!(name, "." | ".."));
    // `/srv` and `/root` are no projects either.
    let is_project = depth > 1 && !is_home(folder, depth);
    (folder.starts_with('/') && is_plain && is_project).then_some(folder)
}

const FOLDERS: &[&str] = &["workdir", "working_directory", "working_dir", "cwd", "directory"];

fn is_home(folder: &str, depth: usize) -> bool {
    depth == 2 && (folder.starts_with("/home/") || folder.starts_with("/Users/"))
}
