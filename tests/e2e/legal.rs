//! What is legal, however odd it looks, and must come out untouched: bit for bit the same pixels with and without samplin.

use crate::run::{Outcome, assert_silent, silent, trial, with_layer, without_layer};
use crate::scene::{Scene, Shape};
use ash::vk;
use libtest_mimic::Trial;
use samplin_suite::case::*;
use samplin_suite::rows;
use samplin_testkit::descriptor::{Binding, Pool, SetLayout, write_combined};
use samplin_testkit::shader::{Access, Bind, Op, ResultKind};
use samplin_testkit::{BorderValue, Capability, Context, Pair, Probe, SamplePoint, SamplerDesc, Value, reference};

const RGBA8: Scene = Scene::RGBA8;
const D32: Scene = Scene::D32;
const UINT: Scene = Scene::UINT;

fn cases() -> Vec<Case> {
    let address = vk::SamplerAddressMode::from_raw;
    rows! {
        // What another member switches off may hold anything.
        Case::legal("garbage-in-ignored-members", RGBA8,
            SamplerDesc { max_anisotropy: f32::NAN, compare_op: vk::CompareOp::from_raw(-77),
            border_color: B::INT_OPAQUE_WHITE, ..linear() }),
        Case::legal("garbage-border-that-no-axis-uses", RGBA8,
            SamplerDesc { border_color: B::from_raw(i32::MIN), ..linear() })
            .crashes("llvmpipe"),
        Case::legal("garbage-in-ignored-members-of-integers", UINT,
            SamplerDesc { max_anisotropy: -1.0, compare_op: vk::CompareOp::from_raw(99),
            border_color: B::FLOAT_OPAQUE_WHITE, ..nearest() }),
        Case::legal("custom-border-that-no-axis-uses", RGBA8,
            custom_int([7, 7, 7, 7], F::R8G8B8A8_UINT).address(vk::SamplerAddressMode::REPEAT))
            .needs([Capability::CustomBorderColor]),
        Case::legal("lod-negative", RGBA8, SamplerDesc::trilinear().lod(-3.5, 0.25)),
        Case::legal("lod-zero", RGBA8, linear().lod(0.0, 0.0)),
        Case::legal("lod-infinite", RGBA8, linear().lod(f32::NEG_INFINITY, f32::INFINITY)),
        Case::legal("lod-minus-zero", RGBA8, linear().lod(0.0, -0.0)),
        Case::legal("bias-at-the-limit", RGBA8, SamplerDesc { lod_bias: -15.0, ..SamplerDesc::trilinear() }),
        Case::legal("every-address-mode", RGBA8.shape(Shape::D3),
            SamplerDesc { address: [address(0), address(1), address(2)], ..linear() }),
        Case::legal("mirror-clamp", RGBA8, linear().address(vk::SamplerAddressMode::MIRROR_CLAMP_TO_EDGE))
            .needs([Capability::SamplerMirrorClampToEdge]),
        Case::legal("anisotropy", RGBA8, linear().anisotropy(16.0))
            .needs([Capability::SamplerAnisotropy]).unreferenced(),
        // Comparison with LINEAR needs no LINEAR bit (B-34).
        Case::legal("linear-compare-d32", D32, linear().compare(vk::CompareOp::LESS)).unreferenced(),
        Case::legal("trilinear-compare-d16", Scene::depth(F::D16_UNORM),
            SamplerDesc::trilinear().compare(vk::CompareOp::GREATER_OR_EQUAL))
            .unreferenced(),
        // MIN and MAX ask for a bit of their own. The older validation layers ask for the one of averaging.
        Case::legal("min-linear-d32", D32, linear().reduction(vk::SamplerReductionMode::MIN))
            .needs([Capability::SamplerFilterMinmax]).wanting(vk::FormatFeatureFlags::SAMPLED_IMAGE_FILTER_MINMAX)
            .alarms(&["magFilter-04553"]),
        Case::legal("weighted-average-spelled-out", RGBA8,
            linear().reduction(vk::SamplerReductionMode::WEIGHTED_AVERAGE))
            .needs([Capability::SamplerFilterMinmax]),
        Case::legal("int-border-of-integers", UINT, border(B::INT_OPAQUE_WHITE)),
        Case::legal("float-border-of-depth", D32, border(B::FLOAT_OPAQUE_WHITE)),
        Case::legal("int-border-of-stencil", Scene::stencil(F::S8_UINT), border(B::INT_OPAQUE_BLACK)),
        // A 1D view has no second axis, so the border of the wrong kind cannot be seen.
        Case::legal("border-on-an-axis-that-is-not-there", RGBA8.shape(Shape::D1),
            SamplerDesc { address: [vk::SamplerAddressMode::REPEAT, vk::SamplerAddressMode::CLAMP_TO_BORDER,
            vk::SamplerAddressMode::CLAMP_TO_BORDER], border_color: B::INT_OPAQUE_WHITE, ..nearest() }),
        Case::legal("seamless-cube-with-any-border", RGBA8.shape(Shape::Cube), linear().border(B::INT_OPAQUE_WHITE))
            .unreferenced(),
        Case::legal("non-seamless-cube", RGBA8.shape(Shape::Cube),
            SamplerDesc { flags: vk::SamplerCreateFlags::NON_SEAMLESS_CUBE_MAP_EXT,
            ..linear().border(B::FLOAT_OPAQUE_WHITE) }).needs([Capability::NonSeamlessCubeMap]).unreferenced(),
        Case::legal("custom-border-without-format", RGBA8,
            linear().custom_border(BorderValue::Float([0.25, 0.5, 0.75, 1.0]), F::UNDEFINED))
            .needs([Capability::CustomBorderColorWithoutFormat]),
        Case::legal("custom-border-of-integers", UINT, custom_uint([0xdead_beef, 0, 0, 1], F::R32_UINT))
            .needs([Capability::CustomBorderColor]),
        Case::legal("unnormalized-linear", RGBA8.flat(), SamplerDesc::unnormalized(vk::Filter::LINEAR)),
    }
}

