//! `unnormalized=exact`: coordinates in texels with what Vulkan excludes beside them. The shader divides them by the size of the level, and
//! the sampler with normalized coordinates that it reads keeps what the application asked for.

use super::*;
use samplin_testkit::held::bindings;
use samplin_testkit::lookup::{Access, OFFSET, Op, Shape};
use samplin_testkit::shader::{Bind, Mapping, Painter, Probe};
use samplin_testkit::way::{Route, Way};
use samplin_testkit::{ImageDesc, ViewDesc};

type M = vk::SamplerAddressMode;

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = run::trials(&[
        ("texels/shadow", compared),
        ("texels/shadow-colours", compared_colours),
        ("texels/shadow-colours-left", compared_colours_left),
        ("texels/shadow-edges", compared_edges),
        ("texels/shadow-off", not_compared),
        ("texels/shadow-without-compare-enable", without_compare_enable),
        ("texels/shadow-base", shadow_base),
        ("texels/offsets", offsets),
        ("texels/offsets-legal", offsets_legal),
        ("texels/late", late),
        ("texels/always", always),
        ("texels/base", base),
        ("texels/pairs", pairs),
        ("texels/pairs-legal", pairs_legal),
        ("texels/implicit", || implicit(COMBINED, 4)),
        ("texels/implicit-separate", || implicit(SEPARATE, 4)),
        ("texels/implicit-legal-samplers", || implicit(COMBINED, 2)),
        ("texels/no-set", no_set),
        ("texels/update-after-bind", update_after_bind),
    ]);
    let shapes = [
        ("1d", Shape::D1),
        ("1d-array", Shape::D1Array),
        ("2d", Shape::D2),
        ("2d-array", Shape::D2Array),
        ("3d", Shape::D3),
    ];
    for (name, access) in [("combined", COMBINED), ("separate", SEPARATE)] {
        for (shape_name, shape) in shapes {
            trials.push(trial(format!("texels/{name}/{shape_name}"), move || illegal(access, shape, 1)));
            trials.push(trial(format!("texels/{name}/{shape_name}-levels"), move || illegal(access, shape, 3)));
        }
        trials.push(trial(format!("texels/{name}/cube"), move || cube(access)));
        trials.push(trial(format!("texels/{name}/legal"), move || legal(access, Shape::D2)));
        trials.push(trial(format!("texels/{name}/legal-1d"), move || legal(access, Shape::D1)));
    }
    for (name, way) in [
        ("push", (Way::Push, false)),
        ("template", (Way::Template, false)),
        ("copy", (Way::Copy, false)),
        ("fixed", (Way::Set, true)),
    ] {
        trials.push(trial(format!("texels/ways/{name}"), move || by(way)));
    }
    for (name, stage) in STAGES.into_iter().chain([("linked", Stage::LinkedObjects)]) {
        trials.push(trial_in(stage, format!("texels/beside/{name}"), move || beside(stage)));
        trials.push(trial_in(stage, format!("texels/beside-legal/{name}"), move || beside_legal(stage)));
    }
    trials
}

const COMBINED: Access = Access::Single { binding: 0 };
const SEPARATE: Access = Access::Separate { image: 0, sampler: 1 };

fn builder() -> ContextBuilder {
    resolve(Context::builder())
}

fn set_to(value: &str) -> ContextBuilder {
    builder().setting("unnormalized", value)
}

/// The legal ones.
fn both() -> [SamplerDesc; 2] {
    [vk::Filter::NEAREST, vk::Filter::LINEAR].map(SamplerDesc::unnormalized)
}

/// What a sampler that wraps is where nothing is divided.
fn plain() -> SamplerDesc {
    SamplerDesc::unnormalized(vk::Filter::NEAREST)
}

/// One that has to be divided.
fn wrapped() -> SamplerDesc {
    in_texels(SamplerDesc::nearest().address(M::REPEAT))
}

/// A sampler whose coordinates are in texels.
fn in_texels(desc: SamplerDesc) -> SamplerDesc {
    SamplerDesc { unnormalized: true, ..desc }
}

/// Samplers that are illegal with unnormalized coordinates and lose something when they are made legal.
fn samplers() -> Vec<SamplerDesc> {
    let white = vk::BorderColor::FLOAT_OPAQUE_WHITE;
    let all = [
        SamplerDesc::nearest().address(M::REPEAT),
        SamplerDesc::nearest().address(M::MIRRORED_REPEAT),
        SamplerDesc::linear().address(M::REPEAT),
        SamplerDesc::linear().address(M::MIRRORED_REPEAT),
        SamplerDesc::trilinear().address(M::REPEAT),
        SamplerDesc { mag_filter: vk::Filter::LINEAR, ..SamplerDesc::nearest() },
        SamplerDesc { min_filter: vk::Filter::LINEAR, lod_bias: 0.375, ..SamplerDesc::nearest() },
        SamplerDesc {
            address: [M::REPEAT, M::CLAMP_TO_BORDER, M::CLAMP_TO_EDGE],
            border_color: white,
            ..SamplerDesc::linear()
        },
        SamplerDesc { address: [M::REPEAT, M::CLAMP_TO_EDGE, M::REPEAT], max_lod: 0.0, ..SamplerDesc::nearest() },
        SamplerDesc { min_lod: 0.5625, max_lod: 1.25, ..SamplerDesc::linear().address(M::MIRRORED_REPEAT) },
    ];
    all.map(in_texels).to_vec()
}

