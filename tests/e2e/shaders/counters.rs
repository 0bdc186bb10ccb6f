//! Atomic counters: `VK_SAMPLIN_gl_shaders` and the setting `counters`.

use super::samples::{ONE, draw_stages};
use super::{Job, buffer, opengl, write_buffer};
use crate::run::{self, Folder, Judged, Outcome, Skip, read_trace, silent, with_layer, without_layer};
use ash::vk;
use libtest_mimic::Trial;
use samplin_suite::opengl;
use samplin_testkit::descriptor::Binding;
use samplin_testkit::shader::ShaderModule;
use samplin_testkit::texel::Value;
use samplin_testkit::{Buffer, Context, ContextBuilder, again};
use serde_json::{Value as Json, json};
use std::ffi::CStr;

const EXTENSION: &CStr = c"VK_SAMPLIN_gl_shaders";

pub(super) fn trials() -> Vec<Trial> {
    run::trials(&[
        ("shaders/counters/model-is-opengl", model_is_opengl),
        ("shaders/counters/extension", by_extension),
        ("shaders/counters/auto", by_setting),
        ("shaders/counters/fixed", fixed),
        ("shaders/counters/every-operation", every_operation),
        ("shaders/counters/stages-that-share", stages_that_share),
        ("shaders/counters/refused", refused),
        ("shaders/counters/binding-taken", binding_taken),
        ("shaders/counters/layout", other_layout),
        ("shaders/counters/left-alone", left_alone),
        ("shaders/counters/audit", audit),
        ("shaders/counters/record-before-the-driver-dies", record_first),
    ])
}

/// Counters of two bindings at odd places: one that a function is given, one that goes down too, and one for each work group, whose
/// values are therefore the same in every run.
const SOURCE: &str = "#version 460
layout(local_size_x = 1) in;
layout(std430, binding = 3) buffer Result { uint result[]; };
layout(binding = 0, offset = 4) uniform atomic_uint all;
layout(binding = 0, offset = 8) uniform atomic_uint own[8];
layout(binding = 1, offset = 12) uniform atomic_uint balance;
uint bump(atomic_uint counter, uint times) {
    uint last = 0;
    for (uint i = 0; i < times; i++) last = atomicCounterIncrement(counter);
    return last;
}
void main() {
    uint g = gl_WorkGroupID.x;
    bump(all, 3);
    bump(balance, g + 2);
    atomicCounterDecrement(balance);
    uint before = bump(own[g], g + 1);
    memoryBarrierAtomicCounter();
    result[2 * g] = before * 1000 + atomicCounterDecrement(own[g]);
    result[2 * g + 1] = atomicCounter(own[g]);
}
";
const GROUPS: u32 = 8;

/// The three buffers before: of binding 0, of binding 1, and what is written.
const FIRST: [u32; 10] = [7, 100, 5, 5, 5, 5, 5, 5, 5, 5];
const SECOND: [u32; 4] = [1, 2, 3, 40];

/// What OpenGL says of the three buffers after; a decrement gives the value that the counter has then.
fn model() -> [Vec<u32>; 3] {
    let (mut first, mut second, mut result) = (FIRST.to_vec(), SECOND.to_vec(), Vec::new());
    for g in 0..GROUPS {
        first[1] += 3;
        second[3] += g + 2 - 1;
        let own = &mut first[2 + g as usize];
        *own += g + 1;
        let before = *own - 1;
        *own -= 1;
        result.extend([before * 1000 + *own, *own]);
    }
    [first, second, result]
}

/// OpenGL says the same of the module as it is.
fn model_is_opengl() -> Outcome {
    let mut buffers = [
        (opengl::COUNTERS, 0, FIRST.to_vec()),
        (opengl::COUNTERS, 1, SECOND.to_vec()),
        (opengl::STORAGE, 3, vec![0; 2 * GROUPS as usize]),
    ];
    opengl::run(&opengl("comp", SOURCE), GROUPS, &mut buffers)?;
    assert_eq!(buffers.map(|(_, _, words)| words), model());
    Ok(())
}

