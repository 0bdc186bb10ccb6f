//! The shaders of `tests/data`, compiled, with the links that their comments say.
//!
//! A first line `//# ENVIRONMENT [spvVERSION [unchecked]]` names the environment for `spirv-val` and the version for `spirv-as`; what
//! is unchecked is known not to be valid. Lines `//= NAME STAGE [spec [ID=VALUE…]]` begin a table,
//! the lines `//= LINK` behind it are its links, written as [`text`] does. In assembly comments begin with `;`.
//! GLSL and assembly are compiled here. What other compilers made of a source is beside it, in assembly: `data/README.md`.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

pub(crate) use samplin_compiler::validate;
use samplin_compiler::{Language, compile, compile_with, disassemble, kept};
use samplin_spirv::{Index, Link, Operand, Sampled, Specialization};
use spirv::ExecutionModel;

/// The links of one entry point, under one specialization or none.
#[derive(Clone)]
pub(crate) struct Table {
    pub(crate) name: String,
    pub(crate) model: u32,
    pub(crate) values: Option<Vec<(u32, [u8; 4])>>,
    /// Sorted.
    pub(crate) links: Vec<String>,
}

impl Table {
    /// Runs `with` on the specialization.
    pub(crate) fn specialized<T>(&self, with: impl FnOnce(Option<&Specialization<'_>>) -> T) -> T {
        let Some(values) = &self.values else { return with(None) };
        let entries: Vec<(u32, &[u8])> = values.iter().map(|(id, bytes)| (*id, &bytes[..])).collect();
        with(Some(&Specialization(&entries)))
    }
}

#[derive(Clone)]
pub(crate) struct Shader {
    pub(crate) file: String,
    pub(crate) environment: String,
    /// Whether it is meant to be valid.
    pub(crate) valid: bool,
    pub(crate) words: Vec<u32>,
    pub(crate) tables: Vec<Table>,
}

/// The GLSL shaders, with the debug information that an option of the compiler asks for.
pub(crate) fn debuggable(option: &str) -> Vec<Shader> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let is_glsl = |shader: &&Shader| [".frag", ".vert", ".comp"].iter().any(|end| shader.file.ends_with(end));
    let read = |shader: &Shader| std::fs::read_to_string(folder.join(&shader.file)).expect("a shader");
    let with = |shader: &Shader| {
        let (stage, source) = (shader.file.rsplit('.').next().expect("a stage"), read(shader));
        Shader { words: glsl_with(stage, &shader.environment, &source, &[option]), ..shader.clone() }
    };
    shaders().iter().filter(|shader| shader.valid).filter(is_glsl).map(with).collect()
}

/// All shaders, compiled once.
pub(crate) fn shaders() -> &'static [Shader] {
    static SHADERS: OnceLock<Vec<Shader>> = OnceLock::new();
    SHADERS.get_or_init(|| {
        let mut files: Vec<PathBuf> = std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data"))
            .expect("the folder of shaders")
            .map(|entry| entry.expect("an entry").path())
            .filter(|path| {
                let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
                // What another compiler made belongs to its source.
                name != "README.md" && name.matches('.').count() == 1
            })
            .collect();
        files.sort();
        files.iter().map(|file| shader(file)).collect()
    })
}

fn shader(file: &Path) -> Shader {
    let name = file.file_name().and_then(|name| name.to_str()).expect("a name").to_owned();
    let source = std::fs::read_to_string(file).expect("a shader");
    let comment = if name.ends_with(".spvasm") { ";" } else { "//" };
    let environment = source
        .lines()
        .find_map(|line| line.strip_prefix(&format!("{comment}# ")))
        .unwrap_or_else(|| panic!("{name} names no environment"));
    let mut environment = environment.split(' ');
    let target = environment.next().expect("an environment").to_owned();
    let version = environment.next().unwrap_or_default();
    let valid = environment.next() != Some("unchecked");
    let mut tables: Vec<Table> = Vec::new();
    for line in source.lines().filter_map(|line| line.strip_prefix(&format!("{comment}= "))) {
        if line.contains(" + ") {
            tables.last_mut().expect("a link of an entry point").links.push(line.to_owned());
            continue;
        }
        let mut words = line.split(' ');
        let entry = words.next().expect("a name").to_owned();
        let model = match words.next().expect("a stage") {
            "vertex" => ExecutionModel::Vertex,
            "fragment" => ExecutionModel::Fragment,
            "compute" => ExecutionModel::GLCompute,
            stage => panic!("{name}: stage {stage}"),
        };
        let values = words.next().map(|_| {
            words
                .map(|value| value.split_once('=').expect("ID=VALUE"))
                .map(|(id, value)| (id.parse().expect("an id"), value.parse::<i32>().expect("a value").to_ne_bytes()))
                .collect()
        });
        tables.push(Table { name: entry, model: model as u32, values, links: Vec::new() });
    }
    assert!(!tables.is_empty(), "{name} has no table");
    tables.iter_mut().for_each(|table| table.links.sort());
    let read =
        |file: &Path| std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let words = match file.extension().and_then(|extension| extension.to_str()).expect("an extension") {
        "spvasm" => compile(Language::Assembly(version), "", &source),
        stage @ ("frag" | "vert" | "comp") => compile(Language::Glsl(&target), stage, &source),
        _ => compile(Language::Assembly(version), "", &read(&file.with_file_name(format!("{name}.spvasm")))),
    };
    // What was found valid once is kept, or the other way round, so that only the first test of all waits for the answers.
    let is_valid = kept(&("valid", &words, &target), || vec![validate(&words, &target).is_ok().into()]) == [1];
    assert_eq!(is_valid, valid, "{name}: {:?}", validate(&words, &target));
    Shader { file: name, environment: target, valid, words, tables }
}