/// Which coordinate is the layer.
pub(crate) fn layer_of(shape: Shape) -> Option<usize> {
    match shape {
        Shape::D1Array => Some(1),
        Shape::D2Array => Some(2),
        _ => None,
    }
}

/// Middles of texels and beside them, within the image and far outside; edges of texels as well where one texel is read.
fn points(shape: Shape, edges: bool) -> Vec<SamplePoint> {
    let mut lattice: Vec<f32> = (-26..=44).map(|n| n as f32 / 2.0 + 9.0 / 32.0).collect();
    if edges {
        lattice.extend((-13..=21).map(|n| n as f32));
    }
    let levels = [0.0, -1.5, 0.25, 1.0, 1.5625, 1.8125, 5.0];
    let at = |n: usize| lattice[n % lattice.len()];
    let all = (0..2 * lattice.len()).map(|n| {
        let mut point = SamplePoint::at(at(n), at(7 * n + 3), at(13 * n + 5)).lod(levels[n % levels.len()]);
        if let Some(layer) = layer_of(shape) {
            point.coord[layer] = [0.0, 1.0, 2.0, 7.0][n % 4];
        }
        point
    });
    all.collect()
}

/// Whether one texel of one level is read, so that edges of texels are no matter of rounding.
fn reads_one(desc: &SamplerDesc) -> bool {
    [desc.mag_filter, desc.min_filter] == [vk::Filter::NEAREST; 2] && desc.mipmap_mode == vk::SamplerMipmapMode::NEAREST
}

/// The sizes of an image's base level.
fn sizes(shape: Shape) -> [f32; 3] {
    match shape {
        Shape::D1 | Shape::D1Array => [6.0, 1.0, 1.0],
        Shape::D2 | Shape::D2Array => [8.0, 6.0, 1.0],
        _ => [8.0, 6.0, 5.0],
    }
}

/// What a byte holds exactly.
fn of_bytes(bits: u32) -> f32 {
    (bits >> 24) as f32 / 255.0
}

/// An image of these levels, whose parts of colours are `part` of 32 bits each.
pub(crate) fn image(
    context: &Context,
    format: F,
    shape: Shape,
    levels: u32,
    part: impl Fn(u32) -> f32,
) -> Result<Image<'_>, Skip> {
    let desc = match shape {
        Shape::D1 => ImageDesc::d1(format, 6),
        Shape::D1Array => ImageDesc::d1(format, 6).layers(3),
        Shape::D2 => ImageDesc::d2(format, 8, 6),
        Shape::D2Array => ImageDesc::d2(format, 8, 6).layers(3),
        _ => ImageDesc::d3(format, 8, 6, 5),
    };
    let texel = |level: u32, layer: u32, [x, y, z]: [u32; 3]| {
        let seed = x + 37 * y + 1009 * z + 20011 * level + 50021 * layer;
        Value::Float([0, 7, 13, 29].map(|salt: u32| part((seed + salt).wrapping_mul(2_654_435_761))))
    };
    Image::filled(context, &desc.levels(levels), |_, level, layer, at| texel(level, layer, at)).map_err(Skip)
}

/// The same lookup with normalized coordinates: those of the level that is nearest.
fn normalized(desc: &SamplerDesc, point: &SamplePoint, shape: Shape, levels: u32) -> SamplePoint {
    let lod = (point.lod + desc.lod_bias).max(desc.min_lod).min(desc.max_lod).clamp(0.0, (levels - 1) as f32);
    let level = (lod + 0.5).ceil() - 1.0;
    let axes = match shape {
        Shape::D1 | Shape::D1Array => 1,
        Shape::D2 | Shape::D2Array => 2,
        _ => 3,
    };
    let mut out = *point;
    for (coord, size) in out.coord.iter_mut().zip(sizes(shape)).take(axes) {
        *coord /= (size / level.exp2()).floor().max(1.0);
    }
    out
}

/// What such a sampler has to find.
fn wanted(
    texels: &reference::Texture,
    desc: &SamplerDesc,
    points: &[SamplePoint],
    shape: Shape,
    levels: u32,
) -> Vec<Value> {
    let own = SamplerDesc { unnormalized: false, ..desc.clone() };
    let one = reads_one(desc);
    let at = |point: &SamplePoint| {
        let mut point = *point;
        if one {
            // The middle of the texel, which rounding has no say in.
            point.coord.iter_mut().take(3).for_each(|coord| *coord = coord.floor() + 0.5);
            layer_of(shape).into_iter().for_each(|layer| point.coord[layer] -= 0.5);
        }
        reference::sample(texels, &own, &normalized(desc, &point, shape, levels), 2.0)
    };
    points.iter().map(at).collect()
}

fn tolerance(desc: &SamplerDesc) -> f64 {
    if reads_one(desc) { 1e-4 } else { 0.03 }
}