/// One test for each legal pair, and those that need more than a row.
pub(crate) fn trials() -> Vec<Trial> {
    let mut all: Vec<Trial> =
        cases().into_iter().map(|case| trial(format!("legal/{}", case.name), move || run(&case))).collect();
    all.push(trial("legal/one-sampler-for-a-legal-and-an-illegal-view", shared_sampler));
    all.push(trial("legal/gather-is-the-same", || same_result(Op::Gather)));
    all.push(trial("legal/fetch-is-the-same", || same_result(Op::Fetch)));
    all
}

fn run(case: &Case) -> Outcome {
    let (off, errors) = without_layer(Context::builder(), |context| case.look(context))?;
    let (on, judged) = with_layer(Context::builder(), |context| case.look(context))?;
    if errors.is_empty() {
        judged.assert_silent("with samplin");
    } else {
        let Oracle::MayReport(false_alarm) = case.oracle else { panic!("not legal: {errors:#?}") };
        assert_reported(&errors, false_alarm, "without samplin");
        assert_reported(&judged.errors, false_alarm, "with samplin");
    }
    judged.assert_untouched("a legal pair");
    assert_eq!(judged.summary()["writes"]["update"]["seen"], looks(&case.scene, &case.legal));
    let bits = |values: &[Value]| values.iter().map(|value| value.bits()).collect::<Vec<_>>();
    assert_eq!(bits(&on.got), bits(&off.got), "samplin changed the pixels of a legal pair");
    if case.referenced {
        assert_same(&on.got, &on.wanted, &case.sampler, &case.scene, "with samplin");
    }
    Ok(())
}

/// Both pairs lie in one set; the legal one goes on filtering with the sampler that the other cannot use.
fn shared_sampler() -> Outcome {
    let ((), judged) = silent(Context::builder(), "with samplin", |context| {
        let scenes = [UINT, RGBA8];
        let images = [UINT.image(context)?, RGBA8.image(context)?];
        let views = [UINT.view(&images[0]), RGBA8.view(&images[1])];
        let sampler = SamplerDesc::trilinear().create(context);
        let layout = SetLayout::new(context, &[Binding::combined(0, 1), Binding::combined(1, 1)]);
        let (_pool, set) = Pool::set(context, &layout);
        let pairs = [0, 1].map(|index| Pair::new(&views[index], &sampler));
        write_combined(context, set, (0, 0), &pairs);
        let legal = [SamplerDesc::nearest(), SamplerDesc::trilinear()];
        let points = RGBA8.points(false);
        for index in [0, 1] {
            let access = Access::Single { binding: index as u32 };
            let pair = pairs[index];
            let got =
                Probe::new(context, &layout, Op::Sample, pair.shape, pair.kind, access).run(&Bind::Set(set), &points);
            let texture = reference::Texture::read(&images[index], &views[index]);
            let wanted: Vec<Value> =
                points.iter().map(|point| reference::sample(&texture, &legal[index], point, 16.0)).collect();
            assert_same(&got, &wanted, &legal[index], &scenes[index], "through a shared sampler");
        }
        Ok(())
    })?;
    assert_eq!(judged.summary()["writes"]["update"], serde_json::json!({"seen": 2, "rewritten": 1}));
    Ok(())
}

/// Gathers and fetches read the texels that they always read, whatever filter the sampler has: the repair of a LINEAR sampler on
/// integers does not show in them. (Validation reports the sampler also for these, which filter nothing.)
fn same_result(op: Op) -> Outcome {
    let look = |context: &Context, sampler: SamplerDesc| {
        let (_image, view) = UINT.shown(context)?;
        let sampler = sampler.create(context);
        let layout = SetLayout::new(context, &[Binding::combined(0, 1)]);
        let (_pool, set) = Pool::set(context, &layout);
        let pair = Pair::new(&view, &sampler);
        write_combined(context, set, (0, 0), &[pair]);
        let probe = Probe::new(context, &layout, op, pair.shape, ResultKind::Uint, Access::Single { binding: 0 });
        let points: Vec<SamplePoint> = match op {
            Op::Fetch => (0..8).map(|index| SamplePoint::at(index as f32, (index * 3 % 8) as f32, 0.0)).collect(),
            _ => UINT.points(false),
        };
        Ok(probe.run(&Bind::Set(set), &points))
    };
    let (wanted, errors) = without_layer(Context::builder(), |context| look(context, SamplerDesc::nearest()))?;
    assert_silent(&errors, "NEAREST without samplin");
    let (got, judged) =
        silent(Context::builder(), "LINEAR with samplin", |context| look(context, SamplerDesc::linear()))?;
    assert_eq!(got, wanted);
    assert_eq!(judged.summary()["writes"]["update"]["rewritten"], 1);
    Ok(())
}