pub(crate) use samplin_compiler::assembled;

/// Visits each entry point of each valid shader, with what it is specialized with.
pub(crate) fn entries(mut with: impl FnMut(&'static Shader, (&str, u32), Option<&Specialization<'_>>)) {
    for shader in shaders().iter().filter(|shader| shader.valid) {
        for table in &shader.tables {
            table.specialized(|values| with(shader, (&*table.name, table.model), values));
        }
    }
}

/// What is expected of shaders, by their files.
pub(crate) fn by_file<T, const N: usize>(all: [(&str, Vec<T>); N]) -> BTreeMap<String, Vec<T>> {
    all.into_iter().map(|(file, of)| (file.to_owned(), of)).collect()
}

/// Compiles GLSL for a stage, named as a file would be: for OpenGL, where limits are such that counters may be used, or for an
/// environment of Vulkan's; or HLSL for Vulkan 1.1.
pub(crate) fn glsl(stage: &str, environment: &str, source: &str) -> Vec<u32> {
    glsl_with(stage, environment, source, &[])
}

/// The same with further options of the compiler.
pub(crate) fn glsl_with(stage: &str, environment: &str, source: &str, options: &[&str]) -> Vec<u32> {
    let language = match environment {
        "opengl" => Language::OpenGl(64),
        "hlsl" => Language::Hlsl("vulkan1.1"),
        environment => Language::Glsl(environment),
    };
    compile_with(language, stage, source, options)
}

/// The instructions of a module, as words.
pub(crate) fn instructions(words: &[u32]) -> Vec<&[u32]> {
    let (mut at, mut all) = (5, Vec::new());
    while at < words.len() {
        let length = (words[at] >> 16) as usize;
        all.push(&words[at..at + length]);
        at += length;
    }
    all
}

/// The instructions with an opcode.
pub(crate) fn having(words: &[u32], opcode: spirv::Op) -> Vec<&[u32]> {
    instructions(words).into_iter().filter(|it| it[0] & 0xffff == opcode as u32).collect()
}

/// A module as text in which the numbers of ids and the order of declarations say nothing: what is declared is written out where it
/// is used, and what functions define is counted in each.
pub(crate) fn meaning(words: &[u32]) -> Vec<String> {
    let text = disassemble(words);
    let mut decorations: HashMap<&str, Vec<String>> = HashMap::new();
    for line in text.lines() {
        let mut words = line.split(' ');
        if let (Some("OpDecorate" | "OpMemberDecorate" | "OpName" | "OpMemberName"), Some(id)) =
            (words.next(), words.next())
        {
            decorations.entry(id).or_default().push(words.collect::<Vec<_>>().join(" "));
        }
    }
    let mut names: HashMap<String, String> = HashMap::new();
    let (mut globals, mut functions, mut local) = (Vec::new(), Vec::new(), 0);
    // What functions define is named before it is defined, by calls and branches.
    for line in text.lines().skip_while(|line| !line.contains("OpFunction ")) {
        if let Some((id, _)) = line.split_once(" = ") {
            local += 1;
            names.insert(id.to_owned(), format!("local{local}"));
        }
    }
    for line in text.lines() {
        let inside = !functions.is_empty() || line.contains("OpFunction ");
        let (id, rest) = line.split_once(" = ").map_or((None, line), |(id, rest)| (Some(id), rest));
        let mut rest: String = rest
            .split(' ')
            .map(|word| match names.get(word) {
                Some(name) => name.clone(),
                None if inside || !word.starts_with('%') => word.to_owned(),
                // An entry point names its function and interface before they are there.
                None => "later".to_owned(),
            })
            .collect::<Vec<_>>()
            .join(" ");
        if let Some(id) = id {
            let mut own = decorations.get(id).cloned().unwrap_or_default();
            own.sort();
            if !inside {
                names.insert(id.to_owned(), format!("({rest} {own:?})"));
            }
            rest = format!("{rest} {own:?}");
        }
        if line.starts_with("OpDecorate") || line.starts_with("OpMember") || line.starts_with("OpName ") {
            continue;
        }
        if inside { functions.push(rest) } else { globals.push(rest) }
    }
    globals.sort();
    globals.extend(functions);
    globals
}

/// A link as the tables write it: image, sampler, dimension, what is read, uses.
pub(crate) fn text(link: &Link) -> String {
    let ty = link.ty;
    let dim = ["1D", "2D", "3D", "cube", "rect", "buffer"].get(ty.dim as usize).copied().unwrap_or("other");
    let array = if ty.arrayed { " array" } else { "" };
    let samples = if ty.multisampled { " ms" } else { "" };
    let sampled = match ty.sampled {
        Sampled::Float => "float",
        Sampled::Sint => "sint",
        Sampled::Uint => "uint",
    };
    let opaque = if link.opaque { " opaque" } else { "" };
    let (image, sampler, uses) = (operand(link.image), operand(link.sampler), link.uses);
    format!("{image} + {sampler} {dim}{array}{samples} {sampled} {uses:?}{opaque}")
}

fn operand(operand: Option<Operand>) -> String {
    let Some(Operand { set, binding, count, index }) = operand else { return "?".to_owned() };
    let index = match index {
        Index::Whole if count == 1 => return format!("{set}:{binding}"),
        Index::Whole => "whole".to_owned(),
        Index::Const(element) => element.to_string(),
        Index::Spec(id) => format!("spec {id}"),
        Index::Push(byte) => format!("push {byte}"),
        Index::Dynamic { nonuniform: false } => "any".to_owned(),
        Index::Dynamic { nonuniform: true } => "nonuniform any".to_owned(),
        Index::Unbounded => "unbounded".to_owned(),
    };
    format!("{set}:{binding}[{index} of {count}]")
}