/// What is wrong with values that have to be others.
fn wrong(desc: &SamplerDesc, points: &[SamplePoint], got: &[Value], wanted: &[Value]) -> Option<String> {
    assert_eq!((got.len(), wanted.len()), (points.len(), points.len()));
    let all = got.iter().zip(wanted).zip(points);
    let mut far = all.filter(|((got, wanted), _)| !got.is_near(**wanted, tolerance(desc)));
    far.next().map(|((got, wanted), point)| format!("{desc:?}: {got:?} is not {wanted:?} at {point:?}"))
}

/// An image of bytes, and what has to be found in it.
struct Picture<'c> {
    context: &'c Context,
    _image: Image<'c>,
    view: View<'c>,
    texels: reference::Texture,
    shape: Shape,
    levels: u32,
}

impl<'c> Picture<'c> {
    fn new(context: &'c Context, format: F, shape: Shape, levels: u32) -> Result<Self, Skip> {
        let image = image(context, format, shape, levels, of_bytes)?;
        let view = image.view(&ViewDesc::default());
        let texels = reference::Texture::read(&image, &view);
        Ok(Self { context, _image: image, view, texels, shape, levels })
    }

    /// With colours, 2D, of one level.
    fn plain(context: &'c Context) -> Result<Self, Skip> {
        Self::new(context, F::R8G8B8A8_UNORM, Shape::D2, 1)
    }

    /// Where to look through a sampler.
    fn points(&self, desc: &SamplerDesc) -> Vec<SamplePoint> {
        points(self.shape, reads_one(desc))
    }

    /// What a sampler has to find, in texels or not.
    fn wanted(&self, desc: &SamplerDesc, points: &[SamplePoint]) -> Vec<Value> {
        if !desc.unnormalized {
            return points.iter().map(|point| reference::sample(&self.texels, desc, point, 2.0)).collect();
        }
        wanted(&self.texels, desc, points, self.shape, self.levels)
    }

    /// What is wrong with what it found.
    fn wrong(&self, desc: &SamplerDesc, points: &[SamplePoint], got: &[Value]) -> Option<String> {
        wrong(desc, points, got, &self.wanted(desc, points))
    }

    /// A program that looks at it.
    fn probe(&self, layout: &SetLayout<'_>, op: Op, kind: ResultKind, access: Access) -> Probe<'c> {
        Probe::new(self.context, layout, op, self.shape, kind, access)
    }

    /// The descriptors of a pair.
    fn slots(&self, access: Access, sampler: &Sampler<'_>) -> Vec<Slot> {
        match access {
            Access::Separate { image, sampler: binding } => {
                vec![Slot::image(&self.view, image, 0), Slot::sampler(sampler, binding, 0)]
            }
            _ => vec![Slot::pair(&self.view, sampler, 0, 0)],
        }
    }

    /// A set of a layout with a pair.
    fn set(&self, layout: &SetLayout<'_>, access: Access, sampler: &Sampler<'_>) -> (Pool<'c>, vk::DescriptorSet) {
        let (pool, set) = Pool::set(self.context, layout);
        write(self.context, set, &self.slots(access, sampler));
        (pool, set)
    }

    /// The same as in [`Program::Beside`]: alone and in one descriptor.
    fn beside(&self, pair: &Sampler<'_>, alone: &Sampler<'_>) -> [Slot; 4] {
        let [one, other] = [1, 3].map(|binding| Slot::sampler(alone, binding, 0));
        [Slot::image(&self.view, 0, 0), one, Slot::pair(&self.view, pair, 2, 0), other]
    }
}

/// The bindings of a pair.
fn layout(context: &Context, access: Access) -> SetLayout<'_> {
    let bindings = match access {
        Access::Separate { image, sampler } => vec![Binding::image(image), Binding::sampler(sampler)],
        _ => vec![Binding::combined(0, 1)],
    };
    SetLayout::new(context, &bindings)
}

/// One program, and what is wrong with what it finds through each sampler. The samplers are older than the layout.
fn look(
    context: &Context,
    access: Access,
    (format, shape, levels): (F, Shape, u32),
    samplers: &[SamplerDesc],
) -> Result<Vec<String>, Skip> {
    let picture = Picture::new(context, format, shape, levels)?;
    let made: Vec<_> = samplers.iter().map(|desc| desc.create(context)).collect();
    let layout = layout(context, access);
    let compares = samplers.iter().any(|desc| desc.compare_enable);
    let kind = if compares { ResultKind::Shadow } else { ResultKind::Float };
    let probe = picture.probe(&layout, Op::Sample, kind, access);
    let mut all = Vec::new();
    for (desc, sampler) in samplers.iter().zip(&made) {
        let (_pool, set) = picture.set(&layout, access, sampler);
        let mut points = picture.points(desc);
        if compares {
            points.iter_mut().enumerate().for_each(|(n, point)| point.reference = (n % 8) as f32 / 8.0 + 1.0 / 16.0);
        }
        all.extend(picture.wrong(desc, &points, &probe.run(&Bind::Set(set), &points)));
    }
    Ok(all)
}

