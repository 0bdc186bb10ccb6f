//! Storage images: what shaders declare of how they read and write them, and formats that compilers made up.

use super::formatless::UNSAMPLED;
use super::formats::empty;
use super::{Job, buffer, declaring, hlsl, vulkan, write_buffer, write_image};
use crate::run::{self, Judged, Outcome, Skip, same, silent, skip_if, with_layer, without_layer};
use ash::vk::{self, FormatFeatureFlags as Feature};
use libtest_mimic::Trial;
use samplin_testkit::descriptor::Binding;
use samplin_testkit::texel::Value;
use samplin_testkit::trace::RecordedChange;
use samplin_testkit::{Capability, Context, ContextBuilder, ImageDesc, ViewDesc};

pub(super) fn trials() -> Vec<Trial> {
    run::trials(&[
        ("shaders/storage/declared-for-nothing", declared_for_nothing),
        ("shaders/storage/not-read", not_read),
        ("shaders/storage/left-alone-where-it-is-legal", legal),
        ("shaders/storage/what-is-used-is-named", used),
        ("shaders/storage/augmented", augmented),
        ("shaders/storage/hlsl-store", hlsl_store),
        ("shaders/storage/hlsl-store-of-every-half", hlsl_halves),
        ("shaders/storage/hlsl-store-that-matches", hlsl_match),
        ("shaders/storage/hlsl-atomics-are-left-alone", hlsl_atomics),
    ])
}

const READ: u32 = 55;
const WRITE: u32 = 56;
const EDGE: u32 = 64;

/// A device of before version 1.3, on which the two capabilities need their features.
fn old() -> ContextBuilder {
    Context::builder().api_version(vk::API_VERSION_1_2).without(Capability::FormatFeatureFlags2)
}

/// What a shader leaves in an image of this format, of 64 × 64 texels.
fn store(context: &Context, words: &[u32], format: vk::Format) -> Result<Vec<Value>, Skip> {
    let stores = context.format_features(format, vk::ImageTiling::OPTIMAL).contains(Feature::STORAGE_IMAGE);
    skip_if((!stores).then(|| format!("{} does not store {format:?}", context.device_name())))?;
    let job = Job::new(context, words, &[Binding::stored(0)]).expect("a pipeline");
    let image = empty(context, &ImageDesc { usage: UNSAMPLED, ..ImageDesc::d2(format, EDGE, EDGE) })?;
    let view = image.view(&ViewDesc::default());
    job.run(EDGE / 8, |set| write_image(context, set, 0, &view));
    Ok(image.read(vk::ImageAspectFlags::COLOR, 0, 0))
}

/// A shader that stores a texel of its own to each place of the image, which is declared so.
fn glsl_store(declared: &str) -> Vec<u32> {
    vulkan(
        "comp",
        &format!(
            "#version 450\n#extension GL_EXT_shader_image_load_formatted : require\nlayout(local_size_x = 8, local_size_y = 8) in;\n\
             layout({declared}) uniform image2D im;\nvoid main() {{ for (uint y = gl_LocalInvocationID.y; y < {EDGE}; y += 8)\n\
             imageStore(im, ivec2(gl_GlobalInvocationID.x, y), vec4(gl_GlobalInvocationID.x, y, 0, 255) / 255.0); }}\n"
        ),
    )
}

/// What it stores.
fn picture() -> Vec<Value> {
    let texels = (0..EDGE).flat_map(|y| (0..EDGE).map(move |x| [x as f32 / 255.0, y as f32 / 255.0, 0.0, 1.0]));
    texels.map(Value::Float).collect()
}

fn assert_picture(got: &[Value]) {
    let wrong = got.iter().zip(picture()).filter(|(got, wanted)| !got.is_near(*wanted, 1e-3)).count();
    assert_eq!((got.len(), wrong), ((EDGE * EDGE) as usize, 0), "texels that are wrong");
}

/// Whether a message is about this capability.
fn names(errors: &[samplin_testkit::Message], capability: &str) -> bool {
    errors.iter().any(|error| error.text.contains(capability))
}

fn lines(changes: &[RecordedChange]) -> Vec<String> {
    changes.iter().map(|it| format!("{} {}: {} {}", it.catalog, it.field, it.from, it.to)).collect()
}

/// Both capabilities, on a device that has neither feature, and a shader that needs neither.
fn declared_for_nothing() -> Outcome {
    let words = declaring(declaring(glsl_store("rgba8, binding = 0"), READ), WRITE);
    let run = |context: &Context| store(context, &words, vk::Format::R8G8B8A8_UNORM);
    let (_, errors) = without_layer(old(), run)?;
    for capability in ["StorageImageReadWithoutFormat", "StorageImageWriteWithoutFormat"] {
        assert!(names(&errors, capability), "without samplin: {errors:#?}");
    }
    let (got, judged) = silent(old().setting("augment", "off"), "with samplin", run)?;
    assert_picture(&got);
    let changes = judged.changes("shader");
    let dropped = |name: &str| format!("H-3 capability: {name} ");
    assert_eq!(lines(&changes), [dropped("StorageImageReadWithoutFormat"), dropped("StorageImageWriteWithoutFormat")]);
    assert!(changes.iter().all(|change| change.rule == "storage-access"), "{changes:#?}");
    Ok(())
}

