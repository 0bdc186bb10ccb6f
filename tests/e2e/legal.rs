//! What is legal, however odd it looks, and must come out untouched: bit for bit the same pixels with and without samplin.

use crate::legality::{assert_reported, assert_same};
use crate::run::{Outcome, Skip, assert_silent, skip_if, trial, with_layer, without_layer};
use crate::scene::{Scene, Shape};
use ash::vk;
use libtest_mimic::Trial;
use samplin_testkit::descriptor::{Binding, Pool, SetLayout, write_combined};
use samplin_testkit::shader::{Access, Bind, Kind, Op};
use samplin_testkit::{BorderValue, Capability, Context, Pair, Point, Probe, SamplerDesc, Value, reference, sample};

/// A legal pair.
struct Case {
    name: &'static str,
    scene: Scene,
    sampler: SamplerDesc,
    needs: &'static [Capability],
    /// The reference knows what comes out; else only the driver does.
    referenced: bool,
    /// What the validation layer objects to all the same, in error.
    false_alarm: &'static [&'static str],
    /// A part of the name of a driver that crashes here, without samplin; empty for none.
    crashes: &'static str,
    /// A format feature without which the pair would not be legal.
    wants: vk::FormatFeatureFlags,
}

const RGBA8: Scene = Scene::colour(vk::Format::R8G8B8A8_UNORM);
const D32: Scene = Scene::depth(vk::Format::D32_SFLOAT);
const UINT: Scene = Scene::colour(vk::Format::R32_UINT);

