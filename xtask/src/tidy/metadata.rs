//! The workspace as `cargo metadata` describes it: its crates and their dependencies.

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

/// A crate of the workspace or one of its dependencies.
#[derive(Deserialize)]
pub(crate) struct Package {
    id: String,
    pub(crate) name: String,
    manifest_path: PathBuf,
    /// All declared dependencies, including dependencies of tests and build scripts.
    pub(crate) dependencies: Vec<Dependency>,
}

/// A dependency as a crate declares it.
#[derive(Deserialize)]
pub(crate) struct Dependency {
    /// The crate's own name, before any rename.
    pub(crate) name: String,
    rename: Option<String>,
    kind: Option<String>,
    optional: bool,
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
    /// Runs `cargo metadata` for the workspace in `root`.
    pub(crate) fn read(root: &Path) -> anyhow::Result<Self> {
        let mut cargo = root::cargo();
        cargo.current_dir(root).args(["metadata", "--format-version", "1"]);
        // Without a platform, cargo would also download dependencies of other platforms.
        cargo.args(["--filter-platform", &host_platform()?]);
        serde_json::from_slice(&root::stdout_of(&mut cargo)?).context("cannot parse the output of `cargo metadata`")
    }

    /// The crates of the workspace.
    pub(crate) fn members(&self) -> impl Iterator<Item = &Package> {
        self.packages
            .iter()
            .filter(|package| self.workspace_members.contains(&package.id))
    }

    /// The shortest dependency path from `start` to a crate that `wanted` accepts, as crate names.
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

    /// The manifest of `package`, relative to the workspace root.
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
    /// The 1-based manifest line that declares the dependency, or 1 if none starts with its name.
    pub(crate) fn line_of(&self, dependency: &str) -> usize {
        let declared = self.dependencies.iter().find(|declared| declared.name == dependency);
        let key = declared.and_then(|declared| declared.rename.as_deref()).unwrap_or(dependency);
        let text = fs::read_to_string(&self.manifest_path).unwrap_or_default();
        let is_key = |line: &str| line.strip_prefix(key).is_some_and(|rest| rest.starts_with([' ', '.', '=']));
        text.lines().position(is_key).map_or(1, |index| index + 1)
    }
}

impl Dependency {
    /// Returns whether the declaration enables this feature.
    pub(crate) fn asks_for(&self, feature: &str) -> bool {
        self.features.iter().any(|asked| asked == feature)
    }

    /// Returns whether the library itself needs it, not only tests or the build script.
    pub(crate) fn is_normal(&self) -> bool {
        self.kind.is_none()
    }

    /// Returns whether a feature of the crate turns it on.
    pub(crate) fn is_optional(&self) -> bool {
        self.optional
    }
}