/// One lookup of a combined descriptor, and what is wrong with what it finds if it is to find what `legal` does. `is_late`: layout and
/// pipeline are older than the sampler.
fn look_once(context: &Context, is_late: bool, desc: &SamplerDesc, legal: &SamplerDesc) -> Result<Vec<String>, Skip> {
    let picture = Picture::plain(context)?;
    let early = (!is_late).then(|| desc.create(context));
    let layout = layout(context, COMBINED);
    let probe = picture.probe(&layout, Op::Sample, ResultKind::Float, COMBINED);
    let sampler = early.unwrap_or_else(|| desc.create(context));
    let (_pool, set) = picture.set(&layout, COMBINED, &sampler);
    let points = picture.points(legal);
    Ok(picture.wrong(legal, &points, &probe.run(&Bind::Set(set), &points)).into_iter().collect())
}

/// Runs what says what is wrong with what it finds, which is nothing.
fn right(builder: ContextBuilder, body: impl FnOnce(&Context) -> Result<Vec<String>, Skip>) -> Result<Judged, Skip> {
    let (wrong, judged) = with_layer(builder, body)?;
    assert!(wrong.is_empty(), "{wrong:#?} with {:#?}", judged.trace);
    Ok(judged)
}

/// The same of what is legal: nothing happens.
fn untouched(
    builder: ContextBuilder,
    body: impl FnOnce(&Context) -> Result<Vec<String>, Skip>,
) -> Result<Judged, Skip> {
    let judged = right(builder, body)?;
    judged.assert_silent("what is legal");
    judged.assert_untouched("what is legal");
    Ok(judged)
}

/// Validation judges a variable by all of its descriptor, of which the shader uses the image only ("is used to sample"): rules that are
/// not about the sampler by itself.
const READ: [&str; 4] = ["None-08609", "unnormalizedCoordinates-09635", "None-08610", "None-08611"];

/// Nothing is left, and each sampler has a record of this row and of what the shader does.
fn assert_divided(judged: &Judged, access: Access, count: usize) {
    assert_divided_by(judged, access, (count, "divide"));
}

/// The same by a pass that is called so.
fn assert_divided_by(judged: &Judged, access: Access, (count, pass): (usize, &str)) {
    let is_read = |error: &Message| access == COMBINED && READ.iter().any(|id| error.id.ends_with(id));
    let errors: Vec<_> = judged.errors.iter().filter(|error| !is_read(error)).collect();
    assert!(errors.is_empty(), "{errors:#?}");
    judged.assert_resolved();
    let records = draws(judged);
    assert_eq!(records.len(), count, "{:#?}", judged.trace);
    for record in records {
        let changes = samplin_testkit::trace::changes(record);
        let divided = changes.iter().any(|change| change.catalog == "S-5" && change.lost.starts_with("nothing"));
        assert!(divided && record["how"] == "split" && record["variant"].is_string(), "{record:#}");
    }
    // One pipeline does for all.
    assert_passes(judged, &["split", pass]);
}

fn illegal(access: Access, shape: Shape, levels: u32) -> Outcome {
    let samplers = samplers();
    // The axes that a view has decide whether wrapping is lost.
    let body = |context: &Context| look(context, access, (F::R8G8B8A8_UNORM, shape, levels), &samplers);
    let (_, errors) = without_layer(builder().record_only(), body)?;
    assert!(errors.iter().any(|error| error.id.contains("unnormalizedCoordinates-01075")), "{errors:#?}");
    assert_divided(&right(builder(), body)?, access, samplers.len());
    Ok(())
}

/// Directions are in no texels: what is read is what the sampler with normalized coordinates reads, to the bit.
fn cube(access: Access) -> Outcome {
    let desc = in_texels(SamplerDesc::linear().address(M::REPEAT));
    let (found, judged) = with_layer(builder(), |context| {
        let texel =
            |face: u32, [x, y, _]: [u32; 3]| Value::Float([face as f32 / 8.0, x as f32 / 8.0, y as f32 / 8.0, 1.0]);
        let image = ImageDesc::cube(F::R8G8B8A8_UNORM, 6);
        let image = Image::filled(context, &image, |_, _, face, at| texel(face, at)).map_err(Skip)?;
        let view = image.view(&ViewDesc::default());
        let (sampler, own) =
            (desc.create(context), SamplerDesc { unnormalized: false, ..desc.clone() }.create(context));
        let layout = layout(context, access);
        let probe = Probe::new(context, &layout, Op::Sample, Shape::Cube, ResultKind::Float, access);
        let texels = reference::Texture::read(&image, &view);
        let picture = Picture { context, _image: image, view, texels, shape: Shape::Cube, levels: 1 };
        let look = |sampler: &Sampler<'_>| {
            let (_pool, set) = picture.set(&layout, access, sampler);
            let points: Vec<_> = (0..64)
                .map(|n| SamplePoint::at(n as f32 - 31.5, (n * 7 % 64) as f32 - 31.5, (n * 13 % 64) as f32 - 31.5))
                .collect();
            probe.run(&Bind::Set(set), &points)
        };
        let wanted = look(&own);
        Ok((look(&sampler), wanted))
    })?;
    let (got, wanted) = found;
    assert_eq!(got, wanted);
    let is_read = |error: &Message| access == COMBINED && error.id.ends_with("None-08609");
    assert!(judged.errors.iter().all(is_read), "{:#?}", judged.errors);
    judged.assert_resolved();
    assert_eq!(draws(&judged).len(), 1, "{:#?}", judged.trace);
    Ok(())
}