/// Runs the shader with its counters at these bindings of set 0.
fn count(context: &Context, at: [u32; 2]) -> Result<[Vec<u32>; 3], Skip> {
    let mut bindings = [at[0], at[1], 3];
    let job = Job::new(context, &opengl("comp", SOURCE), &bindings.map(Binding::storage)).expect("a pipeline");
    let buffers = [buffer(context, &FIRST), buffer(context, &SECOND), buffer(context, &[0; 2 * GROUPS as usize])];
    job.run(GROUPS, |set| {
        bindings.iter_mut().zip(&buffers).for_each(|(binding, buffer)| write_buffer(context, set, *binding, buffer));
    });
    Ok(buffers.each_ref().map(Buffer::words))
}

/// Checks buffers, silence and the record.
fn assert_counts(builder: ContextBuilder, at: [u32; 2]) -> Outcome {
    let (got, judged) = silent(builder, "with samplin", |context| count(context, at))?;
    assert_eq!(got, model());
    let record = judged.only("shader");
    assert_eq!((&record["tier"], &record["pass"]), (&json!("module"), &json!("atomic_counters")));
    let mapping = json!([
        { "counter_binding": 0, "set": 0, "binding": at[0], "offsets": [4, 8], "size": 40 },
        { "counter_binding": 1, "set": 0, "binding": at[1], "offsets": [12], "size": 16 },
    ]);
    assert_eq!(record["mapping"], mapping);
    assert!(
        judged.changes("shader").iter().all(|change| (&*change.rule, &*change.catalog) == ("atomic-counters", "K-1"))
    );
    judged.assert_resolved();
    Ok(())
}

