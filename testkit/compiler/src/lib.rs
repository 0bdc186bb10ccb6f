//! Shaders that tests compile when they run, by `glslangValidator` and `spirv-as`, and what `spirv-val` says of modules.
//!
//! Each test is a process, and the same sources meet several drivers: what the installed programs made of a source is [`kept`] in
//! cargo's target folder.

pub mod bad;

use std::hash::{Hash, Hasher as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// What a source is written in, and for which environment, named as `--target-env` names it.
#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq)]
pub enum Language<'a> {
    /// GLSL for an environment of Vulkan's.
    Glsl(&'a str),
    /// GLSL for OpenGL, with room for so many bindings of atomic counters in each stage.
    OpenGl(u32),
    /// HLSL for an environment of Vulkan's, with the entry point `main`. Bindings are numbered by the compiler.
    Hlsl(&'a str),
    /// SPIR-V as text, for an environment or a version.
    Assembly(&'a str),
}

/// The words of the module that is made of `source`; `stage` is a file extension that `glslangValidator` knows, and nothing for
/// assembly.
/// Panics if the programs are not installed or refuse the source, with what they say.
pub fn compile(language: Language<'_>, stage: &str, source: &str) -> Vec<u32> {
    compile_with(language, stage, source, &[])
}

/// The words of a text that is assembled as SPIR-V 1.3.
pub fn assembled(text: &str) -> Vec<u32> {
    compile(Language::Assembly("spv1.3"), "", text)
}

/// The same as [`compile`] with further options of `glslangValidator`'s, `-g` for instance.
pub fn compile_with(language: Language<'_>, stage: &str, source: &str, options: &[&str]) -> Vec<u32> {
    kept(&(language, stage, source, options), || {
        let (file, limits) = (Scratch::new(stage), Scratch::new("conf"));
        let out = Scratch::new("spv");
        file.write(source.as_bytes());
        let mut command = Command::new("glslangValidator");
        command.args(["--quiet", "-S", stage]).args(options);
        match language {
            Language::Glsl(environment) => _ = command.args(["-V", "--target-env", environment]),
            Language::OpenGl(counters) => {
                limits.write(with_counters(counters).as_bytes());
                command.args(["-G", "-l"]).arg(&limits.0);
            }
            Language::Hlsl(environment) => {
                command.args(["-V", "-D", "-e", "main", "--target-env", environment]);
            }
            Language::Assembly(environment) => {
                command = Command::new("spirv-as");
                command.args(["--target-env", environment]);
            }
        }
        let said =
            command.arg("-o").arg(&out.0).arg(&file.0).output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        assert!(said.status.success(), "{source}\n{}{}", text(&said.stdout), text(&said.stderr));
        read(&out.0)
    })
}

/// The compiler's own limits, but for those of atomic counters.
fn with_counters(bindings: u32) -> String {
    let defaults = Command::new("glslangValidator").arg("-c").output().expect("glslangValidator is installed");
    let raised = |line: &str| match line.split_once(' ') {
        Some((name, _)) if name.contains("AtomicCounter") => format!("{name} {bindings}\n"),
        _ => format!("{line}\n"),
    };
    text(&defaults.stdout).lines().map(raised).collect()
}

/// What the programs that are installed made of `input` once, else what `make` makes. Nothing is kept of a `make` that panics.
pub fn kept(input: &impl Hash, make: impl FnOnce() -> Vec<u32>) -> Vec<u32> {
    let mut hasher = std::hash::DefaultHasher::new();
    (programs(), input).hash(&mut hasher);
    let file = folder().join(format!("{:016x}.spv", hasher.finish()));
    if file.exists() {
        return read(&file);
    }
    let words = make();
    // By its name it is there as a whole or not at all.
    let part = file.with_extension(std::process::id().to_string());
    std::fs::write(&part, bytes(&words)).expect("writes a file");
    std::fs::rename(&part, &file).expect("renames it");
    words
}

/// Where modules are kept: beside the other files of the build that has this package.
fn folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = Path::new(env!("OUT_DIR")).join("modules");
        std::fs::create_dir_all(&folder).expect("makes a folder");
        folder
    })
}

/// What tells the installed programs from older or newer ones, without starting them: their files' sizes and times.
fn programs() -> &'static str {
    static PROGRAMS: OnceLock<String> = OnceLock::new();
    PROGRAMS.get_or_init(|| {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let of = |program: &str| {
            let found = std::env::split_paths(&path).find_map(|folder| std::fs::metadata(folder.join(program)).ok());
            let found = found.unwrap_or_else(|| panic!("{program} is missing; it is in glslang-tools or spirv-tools"));
            format!("{program} {} {:?} ", found.len(), found.modified().ok())
        };
        ["glslangValidator", "spirv-as", "spirv-val"].map(of).concat()
    })
}

/// What `spirv-val` has against a module.
/// The error is its words, if it refuses the module.
pub fn validate(words: &[u32], environment: &str) -> Result<(), String> {
    let file = Scratch::new("spv");
    file.write(&bytes(words));
    let output = Command::new("spirv-val").args(["--target-env", environment]).arg(&file.0).output();
    let output = output.expect("spirv-val is installed");
    if output.status.success() { Ok(()) } else { Err(text(&output.stderr)) }
}

/// A module as text, with the numbers of its ids and without a header.
/// Panics if `spirv-dis` is not installed or refuses the module.
pub fn disassemble(words: &[u32]) -> String {
    let file = Scratch::new("spv");
    file.write(&bytes(words));
    let mut command = Command::new("spirv-dis");
    command.args(["--raw-id", "--no-header", "--no-color", "--no-indent"]).arg(&file.0);
    let output = command.output().expect("spirv-dis is installed");
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
}

/// A file that no other test has, and which goes with this.
struct Scratch(PathBuf);

impl Scratch {
    fn new(extension: &str) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        Self(std::env::temp_dir().join(format!("samplin-shader-{}-{number}.{extension}", std::process::id())))
    }

    fn write(&self, bytes: &[u8]) {
        std::fs::write(&self.0, bytes).expect("writes a file");
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // It is not there if nothing was written.
        let _ = std::fs::remove_file(&self.0);
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn read(file: &Path) -> Vec<u32> {
    let bytes = std::fs::read(file).expect("a module");
    bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "#version 450\nlayout(local_size_x = 1) in;\nvoid main() {}\n";

    #[test]
    fn what_differs_is_kept_apart() {
        let made = |name: &str| compile(Language::Glsl(name), "comp", SOURCE)[1];
        assert_eq!(made("vulkan1.0"), 0x1_0000);
        assert_eq!(made("vulkan1.1"), 0x1_0300);
        assert_eq!(made("vulkan1.0"), 0x1_0000);
    }

    #[test]
    fn nothing_is_made_twice() {
        let input = ("once", std::process::id());
        assert_eq!(kept(&input, || vec![1, 2, 3]), [1, 2, 3]);
        assert_eq!(kept(&input, || panic!("made twice")), [1, 2, 3]);
    }

    #[test]
    #[should_panic(expected = "undeclared identifier")]
    fn what_is_wrong_is_said() {
        compile(Language::Glsl("vulkan1.0"), "comp", "#version 450\nvoid main() { nothing; }\n");
    }

    #[test]
    fn modules_are_judged() {
        let words = compile(Language::Glsl("vulkan1.0"), "comp", SOURCE);
        assert_eq!(validate(&words, "vulkan1.0"), Ok(()));
        assert!(validate(&words[..words.len() - 1], "vulkan1.0").is_err());
        assert!(disassemble(&words).contains("OpEntryPoint"));
    }
}