/// Without a format, and not said to be written only: that needs the decoration where the device does not read without a format.
fn not_read() -> Outcome {
    let words = declaring(glsl_store("binding = 0"), READ);
    let run = |context: &Context| store(context, &words, vk::Format::R8G8B8A8_UNORM);
    let (_, errors) = without_layer(old(), run)?;
    assert!(names(&errors, "StorageImageReadWithoutFormat"), "without samplin: {errors:#?}");
    let (got, judged) = silent(old(), "with samplin", |context| {
        let reads = context.features().shader_storage_image_read_without_format != 0;
        context.skip_where(reads, "reads storage images without a format")?;
        run(context)
    })?;
    assert_picture(&got);
    assert_eq!(
        lines(&judged.changes("shader")),
        ["H-3 decoration:  NonReadable", "H-3 capability: StorageImageReadWithoutFormat "]
    );
    Ok(())
}

/// From version 1.3 on declaring is legal, whatever is done with it.
fn legal() -> Outcome {
    let words = declaring(glsl_store("rgba8, binding = 0"), WRITE);
    let (got, judged) = silent(Context::builder().setting("augment", "off"), "with samplin", |context| {
        store(context, &words, vk::Format::R8G8B8A8_UNORM)
    })?;
    judged.assert_untouched("a shader that may declare it");
    assert_eq!(judged.trace.events("shader").count(), 0);
    assert_picture(&got);
    Ok(())
}

/// What the shader needs is not declared for nothing.
fn used() -> Outcome {
    let words = glsl_store("binding = 0");
    let (_, judged) =
        with_layer(old().setting("augment", "off"), |context| store(context, &words, vk::Format::R8G8B8A8_UNORM))?;
    assert!(names(&judged.errors, "StorageImageWriteWithoutFormat"), "with samplin: {:#?}", judged.errors);
    let named = judged.only_left();
    assert_eq!((&named["what"], &named["rule"]), (&"write-without-format".into(), &"storage-access".into()));
    Ok(())
}

fn added(judged: &Judged) -> String {
    judged.trace.first("device")["augmented"].to_string()
}

/// Where the device has the feature, enabling it is all it takes.
fn augmented() -> Outcome {
    let words = glsl_store("binding = 0");
    let run = |context: &Context| {
        let writes = context.features().shader_storage_image_write_without_format != 0;
        context.skip_where(!writes, "does not write without a format")?;
        store(context, &words, vk::Format::R8G8B8A8_UNORM)
    };
    let (_, errors) = without_layer(old(), run)?;
    assert!(names(&errors, "StorageImageWriteWithoutFormat"), "without samplin: {errors:#?}");
    let (got, judged) = silent(old(), "with samplin", run)?;
    assert_picture(&got);
    assert!(added(&judged).contains("shaderStorageImageWriteWithoutFormat"), "{}", added(&judged));
    // Later versions need no feature for that, so that none is added.
    let (_, judged) = silent(Context::builder(), "with samplin", run)?;
    assert!(!added(&judged).contains("WithoutFormat"), "{}", added(&judged));
    Ok(())
}

/// The same store as HLSL has it, for which a compiler declares Rgba32f.
fn hlsl_words() -> Vec<u32> {
    hlsl(
        "comp",
        &format!(
            "RWTexture2D<float4> im : register(u0);\n[numthreads(8, 8, 1)]\n\
             void main(uint3 id : SV_DispatchThreadID, uint3 own : SV_GroupThreadID) {{\n\
             for (uint y = own.y; y < {EDGE}; y += 8) im[uint2(id.x, y)] = float4(id.x, y, 0, 255) / 255.0; }}\n"
        ),
    )
}

/// Rgba32f in the shader and RGBA8 in the image: what is stored is undefined, and right once the shader does not say.
fn hlsl_store() -> Outcome {
    let words = hlsl_words();
    let run = |context: &Context| store(context, &words, vk::Format::R8G8B8A8_UNORM);
    let (off, _) = without_layer(Context::builder(), run)?;
    let wrong = off.iter().zip(picture()).filter(|(got, wanted)| !got.is_near(*wanted, 1e-3)).count();
    let (got, judged) = silent(Context::builder().setting("storage", "emulate"), "with samplin", |context| {
        if context.device_name().contains("SwiftShader") {
            // The black corner is the same in either format, if anything is.
            assert!(wrong + 1 >= picture().len(), "only {wrong} texels are wrong without samplin");
        }
        run(context)
    })?;
    assert_picture(&got);
    assert_eq!(
        lines(&judged.changes("shader")),
        ["H-4 image format: Rgba32f Unknown", "H-4 capability:  StorageImageWriteWithoutFormat"]
    );
    // Not without being asked.
    let (_, judged) = with_layer(Context::builder(), run)?;
    assert_eq!(judged.trace.events("shader").count(), 0);
    Ok(())
}

