//! Compiles the GLSL of `shaders/` into one SPIR-V module per (stage, shape, kind, access).
//!
//! The modules land in `OUT_DIR` together with `modules.rs`, a table from variant name to bytes.

use std::fmt::Write as _;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::Command;

/// One image shape: name, GLSL suffix, coordinate swizzle, depth-compare coordinate.
struct Shape {
    name: &'static str,
    suffix: &'static str,
    coord: &'static str,
    fetch: Option<&'static str>,
    shadow: Option<&'static str>,
    gather: bool,
}

impl Shape {
    const fn new(
        [name, suffix, coord]: [&'static str; 3],
        fetch: Option<&'static str>,
        shadow: Option<&'static str>,
        gather: bool,
    ) -> Self {
        Self { name, suffix, coord, fetch, shadow, gather }
    }
}

const SHAPES: [Shape; 7] = [
    Shape::new(["1d", "1D", "p.x"], Some("int(p.x)"), Some("vec3(p.x, 0.0, d)"), false),
    Shape::new(["1d_array", "1DArray", "p.xy"], Some("ivec2(p.xy)"), Some("vec3(p.xy, d)"), false),
    Shape::new(["2d", "2D", "p.xy"], Some("ivec2(p.xy)"), Some("vec3(p.xy, d)"), true),
    Shape::new(["2d_array", "2DArray", "p.xyz"], Some("ivec3(p.xyz)"), Some("vec4(p.xyz, d)"), true),
    Shape::new(["3d", "3D", "p.xyz"], Some("ivec3(p.xyz)"), None, false),
    Shape::new(["cube", "Cube", "p.xyz"], None, Some("vec4(p.xyz, d)"), true),
    Shape::new(["cube_array", "CubeArray", "p.xyzw"], None, Some("p, d"), true),
];

/// One numeric kind: name, GLSL prefix, expression that turns `v` into a `uvec4` of bits.
const KINDS: [(&str, &str, &str); 3] =
    [("float", "", "floatBitsToUint(v)"), ("int", "i", "uvec4(v)"), ("uint", "u", "v")];

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=shaders");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let variants = variants();
    let (out, module) = (&out, &|name: &str| format!("{}.spv", name.replace('/', "-")));
    // Lints have build folders of their own, and nothing of what is built there runs.
    let wrapper = std::env::var("RUSTC_WORKSPACE_WRAPPER").unwrap_or_default();
    let is_linted = wrapper.ends_with("clippy-driver");
    // Hundreds of runs of a tenth of a second; all that uses this package waits for them.
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
    std::thread::scope(|scope| {
        for part in variants.chunks(variants.len().div_ceil(threads)) {
            scope.spawn(move || {
                for (name, file, defines) in part {
                    let made = out.join(module(name));
                    if is_linted {
                        std::fs::write(made, []).expect("OUT_DIR is writable");
                    } else {
                        compile(&Path::new("shaders").join(file), &made, defines);
                    }
                }
            });
        }
    });
    let mut table = String::from("pub(crate) static MODULES: &[(&str, &[u8])] = &[\n");
    for (name, ..) in &variants {
        let module = module(name);
        writeln!(table, "    ({name:?}, include_bytes!(concat!(env!(\"OUT_DIR\"), \"/{module}\"))),")
            .expect("writing to a string cannot fail");
    }
    table.push_str("];\n");
    std::fs::write(out.join("modules.rs"), table).expect("OUT_DIR is writable");
}

/// Ways to join images and samplers in `separate.glsl`, and whether its two images may be of different kinds.
const PROGRAMS: [(&str, bool); 28] = [
    ("one", false),
    ("shared", true),
    ("calls", false),
    ("constant", false),
    ("special", false),
    ("dynamic", false),
    ("samplers", true),
    ("pairs", false),
    ("fetch", true),
    ("salted", false),
    ("above", false),
    ("plain", false),
    ("beside", false),
    ("compared", false),
    ("both", false),
    ("shadows", false),
    ("dynamic_shadows", false),
    ("gather", true),
    ("engine", false),
    ("aliased", true),
    ("nonuniform", false),
    ("queried", true),
    ("world", false),
    ("global", false),
    ("tables", false),
    ("loops", false),
    ("quads", false),
    ("mixed", true),
];

/// `separate.glsl` for each program, stage, set of the samplers and kinds of the images.
fn separate() -> Vec<(String, &'static str, Vec<String>)> {
    let mut all = Vec::new();
    let float_and_uint = [KINDS[0], KINDS[2]];
    for (program, mixed) in PROGRAMS {
        // Depths are floats.
        for a in float_and_uint
            .into_iter()
            .filter(|a| !["compared", "both", "shadows", "dynamic_shadows"].contains(&program) || a.0 == "float")
        {
            for b in float_and_uint.into_iter().filter(|b| mixed || b.0 == a.0) {
                for (stage, option) in [("compute", "comp"), ("fragment", "frag")] {
                    for states in 0..2 {
                        let name = format!("separate/{program}/{stage}/{states}/{}-{}", a.0, b.0);
                        let mut arguments = vec!["-S".to_owned(), option.to_owned()];
                        arguments.push(format!("-D{}", program.to_uppercase()));
                        arguments.push(format!("-DSTATES={states}"));
                        if stage == "fragment" {
                            arguments.push("-DFRAGMENT".to_owned());
                        }
                        for (which, (_, prefix, bits)) in [("A", a), ("B", b)] {
                            arguments.push(format!("-DTEXTURE_{which}={prefix}texture2D"));
                            arguments.push(format!("-DCOMBINED_{which}={prefix}sampler2D"));
                            arguments.push(format!("-DJOIN_{which}(i,s)={prefix}sampler2D(i,s)"));
                            arguments.push(format!("-DBITS_{which}(v)={bits}"));
                        }
                        all.push((name, "separate.glsl", arguments));
                    }
                }
            }
        }
    }
    all
}

