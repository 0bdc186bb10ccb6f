//! What the pre-scan, reading and rewriting of a module cost: `cargo bench -p samplin-spirv [-- FILE.spv…]`.
//!
//! Without files, on generated shaders that glslangValidator compiles: functions that take an image and a sampler, arithmetic around
//! them, calls of calls. The best of many rounds counts, since the rest is what else the machine does.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use samplin_spirv::passes::{Step, run};
use samplin_spirv::scan::scan;
use samplin_spirv::split::{Part, split};
use samplin_spirv::{Editor, Module, Specialization, atomic_counters, image_access, image_formats};

/// A fragment shader with `functions` functions.
fn source(functions: usize) -> String {
    let mut text = "#version 450\nlayout(set = 0, binding = 0) uniform texture2D images[16];\n\
        layout(set = 0, binding = 1) uniform sampler samplers[4];\nlayout(location = 0) in vec4 at;\n\
        layout(location = 0) out vec4 color;\n"
        .to_owned();
    for n in 0..functions {
        let inner = if n % 8 == 0 { String::new() } else { format!("c += read{}(image, with, p.yx) * 0.5;", n - 1) };
        let _ = write!(
            text,
            "vec4 read{n}(texture2D image, sampler with, vec2 p) {{\n  vec4 c = texture(sampler2D(image, with), p);\n\
             for (int i = 0; i < 4; i++) {{ vec2 q = p * mat2(p.x, p.y, {n}.0, 2.0) + vec2(i, 1.0);\n\
             if (dot(q, p) > 0.5) {{ c = mix(c, vec4(q, sin(q)), clamp(q.x, 0.0, 1.0)); }} else {{ c.xyz += normalize(c.zyx); }} }}\n\
             {inner}\n  return c;\n}}\n"
        );
    }
    text += "void main() {\n  color = vec4(0.0);\n";
    for n in 0..functions {
        let _ = writeln!(text, "  color += read{n}(images[{}], samplers[{}], at.xy * {n}.0);", n % 16, n % 3);
    }
    text + "}\n"
}

fn compiled(functions: usize) -> Vec<u32> {
    compile(&source(functions), "-V")
}

/// Compiles a fragment shader for Vulkan (`-V`) or OpenGL (`-G`).
fn compile(source: &str, target: &str) -> Vec<u32> {
    let folder = std::env::temp_dir();
    let file = folder.join(format!("samplin-spirv-bench-{}.frag", std::process::id()));
    let out = file.with_extension("spv");
    std::fs::write(&file, source).expect("writes a file");
    let mut compiler = Command::new("glslangValidator");
    let done = compiler.args(["--quiet", target, "-g0", "-o"]).arg(&out).arg(&file).status().expect("glslangValidator");
    assert!(done.success(), "glslangValidator failed");
    let words = words(&out);
    for file in [file, out] {
        std::fs::remove_file(file).expect("removes a file");
    }
    words
}

fn words(file: &Path) -> Vec<u32> {
    let bytes = std::fs::read(file).expect("a module");
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect()
}

/// The shortest of many runs, within half a second.
fn best<T>(mut run: impl FnMut() -> T) -> Duration {
    let (start, mut best) = (Instant::now(), Duration::MAX);
    while start.elapsed() < Duration::from_millis(500) {
        let begin = Instant::now();
        std::hint::black_box(run());
        best = best.min(begin.elapsed());
    }
    best
}

fn report(name: &str, words: &[u32]) {
    let module = Module::read(words).expect("a module");
    let Some(entry) = module.entry_points().next() else { return };
    let (label, model) = (String::from_utf8(entry.name().collect()).expect("a name"), entry.model());
    let values = Specialization::default();
    let links = module.links(&label, model, Some(&values)).expect("links");
    let mut parts: Vec<Part> = Vec::new();
    for link in links.iter().filter(|link| link.uses.samples() && !link.opaque) {
        if let (Some(image), Some(sampler)) = (link.image, link.sampler) {
            parts.push(Part { image, sampler, binding: parts.len() as u32 });
        }
    }
    let per_word = |time: Duration| time.as_secs_f64() * 1e9 / words.len() as f64;
    let rate = |time: Duration| words.len() as f64 * 4e-6 / time.as_secs_f64();
    let read = best(|| Module::read(words));
    let both = best(|| Module::read(words).map(|module| module.links(&label, model, Some(&values))));
    let copy = best(|| Editor::new(&module).finish());
    let half =
        best(|| split(&module, &label, model, Some(&values), 7, parts.get(..parts.len() / 2).unwrap_or_default()));
    let all = best(|| split(&module, &label, model, Some(&values), 7, &parts));
    let change = split(&module, &label, model, Some(&values), 7, &parts);
    let outcome = change.map_or_else(|why| format!("{why:?}"), |split| format!("{} words", split.words.len()));
    println!(
        "{name}: {} words, {} links; read {:.2} ns a word, with links {:.2}; rewrite: no edit {:.0} MB/s, half of the links split {:.0}, all {:.0} ({outcome})",
        words.len(),
        links.len(),
        per_word(read),
        per_word(both),
        rate(copy),
        rate(half),
        rate(all),
    );
}