/// Every finite half, of 5 bits of exponent and 10 of mantissa, as a float.
fn halves() -> Vec<f32> {
    let value = |bits: u32| {
        let (exponent, mantissa) = (bits >> 10 & 0x1f, (bits & 0x3ff) as f32);
        let size = if exponent == 0 {
            mantissa * 2_f32.powi(-24)
        } else {
            (1024.0 + mantissa) * 2_f32.powi(exponent as i32 - 25)
        };
        if bits & 0x8000 == 0 { size } else { -size }
    };
    (0..1 << 16).filter(|bits| bits & 0x7c00 != 0x7c00).map(value).collect()
}

const HALVES: u32 = 256;

/// What is in an RGBA8 image of 256 × 256 texels to which a shader of HLSL's has stored halves, as they come, backwards, shifted, and 1.
/// The texels behind the last half have what was there before.
fn store_halves(context: &Context) -> Result<Vec<u8>, Skip> {
    let words = hlsl(
        "comp",
        &format!(
            "RWTexture2D<float4> im : register(u0);\nStructuredBuffer<float> halves : register(t1);\n[numthreads(64, 1, 1)]\n\
             void main(uint3 id : SV_DispatchThreadID) {{ uint n = id.x; uint count = {count};\n\
             if (n < count) im[uint2(n % {HALVES}, n / {HALVES})] =\n\
             float4(halves[n], halves[count - 1 - n], halves[(n + count / 4) % count], 1.0); }}\n",
            count = halves().len()
        ),
    );
    let job = Job::new(context, &words, &[Binding::stored(0), Binding::storage(1)]).expect("a pipeline");
    let desc = ImageDesc { usage: UNSAMPLED, ..ImageDesc::d2(vk::Format::R8G8B8A8_UNORM, HALVES, HALVES) };
    let image = empty(context, &desc)?;
    let view = image.view(&ViewDesc::default());
    let given = buffer(context, &halves().iter().map(|value| value.to_bits()).collect::<Vec<_>>());
    job.run(HALVES * HALVES / 64, |set| {
        write_image(context, set, 0, &view);
        write_buffer(context, set, 1, &given);
    });
    Ok(image.read_bytes(vk::ImageAspectFlags::COLOR, 0, 0))
}

/// How many texels are none of what the specification allows: of a number within 0 and 1 one of the two closest ("Fixed-Point Data
/// Conversions"), of others the nearer end.
fn wrong_texels(texels: &[u8]) -> usize {
    let halves = halves();
    let count = halves.len();
    let is_right = |(n, texel): (usize, &[u8])| {
        let wanted = [halves[n], halves[count - 1 - n], halves[(n + count / 4) % count], 1.0];
        wanted.iter().zip(texel).all(|(value, got)| {
            let exact = f64::from(value.clamp(0.0, 1.0)) * 255.0;
            (exact - f64::from(*got)).abs() < 1.0
        })
    };
    texels.chunks_exact(4).take(count).enumerate().filter(|of| !is_right(*of)).count()
}

/// Every finite half, stored by a shader of HLSL's to an image of another format than a compiler made up for it.
fn hlsl_halves() -> Outcome {
    assert_eq!(halves().len(), (1 << 16) - 2 * (1 << 10), "all but infinities and what is no number");
    let (off, _) = without_layer(Context::builder(), store_halves)?;
    let (on, _) = silent(Context::builder().setting("storage", "emulate"), "with samplin", |context| {
        let wrong = wrong_texels(&off);
        println!("{wrong} of {} texels are wrong without samplin", halves().len());
        if context.device_name().contains("SwiftShader") {
            assert_eq!(wrong, halves().len(), "texels that are wrong without samplin");
        }
        store_halves(context)
    })?;
    assert_eq!(wrong_texels(&on), 0);
    Ok(())
}

/// Where image and shader agree the result is the same, bit for bit.
fn hlsl_match() -> Outcome {
    let words = hlsl_words();
    let (on, judged) = same(Context::builder().setting("storage", "emulate"), "with samplin", |context| {
        store(context, &words, vk::Format::R32G32B32A32_SFLOAT)
    })?;
    judged.only("shader");
    assert_picture(&on);
    Ok(())
}

/// Atomic instructions need the format that is declared.
fn hlsl_atomics() -> Outcome {
    let words = hlsl(
        "comp",
        "RWTexture2D<uint> im : register(u0);\n[numthreads(8, 8, 1)]\nvoid main(uint3 id : SV_DispatchThreadID) {\n\
         uint before; InterlockedAdd(im[uint2(id.x % 4, 0)], 1, before); }\n",
    );
    let (off, judged) = same(Context::builder().setting("storage", "emulate"), "with samplin", |context| {
        store(context, &words, vk::Format::R32_UINT)
    })?;
    assert_eq!(judged.trace.events("shader").count(), 0);
    let named = judged.only_left();
    assert_eq!((&named["what"], &named["rule"]), (&"image-atomics".into(), &"storage-format".into()));
    assert_eq!(off.iter().filter(|value| **value != Value::Uint([0, 0, 0, 1])).count(), 4, "{:?}", &off[..8]);
    Ok(())
}