/// What can be done with a counter: in GLSL, where `x` is an operand, and what is left of a counter and given back.
type Operation = (&'static str, fn(u32, u32) -> (u32, u32));

const OPERATIONS: [Operation; 13] = [
    ("atomicCounter(c[g])", |c, _| (c, c)),
    ("atomicCounterIncrement(c[g])", |c, _| (c.wrapping_add(1), c)),
    // It alone gives what is left.
    ("atomicCounterDecrement(c[g])", |c, _| (c.wrapping_sub(1), c.wrapping_sub(1))),
    ("atomicCounterAdd(c[g], x)", |c, x| (c.wrapping_add(x), c)),
    ("atomicCounterSubtract(c[g], x)", |c, x| (c.wrapping_sub(x), c)),
    ("atomicCounterMin(c[g], x)", |c, x| (c.min(x), c)),
    ("atomicCounterMax(c[g], x)", |c, x| (c.max(x), c)),
    ("atomicCounterAnd(c[g], x)", |c, x| (c & x, c)),
    ("atomicCounterOr(c[g], x)", |c, x| (c | x, c)),
    ("atomicCounterXor(c[g], x)", |c, x| (c ^ x, c)),
    ("atomicCounterExchange(c[g], x)", |c, x| (x, c)),
    ("atomicCounterCompSwap(c[g], 77u, x)", |c, x| (if c == 77 { x } else { c }, c)),
    ("atomicCounterCompSwap(c[g], 5u, x)", |c, x| (if c == 5 { x } else { c }, c)),
];

/// A work group for each operation, with a counter of its own on which it works with each operand.
const OPERANDS: [u32; 4] = [3, 0xffff_fff0, 77, 0];
const BEFORE: [u32; 13] = [9, u32::MAX, 0, u32::MAX - 1, 1, 50, 50, 0xabcd, 0xabcd, 0xabcd, 12, 77, 5];

fn operations() -> Vec<u32> {
    let case = |(n, operation): (usize, &Operation)| format!("case {n}: r = {}; break;\n", operation.0);
    let cases: String = OPERATIONS.iter().enumerate().map(case).collect();
    let source = format!(
        "#version 460\nlayout(local_size_x = 1) in;\nlayout(std430, binding = 0) buffer Result {{ uint result[]; }};\n\
         layout(binding = 2, offset = 4) uniform atomic_uint c[13];\nvoid main() {{ uint g = gl_WorkGroupID.x;\n\
         uint xs[4] = uint[4]({}u, {}u, {}u, {}u);\nfor (uint i = 0; i < 4; i++) {{ uint x = xs[i], r = 0;\n\
         switch (g) {{ {cases} }}\nresult[4 * g + i] = r; }} }}\n",
        OPERANDS[0], OPERANDS[1], OPERANDS[2], OPERANDS[3]
    );
    opengl("comp", &source)
}

/// What is in the counters behind a word that is none, and what they gave back.
fn operations_model() -> [Vec<u32>; 2] {
    let (mut counters, mut results) = (vec![1234], Vec::new());
    for ((_, of), before) in OPERATIONS.iter().zip(BEFORE) {
        let mut counter = before;
        for x in OPERANDS {
            let (left, given) = of(counter, x);
            counter = left;
            results.push(given);
        }
        counters.push(counter);
    }
    [counters, results]
}

fn counters_before() -> Vec<u32> {
    [&[1234][..], &BEFORE].concat()
}

/// Only the model is asked: llvmpipe's OpenGL ends the process that gives it more than what [`model_is_opengl`] does.
fn every_operation() -> Outcome {
    let (got, judged) = silent(Context::builder().setting("counters", "auto"), "with samplin", |context| {
        let job = Job::new(context, &operations(), &[0, 3].map(Binding::storage)).expect("a pipeline");
        let buffers = [buffer(context, &counters_before()), buffer(context, &[7; 4 * OPERATIONS.len()])];
        job.run(OPERATIONS.len() as u32, |set| {
            write_buffer(context, set, 3, &buffers[0]);
            write_buffer(context, set, 0, &buffers[1]);
        });
        Ok(buffers.each_ref().map(Buffer::words))
    })?;
    assert_eq!(got, operations_model());
    let mapping = json!([{ "counter_binding": 2, "set": 0, "binding": 3, "offsets": [4], "size": 56 }]);
    assert_eq!(judged.trace.first("shader")["mapping"], mapping);
    Ok(())
}

/// Two stages of a pipeline whose counters are in the same buffer, at a place that the setting says for both.
fn stages_that_share() -> Outcome {
    let vertex = opengl(
        "vert",
        "#version 460\nlayout(binding = 0, offset = 0) uniform atomic_uint both;\n\
         void main() { vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 4.0 - 1.0;\n\
         atomicCounterOr(both, 1u << gl_VertexID); gl_Position = vec4(corner, 0.0, 1.0); }\n",
    );
    let fragment = opengl(
        "frag",
        "#version 460\nlayout(binding = 0, offset = 0) uniform atomic_uint both;\n\
         layout(binding = 1, offset = 0) uniform atomic_uint runs;\nlayout(location = 0) out vec4 o;\n\
         void main() { atomicCounterOr(both, 16u); atomicCounterIncrement(runs); o = vec4(1.0); }\n",
    );
    let ((picture, words), judged) =
        silent(Context::builder().setting("counters", "0:4"), "with samplin", |context| {
            draw_stages(context, [&vertex, &fragment], ONE, &[4, 5])
        })?;
    assert!(picture.iter().all(|texel| texel.is_near(Value::Float([1.0; 4]), 0.0)));
    // Three vertices and the fragments in one, a run for each fragment in the other.
    assert_eq!(words, [0b10111, picture.len() as u32]);
    let at: Vec<_> = judged.trace.events("shader").map(|record| &record["mapping"][0]["binding"]).collect();
    assert_eq!(at, [&json!(4), &json!(4)]);
    Ok(())
}

/// Whether a module is made of words that the validation layer refuses, so that no driver sees them.
fn is_made(context: &Context, source: &str) -> bool {
    ShaderModule::try_new(context, &opengl("comp", source)).is_ok()
}

/// With samplin they go down as they came.
fn is_refused(builder: ContextBuilder, source: &str) -> Result<Judged, Skip> {
    let (made, judged) = with_layer(builder.refuse_errors(), |context| Ok(is_made(context, source)))?;
    assert!(!made && !judged.errors.is_empty(), "what validation refuses went down as it came");
    Ok(judged)
}

/// Nobody else takes such a shader.
fn assert_refused_below() -> Outcome {
    let (made, errors) = without_layer(Context::builder().refuse_errors(), |context| Ok(is_made(context, SOURCE)))?;
    assert!(!made && !errors.is_empty(), "without samplin: {errors:#?}");
    Ok(())
}

fn by_extension() -> Outcome {
    assert_refused_below()?;
    assert_counts(Context::builder().extension(EXTENSION), [4, 5])
}

fn by_setting() -> Outcome {
    assert_counts(Context::builder().setting("counters", "auto"), [4, 5])
}

/// The setting says where, also to an application that enables the extension.
fn fixed() -> Outcome {
    assert_counts(Context::builder().setting("counters", "0:6").extension(EXTENSION), [6, 7])
}

/// The module as it came, and the name of what keeps it from being another.
fn module_is_left(builder: ContextBuilder, source: &str, what: &str) -> Result<Judged, Skip> {
    let judged = is_refused(builder, source)?;
    let record = judged.only_left();
    assert_eq!((&record["what"], &record["rule"]), (&json!(what), &json!("atomic-counters")));
    assert_eq!(judged.trace.events("shader").count(), 0);
    Ok(judged)
}

fn refused() -> Outcome {
    let overlap = "#version 460\nlayout(local_size_x = 1) in;\nlayout(binding = 0, offset = 0) uniform atomic_uint a[3];
        layout(binding = 0, offset = 12) uniform atomic_uint b;\nlayout(location = 3) uniform float scale;
        layout(std430, binding = 0) buffer Out { float o; };\nvoid main() { o = scale + atomicCounter(a[1]) + atomicCounter(b); }\n";
    module_is_left(Context::builder().extension(EXTENSION), overlap, "default-block-uniform")?;
    Ok(())
}

fn binding_taken() -> Outcome {
    let judged = module_is_left(Context::builder().setting("counters", "0:3"), SOURCE, "binding-taken")?;
    assert_eq!(judged.trace.first("unresolved")["descriptor"], json!({ "set": 0, "binding": 3 }));
    Ok(())
}

/// A pipeline layout that has nothing, or something else, where the counters are.
fn other_layout() -> Outcome {
    let ((), judged) = with_layer(Context::builder().extension(EXTENSION).refuse_errors(), |context| {
        let bindings = [Binding::storage(3), Binding::new(5, vk::DescriptorType::UNIFORM_BUFFER, 1)];
        assert!(Job::new(context, &opengl("comp", SOURCE), &bindings).is_err(), "validation refuses the pipeline");
        Ok(())
    })?;
    let named: Vec<(&Json, &Json)> =
        judged.trace.events("unresolved").map(|record| (&record["what"], &record["descriptor"])).collect();
    let at = |binding| json!({ "set": 0, "binding": binding });
    assert_eq!(named, [(&json!("binding-missing"), &at(4)), (&json!("binding-taken"), &at(5))]);
    Ok(())
}

/// A shader for Vulkan is not touched, whoever allows counters.
fn left_alone() -> Outcome {
    let words = super::vulkan(
        "comp",
        "#version 450\nlayout(local_size_x = 1) in;\nlayout(std430, binding = 0) buffer O { uint o[]; };\n\
         void main() { atomicAdd(o[0], gl_WorkGroupID.x); memoryBarrier(); }\n",
    );
    let (got, judged) = silent(Context::builder().extension(EXTENSION), "with samplin", |context| {
        let job = Job::new(context, &words, &[Binding::storage(0)]).expect("legal");
        let out = buffer(context, &[5]);
        job.run(4, |set| write_buffer(context, set, 0, &out));
        Ok(out.words())
    })?;
    judged.assert_untouched("a shader for Vulkan");
    assert_eq!((got, judged.trace.events("shader").count()), (vec![5 + 1 + 2 + 3], 0));
    Ok(())
}

/// Written down and not done.
fn audit() -> Outcome {
    is_refused(Context::builder().setting("mode", "audit").setting("counters", "auto"), SOURCE)?.only("shader");
    Ok(())
}

/// The process that a driver ends.
pub(super) fn application(context: &Context) -> Outcome {
    // Its end is expected, whatever the driver does.
    again::tell(Ok(()));
    let _ = Job::new(context, &opengl("comp", SOURCE), &[3, 4, 5].map(Binding::storage));
    // SAFETY: ends the process where the driver did not.
    unsafe { libc::_exit(0) };
}

/// Neither extension nor setting: the record is in the file before the words go down.
fn record_first() -> Outcome {
    let folder = Folder::new();
    let path = folder.join("trace.jsonl");
    let output = again::command("shaders/counters").env("SAMPLIN_TRACE", &path).output().expect("starts again");
    let said = String::from_utf8_lossy(&output.stdout);
    if let Some((_, reason)) = said.split_once("the part cannot be played: ") {
        return Err(Skip(reason.trim().to_owned()));
    }
    let trace = read_trace(&path);
    let record = trace.events("unresolved").find(|record| record["what"] == "atomic-counters");
    let record = record.unwrap_or_else(|| panic!("{trace:#?}, {output:?}"));
    assert_eq!(record["rule"], "atomic-counters");
    assert_eq!(record["vuid"], "VUID-VkShaderModuleCreateInfo-pCode-08740");
    Ok(())
}
