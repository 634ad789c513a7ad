//! Programs with the Vulkan backend, whose shaders Khronos's validation layer checks and no driver compiles, or which compute on this machine's driver.
//!
//! Three things must be there, or tests are skipped with a line that says what is missing:
//! - a Vulkan driver and the validation layer (Debian and Ubuntu: `apt-get install mesa-vulkan-drivers libvulkan1 vulkan-validationlayers`);
//! - `bcl-train` and `bcl-bench` with the feature `vulkan`, in `target/gpu-tests`; `BCL_GPU_PROGRAMS` names another folder;
//! - the layer of empty shaders, which cargo builds for these tests.

use crate::{built_library, gpu_programs};
use fake_vulkan::Layer;
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};
use tempfile::TempDir;

/// Where distributions put the manifests of layers.
const LAYERS: &str = "/usr/share/vulkan/explicit_layer.d";
const VALIDATION: &str = "VK_LAYER_KHRONOS_validation";

/// Programs with the Vulkan backend on this machine's driver, below layers.
pub struct Machine {
    programs: PathBuf,
    folder: TempDir,
    layers: Vec<&'static str>,
}

impl Machine {
    /// A machine where each shader is validated and none is executed; `None`, with a line that says what is missing, if programs cannot be validated
    /// here.
    pub fn validates() -> Option<Self> {
        if !Path::new(LAYERS).join("VkLayer_khronos_validation.json").exists() {
            return missing("the validation layer is missing (Debian and Ubuntu: apt-get install vulkan-validationlayers)");
        }
        Self::below(Layer::EmptyShaders, vec![VALIDATION, Layer::EmptyShaders.name()])
    }

    /// A machine that computes, with shaders in WGSL if its driver is a software driver; `None`, with a line, if it cannot.
    pub fn computes() -> Option<Self> {
        Self::below(Layer::Wgsl, vec![Layer::Wgsl.name()])
    }

    fn below(layer: Layer, layers: Vec<&'static str>) -> Option<Self> {
        let has_files = |folder: &str| fs::read_dir(folder).is_ok_and(|mut files| files.next().is_some());
        if !has_files("/usr/share/vulkan/icd.d") {
            return missing("there is no Vulkan driver (Debian and Ubuntu: apt-get install mesa-vulkan-drivers libvulkan1)");
        }
        let programs = match gpu_programs() {
            Ok(programs) => programs,
            Err(what) => return missing(&what),
        };
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["layer", "work"] {
            fs::create_dir(folder.path().join(name)).expect("writable");
        }
        let library = built_library("libfake_vulkan.so");
        let manifest = layer.manifest(library.to_str().expect("a plain path"));
        fs::write(folder.path().join("layer/layer.json"), manifest).expect("writable");
        Some(Self {
            programs,
            folder,
            layers,
        })
    }

    /// The working directory of the programs.
    pub fn folder(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    /// Runs a program until it ends.
    pub fn run(&self, program: &str, arguments: &[&str]) -> VulkanRun {
        let log = self.folder.path().join("modules.txt");
        // Of an earlier run; there may be none.
        let _ = fs::remove_file(&log);
        let output = Command::new(self.programs.join(program))
            .args(arguments)
            .current_dir(self.folder())
            .env(
                "VK_LAYER_PATH",
                format!("{}:{LAYERS}", self.folder.path().join("layer").display()),
            )
            .env("VK_INSTANCE_LAYERS", self.layers.join(":"))
            .env("XDG_CACHE_HOME", self.folder.path().join("cache"))
            .env("XDG_RUNTIME_DIR", self.folder.path())
            .env("FAKE_VULKAN_LOG", &log)
            .output()
            .expect("it starts");
        let modules = fs::read_to_string(&log).unwrap_or_default();
        VulkanRun {
            modules: modules.lines().map(str::to_owned).collect(),
            output,
        }
    }
}

fn missing<T>(what: &str) -> Option<T> {
    println!("no tests of Vulkan: {what}");
    None
}

/// A program that ran below layers.
#[derive(Debug)]
pub struct VulkanRun {
    /// Entry point and number of words of each shader.
    pub modules: Vec<String>,
    /// Exit status and output, with the validator's messages.
    pub output: Output,
}

impl VulkanRun {
    /// The validator's messages about shaders.
    pub fn complaints(&self) -> Vec<String> {
        let text = [&self.output.stdout, &self.output.stderr].map(|text| String::from_utf8_lossy(text).into_owned());
        let lines = text.iter().flat_map(|text| text.lines());
        lines.filter(|line| is_about_shaders(line)).map(str::to_owned).collect()
    }

    /// Asserts that the program succeeded, compiled shaders, and all of them are valid.
    pub fn assert_valid(&self) {
        assert_eq!(self.complaints(), [""; 0], "{}", crate::shown(&self.output));
        assert!(self.output.status.success(), "{}", crate::shown(&self.output));
        assert!(
            !self.modules.is_empty(),
            "it compiled nothing\n{}",
            crate::shown(&self.output)
        );
    }
}

/// Whether a line is an error of the validator about a shader, not about other uses of Vulkan.
fn is_about_shaders(line: &str) -> bool {
    let words = ["SPIR-V", "Spirv", "ShaderModule", "PipelineShaderStage"];
    line.contains("Validation Error") && words.iter().any(|word| line.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_shaders_are_told_from_others() {
        assert!(is_about_shaders(
            "Validation Error: [ VUID-VkShaderModuleCreateInfo-pCode-01379 ] Object 0: … SPIR-V module not valid: GLSL.std.450 Exp"
        ));
        assert!(!is_about_shaders(
            "Validation Error: [ VUID-vkFreeMemory-memory-00677 ] Object 0"
        ));
        assert!(!is_about_shaders("SPIR-V is fine"));
    }
}