/// The pre-scan looks at what stands before the first function: the rate is that of these words.
fn report_scan(name: &str, words: &[u32]) {
    let mut end = 5;
    while words.get(end).is_some_and(|first| first & 0xffff != spirv::Op::Function as u32) {
        end += words.get(end).map_or(1, |first| (first >> 16).max(1) as usize);
    }
    let time = best(|| scan(std::hint::black_box(words)));
    let rate = end as f64 * 4e-6 / time.as_secs_f64();
    println!("{name}: pre-scan of {end} words {:.2} µs, {rate:.0} MB/s; {:?}", time.as_secs_f64() * 1e6, scan(words));
}

/// A module that is nothing but declarations, as many as the longest shaders have.
fn declarations(count: u32) -> Vec<u32> {
    let mut words = vec![spirv::MAGIC_NUMBER, 0x0001_0300, 0, 3 * count + 10, 0];
    let mut add = |opcode: spirv::Op, operands: &[u32]| {
        samplin_spirv::assemble(&mut words, opcode, operands).expect("an instruction");
    };
    for n in 0..count {
        add(spirv::Op::Decorate, &[3 * n + 3, spirv::Decoration::Binding as u32, n]);
    }
    for n in 0..count {
        add(spirv::Op::TypeVector, &[3 * n + 1, 1, 4]);
        add(spirv::Op::TypePointer, &[3 * n + 2, spirv::StorageClass::Uniform as u32, 3 * n + 1]);
        add(spirv::Op::Variable, &[3 * n + 2, 3 * n + 3, spirv::StorageClass::Uniform as u32]);
    }
    words
}

/// A fragment shader for OpenGL in whose functions every pass finds something.
fn opengl(functions: usize) -> Vec<u32> {
    let mut text =
        "#version 460\nlayout(binding = 0) uniform atomic_uint a[8];\nlayout(binding = 0) uniform atomic_uint b;\n\
        layout(binding = 1, rgba32f) uniform image2D image;\nlayout(binding = 2, r11f_g11f_b10f) uniform image2D packed;\nlayout(location = 0) in vec4 at;\n\
        layout(location = 1) sample in vec4 sampled;\nlayout(location = 0) out vec4 color;\n"
            .to_owned();
    for n in 0..functions {
        let _ = write!(
            text,
            "vec4 f{n}(vec2 p, atomic_uint c) {{\n  vec4 v = interpolateAtCentroid(at) * float(atomicCounterIncrement(c) + atomicCounterIncrement(a[{}]));\n\
             for (int i = 0; i < 4; i++) {{ vec2 q = p * mat2(p.x, p.y, {n}.0, 2.0) + vec2(i, gl_SampleID);\n\
             if (dot(q, p) > 0.5) {{ v = mix(v, vec4(q, sin(q)), clamp(q.x, 0.0, 1.0)); }} else {{ v.xyz += normalize(v.zyx); }} }}\n\
             memoryBarrier(); imageStore(image, ivec2(p), v); imageStore(packed, ivec2(p), v + imageLoad(packed, ivec2(p.yx))); return v + sampled;\n}}\n",
            n % 8
        );
    }
    text += "void main() {\n  color = vec4(0.0);\n";
    for n in 0..functions {
        let _ = writeln!(text, "  color += f{n}(at.xy * {n}.0, b);");
    }
    let mut words = compile(&(text + "}\n"), "-G");
    // As a compiler of HLSL would have written it.
    if let Some(generator) = words.get_mut(2) {
        *generator = 14 << 16;
    }
    words
}

/// Everything that happens to a module that is rewritten: the pre-scan, reading, the pass, the new words.
fn report_pass(words: &[u32], step: Step<'static>) {
    let outcome = run(words, scan(words), [step].iter()).expect("memory");
    let changed = outcome.words.map_or(0, |words| words.len());
    let time = best(|| run(words, scan(words), [step].iter()));
    let rate = words.len() as f64 * 4e-6 / time.as_secs_f64();
    println!("{}: {} words become {changed}, {rate:.0} MB/s", step.pass().name(), words.len());
}

fn main() {
    let files: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    for file in &files {
        report(file, &words(Path::new(file)));
        report_scan(file, &words(Path::new(file)));
    }
    if files.is_empty() {
        for count in [50, 20_000] {
            report_scan("declarations", &declarations(count));
        }
        for functions in [4, 60, 900] {
            let words = opengl(functions);
            let device = image_access::Options { read: true, write: true, may_declare: false, relax: true };
            report_pass(&words, Step::ImageAccess(device));
            report_pass(&words, Step::AtomicCounters(atomic_counters::Options::default()));
            let formats = image_formats::Options { images: u64::MAX, buffers: u64::MAX };
            report_pass(&words, Step::ImageFormats(formats));
            report_pass(&words, Step::SampleBuiltins);
            report_pass(&words, Step::SampleInputs("main"));
        }
        for functions in [8, 60, 900] {
            report_scan("generated", &compiled(functions));
            report("generated", &compiled(functions));
        }
    }
}