/// `store.comp` for each kind of channels, to read and to write.
fn stored() -> Vec<(String, &'static str, Vec<String>)> {
    let kinds = [
        ("float", "", "rg16", "uintBitsToFloat(w)", "floatBitsToUint(v)"),
        ("int", "i", "rg16i", "ivec4(w)", "uvec4(v)"),
        ("uint", "u", "rg16ui", "w", "v"),
    ];
    let mut all = Vec::new();
    for (kind, prefix, format, into, from) in kinds {
        for (name, define) in [("load", Some("-DREADS")), ("store", None)] {
            let mut arguments = vec![
                format!("-DIMAGE={prefix}image2D"),
                format!("-DFORMAT={format}"),
                format!("-DINTO(w)={into}"),
                format!("-DFROM(v)={from}"),
            ];
            arguments.extend(define.map(str::to_owned));
            all.push((format!("{name}/{kind}"), "store.comp", arguments));
        }
    }
    all
}

/// Every (name, source file, preprocessor definitions).
fn variants() -> Vec<(String, &'static str, Vec<String>)> {
    let mut all = vec![("draw/vertex".to_owned(), "quad.vert", Vec::new())];
    all.extend(separate());
    all.extend(stored());
    for Shape { name: shape, suffix, coord, fetch, shadow, gather } in SHAPES {
        let mut add =
            |(file, op, kind): (&'static str, &str, &str), base: &[String], call: String, ways: &[(&str, &str)]| {
                for (access, define) in ways {
                    let more = [format!("-DLOOKUP(s,p,d,l)={call}"), (*define).to_owned()];
                    all.push((format!("{op}/{shape}/{kind}/{access}"), file, [base, &more].concat()));
                }
            };
        for (kind, prefix, bits) in KINDS {
            let base = [
                format!("-DSAMPLER={prefix}sampler{suffix}"),
                format!("-DTEXTURE={prefix}texture{suffix}"),
                "-DSAMPLER_STATE=sampler".to_owned(),
                format!("-DVALUE={prefix}vec4"),
                format!("-DBITS(v)={bits}"),
            ];
            let sample = |op| ("sample.comp", op, kind);
            add(sample("sample"), &base, format!("textureLod(s,{coord},l)"), &ACCESSES);
            if let Some(fetch) = fetch {
                add(sample("fetch"), &base, format!("texelFetch(s,{fetch},int(l))"), &ACCESSES[..1]);
            }
            if gather {
                add(sample("gather"), &base, format!("textureGather(s,{coord})"), &DRAWN);
            }
            if shape == "2d" && kind == "float" {
                add(sample("offset"), &base, "textureLodOffset(s,p.xy,l,ivec2(2,-3))".to_owned(), &DRAWN);
                add(sample("gather_offset"), &base, "textureGatherOffset(s,p.xy,ivec2(2,-3))".to_owned(), &DRAWN);
            }
            add(("quad.frag", "draw", kind), &base, format!("texture(s,{coord},l)"), &DRAWN);
        }
        if let Some(compared) = shadow {
            let base = [
                "-DSHADOW".to_owned(),
                format!("-DSAMPLER=sampler{suffix}Shadow"),
                format!("-DTEXTURE=texture{suffix}"),
                "-DSAMPLER_STATE=samplerShadow".to_owned(),
                "-DVALUE=vec4".to_owned(),
                "-DBITS(v)=floatBitsToUint(v)".to_owned(),
            ];
            // GLSL has no textureLod for these; gradients say the same (cube: the base level only). Of cube arrays it has neither.
            let call = match suffix {
                "2DArray" => format!("vec4(textureGrad(s,{compared},GRADIENT_X(s,l),GRADIENT_Y(s,l)))"),
                "Cube" => format!("vec4(textureGrad(s,{compared},vec3(0.0),vec3(0.0)))"),
                "CubeArray" => format!("vec4(texture(s,{compared}))"),
                _ => format!("vec4(textureLod(s,{compared},l))"),
            };
            add(("sample.comp", "sample", "shadow"), &base, call, &ACCESSES);
            if gather {
                add(("sample.comp", "gather", "shadow"), &base, format!("textureGather(s,{coord},d)"), &DRAWN);
            }
            add(("quad.frag", "draw", "shadow"), &base, format!("vec4(texture(s,{compared}))"), &DRAWN);
        }
    }
    all
}

const ACCESSES: [(&str, &str); 3] =
    [("single", "-DACCESS_SINGLE"), ("array", "-DACCESS_ARRAY"), ("separate", "-DACCESS_SEPARATE")];

const DRAWN: [(&str, &str); 2] = [ACCESSES[0], ACCESSES[2]];

fn compile(source: &Path, target: &Path, defines: &[String]) {
    let output = Command::new("glslangValidator").arg("-V").args(defines).arg("-o").arg(target).arg(source).output();
    match output {
        Ok(output) if output.status.success() => {}
        Ok(output) => panic!(
            "glslangValidator rejected {} with {defines:?}:\n{}{}",
            source.display(),
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        ),
        Err(error) => panic!(
            "cannot run glslangValidator ({error}); it compiles the test shaders and is in the Debian package glslang-tools"
        ),
    }
}