/// Legal samplers are the application's own, and so is the pipeline. One that loses something is there as well, and read by nobody.
fn legal(access: Access, shape: Shape) -> Outcome {
    let all = both().into_iter().flat_map(|desc| [desc.clone(), desc.border(vk::BorderColor::FLOAT_OPAQUE_WHITE)]);
    let all: Vec<_> = all.collect();
    let judged = right(builder(), |context| {
        let _unread = samplers()[0].create(context);
        look(context, access, (F::R8G8B8A8_UNORM, shape, 1), &all)
    })?;
    judged.assert_silent("legal samplers");
    assert_eq!(judged.trace.events("pair").count(), 0, "{:#?}", judged.trace);
    assert_passes(&judged, &[]);
    assert_eq!(judged.summary()["variants"]["created"], 0);
    Ok(())
}

/// One lookup of each sampler by an instruction, and what is wrong with what it finds.
fn look_by_op(context: &Context, access: Access, op: Op, samplers: &[SamplerDesc]) -> Result<Vec<String>, Skip> {
    let picture = Picture::plain(context)?;
    let made: Vec<_> = samplers.iter().map(|desc| desc.create(context)).collect();
    let layout = layout(context, access);
    let probe = picture.probe(&layout, op, ResultKind::Float, access);
    let [right, down] = if op == Op::Gather { [0.0; 2] } else { OFFSET };
    let mut all = Vec::new();
    for (desc, sampler) in samplers.iter().zip(&made) {
        let (_pool, set) = picture.set(&layout, access, sampler);
        let mut points = points(Shape::D2, false);
        let got = probe.run(&Bind::Set(set), &points);
        for point in &mut points {
            let [x, y, ..] = point.coord;
            (point.coord[0], point.coord[1]) = (x + right, y + down);
        }
        let find = |points: &[SamplePoint]| picture.wanted(desc, points);
        let wanted: Vec<_> = match op {
            Op::Offset => find(&points),
            // The footprint of LINEAR, from the lower left on against the clock ("Texel Gathering").
            _ => {
                let corners = [[-0.5, 0.5], [0.5, 0.5], [0.5, -0.5], [-0.5, -0.5]].map(|[dx, dy]| {
                    let at = |point: &SamplePoint| {
                        let [x, y, ..] = point.coord;
                        SamplePoint::at((x + dx).floor() + 0.5, (y + dy).floor() + 0.5, 0.0)
                    };
                    find(&points.iter().map(at).collect::<Vec<_>>())
                });
                let red = |n: usize| Value::Float(corners.each_ref().map(|corner| corner[n].components()[0] as f32));
                (0..points.len()).map(red).collect()
            }
        };
        all.extend(wrong(desc, &points, &got, &wanted));
    }
    Ok(all)
}

/// Offsets are excluded whether an instruction samples or gathers, by the chapter on samplers; the valid-usage id speaks of the first only.
fn offsets() -> Outcome {
    let all = both();
    let (_, errors) =
        without_layer(builder().record_only(), |context| look_by_op(context, COMBINED, Op::Offset, &all))?;
    // 02704 is its older id.
    let is_it = |error: &Message| ["-None-08611", "-None-02704"].iter().any(|id| error.id.ends_with(id));
    assert!(errors.iter().any(is_it), "{errors:#?}");
    for (op, vuid) in [(Op::Offset, "VUID-vkCmdDraw-None-08611"), (Op::GatherOffset, "")] {
        for access in [COMBINED, SEPARATE] {
            let judged = right(builder(), |context| look_by_op(context, access, op, &all))?;
            assert_divided(&judged, access, all.len());
            assert_cites(&judged, vuid);
        }
    }
    Ok(())
}

/// A gather without an offset, and an offset of normalized coordinates.
fn offsets_legal() -> Outcome {
    untouched(set_to("always"), |context| look_by_op(context, COMBINED, Op::Gather, &both()))?;
    for access in [SEPARATE, COMBINED] {
        untouched(set_to("always"), |context| {
            // The points are in texels.
            look_by_op(context, access, Op::Offset, &[SamplerDesc::nearest()]).map(|_| Vec::new())
        })?;
    }
    Ok(())
}

fn shadow() -> SamplerDesc {
    in_texels(SamplerDesc::nearest().compare(vk::CompareOp::LESS_OR_EQUAL))
}

/// Comparison stays where an instruction compares.
fn compared() -> Outcome {
    for access in [COMBINED, SEPARATE] {
        let all = [shadow(), shadow().address(M::REPEAT)];
        let judged = right(builder(), |context| look(context, access, (F::D32_SFLOAT, Shape::D2, 1), &all))?;
        assert_divided(&judged, access, all.len());
        assert_cites(&judged, "VUID-VkSamplerCreateInfo-unnormalizedCoordinates-01077");
    }
    Ok(())
}

