//! What cargo knows of the workspace: its crates and what each depends on.

use crate::root;
use anyhow::Context;
use serde::Deserialize;
use std::collections::{HashMap, HashSet, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};

/// The part of `cargo metadata` that the rules need.
#[derive(Deserialize)]
pub(crate) struct Metadata {
    packages: Vec<Package>,
    workspace_members: HashSet<String>,
    workspace_root: PathBuf,
    resolve: Resolve,
}

/// A crate.
#[derive(Deserialize)]
pub(crate) struct Package {
    id: String,
    /// Its name.
    pub(crate) name: String,
    manifest_path: PathBuf,
    /// Everything it declares, for tests and build scripts too.
    pub(crate) dependencies: Vec<Dependency>,
}

/// A dependency as a crate declares it.
#[derive(Deserialize)]
pub(crate) struct Dependency {
    /// The name of the crate, whatever it was renamed to.
    pub(crate) name: String,
    rename: Option<String>,
    kind: Option<String>,
    features: Vec<String>,
}

#[derive(Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    id: String,
    dependencies: Vec<String>,
}

impl Metadata {
    /// Asks cargo about the workspace in `root`.
    pub(crate) fn read(root: &Path) -> anyhow::Result<Self> {
        let mut cargo = root::cargo();
        cargo.current_dir(root).args(["metadata", "--format-version", "1"]);
        // Without a platform cargo would download what only other platforms need.
        cargo.args(["--filter-platform", &host_platform()?]);
        serde_json::from_slice(&root::stdout_of(&mut cargo)?).context("cannot read what `cargo metadata` prints")
    }

    /// The crates of the workspace.
    pub(crate) fn members(&self) -> impl Iterator<Item = &Package> {
        self.packages
            .iter()
            .filter(|package| self.workspace_members.contains(&package.id))
    }

    /// The shortest way over dependencies from `start` to a crate that `wanted` accepts, by names.
    pub(crate) fn path_to(&self, start: &Package, wanted: impl Fn(&str) -> bool) -> Option<Vec<&str>> {
        let names: HashMap<_, _> = self
            .packages
            .iter()
            .map(|package| (&package.id, package.name.as_str()))
            .collect();
        let edges: HashMap<_, _> = self.resolve.nodes.iter().map(|node| (&node.id, &node.dependencies)).collect();
        let mut came_from = HashMap::from([(&start.id, None)]);
        let mut queue = VecDeque::from([&start.id]);
        while let Some(id) = queue.pop_front() {
            if wanted(names[id]) {
                let way = std::iter::successors(Some(id), |id| came_from[id]);
                let mut way: Vec<_> = way.map(|id| names[id]).collect();
                way.reverse();
                return Some(way);
            }
            for next in edges.get(id).into_iter().copied().flatten() {
                if !came_from.contains_key(next) {
                    came_from.insert(next, Some(id));
                    queue.push_back(next);
                }
            }
        }
        None
    }

    /// The manifest of `package`, relative to the root.
    pub(crate) fn manifest<'a>(&self, package: &'a Package) -> &'a Path {
        package
            .manifest_path
            .strip_prefix(&self.workspace_root)
            .unwrap_or(&package.manifest_path)
    }
}

fn host_platform() -> anyhow::Result<String> {
    let version = String::from_utf8(root::stdout_of(root::cargo().arg("-vV"))?)?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("`cargo -vV` names no host")?.to_owned())
}

impl Package {
    /// The 1-based line of the manifest on which the dependency is declared, or 1 if there is none of its own.
    pub(crate) fn line_of(&self, dependency: &str) -> usize {
        let declared = self.dependencies.iter().find(|declared| declared.name == dependency);
        let key = declared.and_then(|declared| declared.rename.as_deref()).unwrap_or(dependency);
        let text = fs::read_to_string(&self.manifest_path).unwrap_or_default();
        let is_key = |line: &str| line.strip_prefix(key).is_some_and(|rest| rest.starts_with([' ', '.', '=']));
        text.lines().position(is_key).map_or(1, |index| index + 1)
    }
}

impl Dependency {
    /// Whether it is declared with this feature.
    pub(crate) fn asks_for(&self, feature: &str) -> bool {
        self.features.iter().any(|asked| asked == feature)
    }

    /// Whether the library itself needs it, not just its tests or build script.
    pub(crate) fn is_normal(&self) -> bool {
        self.kind.is_none()
    }
}