fn cases() -> Vec<Case> {
    use vk::BorderColor as B;
    let (linear, nearest) = (SamplerDesc::linear, SamplerDesc::nearest);
    let plain = |name, scene, sampler| Case {
        name,
        scene,
        sampler,
        needs: &[],
        referenced: true,
        false_alarm: &[],
        crashes: "",
        wants: vk::FormatFeatureFlags::empty(),
    };
    let address = vk::SamplerAddressMode::from_raw;
    vec![
        // What another member switches off may hold anything.
        plain(
            "garbage-in-ignored-members",
            RGBA8,
            SamplerDesc {
                max_anisotropy: f32::NAN,
                compare_op: vk::CompareOp::from_raw(-77),
                border_color: B::INT_OPAQUE_WHITE,
                ..linear()
            },
        ),
        Case {
            crashes: "llvmpipe",
            ..plain(
                "garbage-border-that-no-axis-uses",
                RGBA8,
                SamplerDesc { border_color: B::from_raw(i32::MIN), ..linear() },
            )
        },
        plain(
            "garbage-in-ignored-members-of-integers",
            UINT,
            SamplerDesc {
                max_anisotropy: -1.0,
                compare_op: vk::CompareOp::from_raw(99),
                border_color: B::FLOAT_OPAQUE_WHITE,
                ..nearest()
            },
        ),
        Case {
            needs: &[Capability::CustomBorderColor],
            ..plain(
                "custom-border-that-no-axis-uses",
                RGBA8,
                nearest()
                    .custom_border(BorderValue::Int([7, 7, 7, 7]), vk::Format::R8G8B8A8_UINT)
                    .address(vk::SamplerAddressMode::REPEAT),
            )
        },
        plain("lod-negative", RGBA8, SamplerDesc::trilinear().lod(-3.5, 0.25)),
        plain("lod-zero", RGBA8, linear().lod(0.0, 0.0)),
        plain("lod-infinite", RGBA8, linear().lod(f32::NEG_INFINITY, f32::INFINITY)),
        plain("lod-minus-zero", RGBA8, linear().lod(0.0, -0.0)),
        plain("bias-at-the-limit", RGBA8, SamplerDesc { lod_bias: -15.0, ..SamplerDesc::trilinear() }),
        plain(
            "every-address-mode",
            RGBA8.shape(Shape::D3),
            SamplerDesc { address: [address(0), address(1), address(2)], ..linear() },
        ),
        Case {
            needs: &[Capability::SamplerMirrorClampToEdge],
            ..plain("mirror-clamp", RGBA8, linear().address(vk::SamplerAddressMode::MIRROR_CLAMP_TO_EDGE))
        },
        Case {
            needs: &[Capability::SamplerAnisotropy],
            referenced: false,
            ..plain("anisotropy", RGBA8, linear().anisotropy(16.0))
        },
        // Comparison with LINEAR needs no LINEAR bit (B-34).
        Case { referenced: false, ..plain("linear-compare-d32", D32, linear().compare(vk::CompareOp::LESS)) },
        Case {
            referenced: false,
            ..plain(
                "trilinear-compare-d16",
                Scene::depth(vk::Format::D16_UNORM),
                SamplerDesc::trilinear().compare(vk::CompareOp::GREATER_OR_EQUAL),
            )
        },
        // MIN and MAX ask for a bit of their own. The older validation layers ask for the one of averaging.
        Case {
            needs: &[Capability::SamplerFilterMinmax],
            wants: vk::FormatFeatureFlags::SAMPLED_IMAGE_FILTER_MINMAX,
            false_alarm: &["magFilter-04553"],
            ..plain("min-linear-d32", D32, linear().reduction(vk::SamplerReductionMode::MIN))
        },
        Case {
            needs: &[Capability::SamplerFilterMinmax],
            ..plain(
                "weighted-average-spelled-out",
                RGBA8,
                linear().reduction(vk::SamplerReductionMode::WEIGHTED_AVERAGE),
            )
        },
        plain("int-border-of-integers", UINT, nearest().border(B::INT_OPAQUE_WHITE)),
        plain("float-border-of-depth", D32, nearest().border(B::FLOAT_OPAQUE_WHITE)),
        plain("int-border-of-stencil", Scene::stencil(vk::Format::S8_UINT), nearest().border(B::INT_OPAQUE_BLACK)),
        // A 1D view has no second axis, so the border of the wrong kind cannot be seen.
        plain(
            "border-on-an-axis-that-is-not-there",
            RGBA8.shape(Shape::D1),
            SamplerDesc {
                address: [
                    vk::SamplerAddressMode::REPEAT,
                    vk::SamplerAddressMode::CLAMP_TO_BORDER,
                    vk::SamplerAddressMode::CLAMP_TO_BORDER,
                ],
                border_color: B::INT_OPAQUE_WHITE,
                ..nearest()
            },
        ),
        Case {
            referenced: false,
            ..plain("seamless-cube-with-any-border", RGBA8.shape(Shape::Cube), linear().border(B::INT_OPAQUE_WHITE))
        },
        Case {
            needs: &[Capability::NonSeamlessCubeMap],
            referenced: false,
            ..plain(
                "non-seamless-cube",
                RGBA8.shape(Shape::Cube),
                SamplerDesc {
                    flags: vk::SamplerCreateFlags::NON_SEAMLESS_CUBE_MAP_EXT,
                    ..linear().border(B::FLOAT_OPAQUE_WHITE)
                },
            )
        },
        Case {
            needs: &[Capability::CustomBorderColorWithoutFormat],
            ..plain(
                "custom-border-without-format",
                RGBA8,
                linear().custom_border(BorderValue::Float([0.25, 0.5, 0.75, 1.0]), vk::Format::UNDEFINED),
            )
        },
        Case {
            needs: &[Capability::CustomBorderColor],
            ..plain(
                "custom-border-of-integers",
                UINT,
                nearest().custom_border(BorderValue::Uint([0xdead_beef, 0, 0, 1]), vk::Format::R32_UINT),
            )
        },
        plain("unnormalized-linear", RGBA8.flat(), SamplerDesc::unnormalized(vk::Filter::LINEAR)),
    ]
}

/// One test for each legal pair, and those that need more than a row.
pub(crate) fn trials() -> Vec<Trial> {
    let mut all: Vec<Trial> =
        cases().into_iter().map(|case| trial(format!("legal/{}", case.name), move || case.run())).collect();
    all.push(trial("legal/one-sampler-for-a-legal-and-an-illegal-view", shared_sampler));
    all.push(trial("legal/gather-is-the-same", || same_result(Op::Gather)));
    all.push(trial("legal/fetch-is-the-same", || same_result(Op::Fetch)));
    all
}