/// Some change that the shader makes up for cites this.
fn assert_cites(judged: &Judged, vuid: &str) {
    let changes = judged.changes("pair");
    assert!(changes.iter().any(|change| change.catalog == "S-5" && change.vuid == vuid), "{:#?}", judged.trace);
}

/// Records that say that the sampler has no compareEnable.
fn uncompared(judged: &Judged) -> usize {
    let is_it = |record: &&Json| record["why"].as_str().is_some_and(|why| why.contains("no compareEnable"));
    judged.trace.events("unresolved").filter(is_it).count()
}

/// A comparison that the sampler does not enable is undefined with normalized coordinates as well: it is named, and nothing is divided.
fn without_compare_enable() -> Outcome {
    let (_, judged) = with_layer(builder().setting("trace_level", "all").record_only(), |context| {
        reads::run(context, (Stage::Compute, Program::Compared), &plain(), &[Scene::depth(F::D32_SFLOAT).flat()])
    })?;
    assert!(judged.changes("pair").is_empty(), "{:#?}", judged.trace);
    assert_eq!(uncompared(&judged), 1, "{:#?}", judged.trace);
    Ok(())
}

/// A comparison that the application enables and that the legal sampler has not is lost, which its record says, and nothing else is wrong.
fn shadow_base() -> Outcome {
    let (_, judged) = with_layer(set_to("base").setting("trace_level", "all").record_only(), |context| {
        reads::run(context, (Stage::Compute, Program::Compared), &shadow(), &[Scene::depth(F::D32_SFLOAT).flat()])
    })?;
    assert!(judged.changes("sampler").iter().any(|change| change.lost == "comparison"), "{:#?}", judged.trace);
    assert_eq!(uncompared(&judged), 0, "{:#?}", judged.trace);
    Ok(())
}

/// A format that cannot be compared: the shader divides the coordinates, then compares.
fn compared_colours() -> Outcome {
    let linear = || in_texels(SamplerDesc::linear().compare(vk::CompareOp::LESS_OR_EQUAL));
    let all = [shadow(), shadow().address(M::REPEAT), linear(), linear().address(M::MIRRORED_REPEAT)];
    for (access, levels) in [(COMBINED, 1), (SEPARATE, 1), (SEPARATE, 3)] {
        let judged = right(builder(), |context| look(context, access, (F::R32_SFLOAT, Shape::D2, levels), &all))?;
        assert_divided_by(&judged, access, (all.len(), "compare"));
        for record in draws(&judged) {
            let compares = samplin_testkit::trace::changes(record).iter().any(|change| change.catalog == "B-31");
            assert!(compares, "{record:#}");
        }
    }
    Ok(())
}

/// Edges of texels, by sizes whose quotients are rounded to the texel beside: compared by the shader, and by the device.
fn compared_edges() -> Outcome {
    let desc = shadow().address(M::REPEAT);
    for format in [F::R32_SFLOAT, F::D32_SFLOAT] {
        right(builder(), |context| {
            let texel = |at: [u32; 3]| ((at[0] + 37 * at[1]).wrapping_mul(2_654_435_761) >> 24) as f32 / 255.0;
            let image = Image::filled(context, &ImageDesc::d2(format, 41, 23), |_, _, _, at| {
                Value::Float([texel(at), 0.0, 0.0, 1.0])
            });
            let image = image.map_err(Skip)?;
            let view = image.view(&ViewDesc::default());
            let texels = reference::Texture::read(&image, &view);
            let sampler = desc.create(context);
            let held = Held::of(context, &[Slot::pair(&view, &sampler, 0, 0)]);
            let probe = Probe::new(context, &held.layout, Op::Sample, Shape::D2, ResultKind::Shadow, COMBINED);
            let at = |n: i32| SamplePoint::at((n % 120 - 20) as f32, (7 * n % 90 - 11) as f32, 0.0).reference(0.5);
            let points: Vec<_> = (0..480).map(at).collect();
            let got = probe.run(&Bind::Set(held.set), &points);
            let own = SamplerDesc { unnormalized: false, ..desc.clone() };
            let middle = |point: &SamplePoint| {
                let [x, y, ..] = point.coord;
                SamplePoint::at((x + 0.5) / 41.0, (y + 0.5) / 23.0, 0.0).reference(0.5)
            };
            let wanted: Vec<_> =
                points.iter().map(|point| reference::sample(&texels, &own, &middle(point), 2.0)).collect();
            Ok(wrong(&desc, &points, &got, &wanted).into_iter().collect())
        })?;
    }
    Ok(())
}

/// One lookup by a pipeline that leaves no set free, and what is wrong with what it finds if it is to find what `legal` does.
fn look_without_room(
    context: &Context,
    (program, format): (Program, F),
    (desc, legal): (&SamplerDesc, &SamplerDesc),
) -> Result<Vec<String>, Skip> {
    let picture = Picture::new(context, format, Shape::D2, 1)?;
    let sampler = desc.create(context);
    let layout = layout(context, SEPARATE);
    let (_pool, set) = picture.set(&layout, SEPARATE, &sampler);
    let empty = fetch::rest(context, 3)?;
    let (above, layouts): (Vec<_>, _) = (empty.iter().collect(), [&layout]);
    let rig = Rig::new(context, &Plan::new(program, ResultKind::Float, &layouts).above(&above));
    let points = points(Shape::D2, true);
    Ok(picture.wrong(legal, &points, &rig.found(&[set], &points, 0)[0]).into_iter().collect())
}

/// Where there is no room for the sampler with normalized coordinates nothing is divided, nor compared: the pair has what is legal.
fn compared_colours_left() -> Outcome {
    let sampler = shadow().address(M::REPEAT);
    let (_, judged) = with_layer(builder(), |context| {
        look_without_room(context, (Program::Compared, F::R32_SFLOAT), (&sampler, &plain()))
    })?;
    let left = judged.trace.events("unresolved").filter(|record| record["what"] == "no-free-set");
    assert_eq!(left.count(), 1, "{:#?}", judged.trace);
    assert_passes(&judged, &[]);
    Ok(())
}

/// Where none does, nothing is lost with it.
fn not_compared() -> Outcome {
    let judged = right(builder(), |context| look_once(context, false, &shadow(), &plain()))?;
    judged.assert_silent("no comparison");
    assert_passes(&judged, &[]);
    Ok(())
}

/// Nothing is followed that is older, so the sampler is legal by itself, and its record says what is lost.
fn late() -> Outcome {
    switch::without_rewrites()?;
    let judged = right(builder(), |context| look_once(context, true, &wrapped(), &plain()))?;
    judged.assert_silent("a legal sampler");
    assert!(judged.changes("sampler").iter().any(|change| change.lost.starts_with("wrapping")), "{:#?}", judged.trace);
    assert_passes(&judged, &[]);
    Ok(())
}

fn always() -> Outcome {
    let judged = right(set_to("always"), |context| look_once(context, true, &wrapped(), &wrapped()))?;
    judged.assert_silent("a sampler that wraps");
    assert_divided(&judged, COMBINED, 1);
    Ok(())
}

fn base() -> Outcome {
    for access in [COMBINED, SEPARATE] {
        let (wrong, judged) = with_layer(set_to("base"), |context| {
            look(context, access, (F::R8G8B8A8_UNORM, Shape::D2, 1), &[wrapped()])
        })?;
        assert_eq!(wrong.len(), 1, "wrapping is lost");
        judged.assert_silent("a legal sampler");
        assert_passes(&judged, &[]);
    }
    right(set_to("base"), |context| look_once(context, true, &wrapped(), &plain()))?;
    Ok(())
}

/// Three pairs of an array that is indexed dynamically: in texels and repeated, in texels and legal, normalized.
fn mixed() -> [SamplerDesc; 3] {
    let linear = SamplerDesc::linear().address(M::MIRRORED_REPEAT);
    [wrapped(), SamplerDesc::unnormalized(vk::Filter::LINEAR), linear]
}

fn look_at_pairs(context: &Context, samplers: &[SamplerDesc; 3]) -> Result<Vec<String>, Skip> {
    skip_if(context.missing(&[Capability::ImageArrayIndexing]))?;
    let picture = Picture::plain(context)?;
    let made: Vec<_> = samplers.iter().map(|desc| desc.create(context)).collect();
    let slots = [0, 1, 2].map(|at| Slot::pair(&picture.view, &made[at as usize], 0, at));
    let held = Held::of(context, &slots);
    let rig = Rig::new(context, &Plan::new(Program::Pairs, ResultKind::Float, &[&held.layout]));
    let look = |(element, desc): (u32, &SamplerDesc)| {
        let points = picture.points(desc);
        picture.wrong(desc, &points, &rig.found(&[held.set], &points, element)[0])
    };
    Ok((0..).zip(samplers).filter_map(look).collect())
}

/// All elements read the hidden set, and only one of them is divided.
fn pairs() -> Outcome {
    let judged = right(builder(), |context| look_at_pairs(context, &mixed()))?;
    judged.assert_silent("a sampler that wraps");
    assert_divided(&judged, COMBINED, 1);
    Ok(())
}

fn pairs_legal() -> Outcome {
    let [_, legal, other] = mixed();
    let all = [legal.clone(), legal, other];
    untouched(builder(), |context| look_at_pairs(context, &all)).map(|_| ())
}

/// Implicit levels of detail: samplers that are legal, and ones that wrap, or the first of them.
fn implicit(access: Access, count: usize) -> Outcome {
    let mut all = both().to_vec();
    all.extend([wrapped(), in_texels(SamplerDesc::linear().address(M::MIRRORED_REPEAT))]);
    all.truncate(count);
    let judged = right(builder(), |context| {
        let picture = Picture::plain(context)?;
        let made: Vec<_> = all.iter().map(|desc| desc.create(context)).collect();
        let layout = layout(context, access);
        let size = [32, 24];
        let make = if access == SEPARATE { Painter::of_separate } else { Painter::new };
        let painter = make(context, &layout, Shape::D2, ResultKind::Float, size).map_err(Skip)?;
        let mut found = Vec::new();
        for (desc, sampler) in all.iter().zip(&made) {
            let (_pool, set) = picture.set(&layout, access, sampler);
            let (low, high) = ([-4.0, -3.0], [12.0, 9.0]);
            let got = painter.paint(set, &Mapping::rectangle(low, high));
            let points = samplin_testkit::shader::grid(size[0], size[1], low, high);
            found.extend(picture.wrong(desc, &points, &got));
        }
        Ok(found)
    })?;
    // Newer validation layers judge the descriptor that a combined image comes from, whatever sampler it is read through.
    let is_told = |error: &Message| access == COMBINED && error.id.ends_with("-None-08610");
    assert!(judged.errors.iter().all(is_told), "{:#?}", judged.errors);
    assert_divided(&judged, access, all.len());
    let looked_up = judged.changes("pair").iter().any(|change| change.vuid == "VUID-vkCmdDraw-None-08610");
    assert!(looked_up, "{:#?}", judged.trace);
    Ok(())
}