impl Case {
    fn look(&self, context: &Context) -> Result<(Vec<Value>, Vec<Value>), Skip> {
        skip_if(context.missing(self.needs))?;
        if !self.crashes.is_empty() && context.device_name().contains(self.crashes) {
            return Err(Skip(format!("{} crashes by itself", context.device_name())));
        }
        let missing = self.wants & !self.scene.features(context);
        if !missing.is_empty() {
            let (device, format) = (context.device_name(), self.scene.format);
            return Err(Skip(format!("{device} lacks {missing:?} for {format:?}, so the pair is not legal")));
        }
        let image = self.scene.image(context)?;
        let view = self.scene.view(&image);
        let sampler = self.sampler.create(context);
        let mut pair = Pair::new(&view, &sampler);
        if self.sampler.compare_enable {
            pair = pair.shadow();
        }
        let points = self.scene.points(self.sampler.unnormalized);
        let got = sample(context, pair, &points);
        let wanted = if self.referenced {
            let texture = reference::Texture::read(&image, &view);
            let limit = context.limits().max_sampler_lod_bias;
            points.iter().map(|point| reference::sample(&texture, &self.sampler, point, limit)).collect()
        } else {
            Vec::new()
        };
        Ok((got, wanted))
    }

    fn run(&self) -> Outcome {
        let ((off, _), errors) = without_layer(Context::builder(), |context| self.look(context))?;
        let ((on, wanted), judged) = with_layer(Context::builder(), |context| self.look(context))?;
        if errors.is_empty() {
            judged.assert_silent("with samplin");
        } else {
            assert!(!self.false_alarm.is_empty(), "not legal: {errors:#?}");
            assert_reported(&errors, self.false_alarm, "without samplin");
            assert_reported(&judged.errors, self.false_alarm, "with samplin");
        }
        judged.assert_untouched("a legal pair");
        assert_eq!(judged.summary()["writes"]["update"]["seen"], 1);
        let bits = |values: &[Value]| values.iter().map(|value| value.bits()).collect::<Vec<_>>();
        assert_eq!(bits(&on), bits(&off), "samplin changed the pixels of a legal pair");
        if self.referenced {
            assert_same(&on, &wanted, &self.sampler, &self.scene, "with samplin");
        }
        Ok(())
    }
}

/// Both pairs lie in one set; the legal one goes on filtering with the sampler that the other cannot use.
fn shared_sampler() -> Outcome {
    let ((), judged) = with_layer(Context::builder(), |context| {
        let scenes = [UINT, RGBA8];
        let images = [UINT.image(context)?, RGBA8.image(context)?];
        let views = [UINT.view(&images[0]), RGBA8.view(&images[1])];
        let sampler = SamplerDesc::trilinear().create(context);
        let layout = SetLayout::new(context, &[Binding::combined(0, 1), Binding::combined(1, 1)]);
        let pool = Pool::new(context, &[&layout]);
        let set = pool.allocate(&layout);
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
    judged.assert_silent("with samplin");
    assert_eq!(judged.summary()["writes"]["update"], serde_json::json!({"seen": 2, "rewritten": 1}));
    Ok(())
}

/// Gathers and fetches read the texels that they always read, whatever filter the sampler has: the repair of a LINEAR sampler on
/// integers does not show in them. (Validation reports the sampler also for these, which filter nothing.)
fn same_result(op: Op) -> Outcome {
    let look = |context: &Context, sampler: SamplerDesc| {
        let image = UINT.image(context)?;
        let view = UINT.view(&image);
        let sampler = sampler.create(context);
        let layout = SetLayout::new(context, &[Binding::combined(0, 1)]);
        let pool = Pool::new(context, &[&layout]);
        let set = pool.allocate(&layout);
        let pair = Pair::new(&view, &sampler);
        write_combined(context, set, (0, 0), &[pair]);
        let probe = Probe::new(context, &layout, op, pair.shape, Kind::Uint, Access::Single { binding: 0 });
        let points: Vec<Point> = match op {
            Op::Fetch => (0..8).map(|index| Point::at(index as f32, (index * 3 % 8) as f32, 0.0)).collect(),
            _ => UINT.points(false),
        };
        Ok(probe.run(&Bind::Set(set), &points))
    };
    let (wanted, errors) = without_layer(Context::builder(), |context| look(context, SamplerDesc::nearest()))?;
    assert_silent(&errors, "NEAREST without samplin");
    let (got, judged) = with_layer(Context::builder(), |context| look(context, SamplerDesc::linear()))?;
    judged.assert_silent("LINEAR with samplin");
    assert_eq!(got, wanted);
    assert_eq!(judged.summary()["writes"]["update"]["rewritten"], 1);
    Ok(())
}