/// Combined and separate at once.
fn look_beside(context: &Context, stage: Stage, samplers: &[SamplerDesc]) -> Result<Vec<String>, Skip> {
    let picture = Picture::plain(context)?;
    let made: Vec<_> = samplers.iter().map(|desc| desc.create(context)).collect();
    let held: Vec<_> = made.iter().map(|made| Held::of(context, &picture.beside(made, made))).collect();
    let layouts = [&held[0].layout];
    let rig = Rig::new(context, &Plan::new(Program::Beside, ResultKind::Float, &layouts).stage(stage));
    let mut all = Vec::new();
    for (desc, held) in samplers.iter().zip(&held) {
        let points = picture.points(desc);
        let found = rig.found(&[held.set], &points, 0);
        all.extend(found.iter().filter_map(|got| picture.wrong(desc, &points, got)));
    }
    Ok(all)
}

/// A combined descriptor with a sampler that wraps, by one of the ways, and what is wrong with what is found. The sampler may be immutable.
fn look_by(context: &Context, (way, fixed): (Way, bool), desc: &SamplerDesc) -> Result<Vec<String>, Skip> {
    let picture = Picture::plain(context)?;
    let (sampler, plain) = (desc.create(context), SamplerDesc::nearest().create(context));
    let mut slots = picture.beside(&sampler, &plain);
    if fixed {
        slots[2] = slots[2].fixed();
    }
    let route = Route::new(context, way, &bindings(&slots), 0)?;
    let rig = Rig::new(context, &Plan::new(Program::Beside, ResultKind::Float, &route.layouts()));
    let points = picture.points(desc);
    Ok(picture.wrong(desc, &points, &route.found(&rig, &slots, &points)[1]).into_iter().collect())
}

fn by(way: (Way, bool)) -> Outcome {
    let judged = right(builder(), |context| look_by(context, way, &wrapped()))?;
    judged.assert_silent("a sampler that wraps");
    assert_divided(&judged, COMBINED, 1);
    let [_, legal] = both();
    untouched(builder(), |context| look_by(context, way, &legal)).map(|_| ())
}

fn beside(stage: Stage) -> Outcome {
    let all = [&samplers()[..3], &both()[1..]].concat();
    let judged = right(builder(), |context| look_beside(context, stage, &all))?;
    judged.assert_silent("coordinates that are divided");
    judged.assert_resolved();
    assert_eq!(draws(&judged).len(), 9, "three links with three of the samplers: {:#?}", judged.trace);
    Ok(())
}

fn beside_legal(stage: Stage) -> Outcome {
    untouched(builder(), |context| look_beside(context, stage, &both())).map(|_| ())
}

/// Where there is no room for one more set, the sampler is the legal one, and a record says why.
fn no_set() -> Outcome {
    let judged = right(builder(), |context| {
        look_without_room(context, (Program::One, F::R8G8B8A8_UNORM), (&wrapped(), &plain()))
    })?;
    judged.assert_silent("a legal sampler");
    assert_told(&judged, "no-free-set");
    Ok(())
}

/// The only unresolved record says `what` of unnormalized coordinates.
fn assert_told(judged: &Judged, what: &str) {
    let record = judged.only_left();
    assert_eq!((record["what"].as_str(), record["rule"].as_str()), (Some(what), Some("unnormalized")), "{record:#}");
    assert_eq!(judged.trace.events("pair").count(), 0, "{:#?}", judged.trace);
}

/// What may be another descriptor after the bind keeps the legal sampler.
fn update_after_bind() -> Outcome {
    let judged = right(builder(), |context| {
        skip_if(context.missing(&[Capability::DescriptorIndexing]))?;
        let picture = Picture::plain(context)?;
        let sampler = wrapped().create(context);
        let late = vk::DescriptorBindingFlags::UPDATE_AFTER_BIND;
        let held = Held::new(context, &[Binding::combined(0, 1).flags(late)], &picture.slots(COMBINED, &sampler));
        let probe = picture.probe(&held.layout, Op::Sample, ResultKind::Float, COMBINED);
        let points = points(Shape::D2, true);
        Ok(picture.wrong(&plain(), &points, &probe.run(&Bind::Set(held.set), &points)).into_iter().collect())
    })?;
    judged.assert_silent("a legal sampler");
    assert_told(&judged, "update-after-bind");
    Ok(())
}
