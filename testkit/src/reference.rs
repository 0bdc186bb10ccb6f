//! A sampler on the CPU, for comparing results with.
//!
//! Follows the Vulkan specification, chapter *Image Operations*, for images of every type: LOD, wrapping, texel gathering,
//! border replacement, depth comparison, reduction and swizzle. It knows no derivatives (LOD is explicit), no anisotropy and no
//! Y′CbCr, and of cubes only what does not blend faces: [`try_sample`] says so. Arithmetic is `f64`; a device may quantise the weights of a linear
//! filter to `1 / 2^subTexelPrecisionBits` and the mip fraction to `1 / 2^mipmapPrecisionBits`, which is what a comparison's
//! tolerance has to allow for.

use crate::image::{Image, View};
use crate::sampler::{BorderValue, SamplerDesc};
use crate::scene::{Scene, Shape, pattern};
use crate::shader::SamplePoint;
use crate::texel::{self, NumericKind, Value};
use ash::vk;

/// `GL_CLAMP`, an address mode of OpenGL's.
const GL_CLAMP: vk::SamplerAddressMode = vk::SamplerAddressMode::from_raw(0x2900);

/// One mip level: `layers × depth × height × width` texels, x fastest.
#[derive(Clone, Debug)]
struct Level {
    extent: [u32; 3],
    texels: Vec<[f64; 4]>,
}

/// The texels a view shows, decoded, before its swizzle.
#[derive(Clone, Debug)]
pub struct Texture {
    axes: usize,
    /// Layers, or cubes.
    layers: u32,
    arrayed: bool,
    is_cube: bool,
    format: vk::Format,
    kind: NumericKind,
    is_depth: bool,
    is_unorm: bool,
    components: vk::ComponentMapping,
    levels: Vec<Level>,
}

impl Texture {
    /// Reads back what `view` of the whole of `image` shows; the view's format must be the image's.
    pub fn read(image: &Image<'_>, view: &View<'_>) -> Self {
        let read = |level, layer| image.read(view.aspect(), level, layer);
        let desc = image.desc();
        let (axes, arrayed) = match view.view_type() {
            vk::ImageViewType::TYPE_1D => (1, false),
            vk::ImageViewType::TYPE_1D_ARRAY => (1, true),
            vk::ImageViewType::TYPE_2D => (2, false),
            vk::ImageViewType::TYPE_2D_ARRAY => (2, true),
            vk::ImageViewType::CUBE => (2, false),
            vk::ImageViewType::CUBE_ARRAY => (2, true),
            _ => (3, false),
        };
        let is_cube = matches!(view.view_type(), vk::ImageViewType::CUBE | vk::ImageViewType::CUBE_ARRAY);
        let levels = (0..desc.levels).map(|level| Level {
            extent: desc.level_extent(level),
            texels: (0..desc.layers).flat_map(|layer| read(level, layer)).map(Value::components).collect(),
        });
        Self {
            axes,
            arrayed,
            is_cube,
            layers: if is_cube { desc.layers / 6 } else { desc.layers },
            format: view.format(),
            kind: view.numeric_kind(),
            is_depth: view.aspect() == vk::ImageAspectFlags::DEPTH,
            is_unorm: texel::is_unorm(view.format(), view.aspect()),
            components: view.components(),
            levels: levels.collect(),
        }
    }

    /// What the view of a scene shows, without a device: its pattern as the format stores it.
    pub fn of(scene: &Scene) -> Self {
        let desc = scene.image_desc();
        let kind = texel::numeric_kind(scene.format, scene.aspect);
        let stored = |level: u32, layer: u32, at: [u32; 3]| {
            let mut bytes = Vec::new();
            texel::encode(scene.format, scene.aspect, pattern(kind, level, layer, at), &mut bytes);
            texel::decode(scene.format, scene.aspect, &bytes).components()
        };
        let levels = (0..desc.levels).map(|level| {
            let extent @ [width, height, depth] = desc.level_extent(level);
            let places = (0..depth).flat_map(|z| (0..height).flat_map(move |y| (0..width).map(move |x| [x, y, z])));
            let places: Vec<_> = places.collect();
            let texels = (0..desc.layers).flat_map(|layer| places.iter().map(move |at| (layer, *at)));
            Level { extent, texels: texels.map(|(layer, at)| stored(level, layer, at)).collect() }
        });
        let (axes, arrayed, is_cube) = match scene.shape {
            Shape::D1 => (1, false, false),
            Shape::D1Array => (1, true, false),
            Shape::D2 => (2, false, false),
            Shape::D2Array => (2, true, false),
            Shape::D3 => (3, false, false),
            Shape::Cube => (2, false, true),
            Shape::CubeArray => (2, true, true),
        };
        Self {
            axes,
            arrayed,
            is_cube,
            layers: if is_cube { desc.layers / 6 } else { desc.layers },
            format: scene.format,
            kind,
            is_depth: scene.aspect == vk::ImageAspectFlags::DEPTH,
            is_unorm: texel::is_unorm(scene.format, scene.aspect),
            components: scene.components,
            levels: levels.collect(),
        }
    }

    /// A single-level 2D float texture from rows of texels, for tests of the reference itself.
    #[cfg(test)]
    fn rows(rows: &[&[f64]]) -> Self {
        let extent = [rows[0].len() as u32, rows.len() as u32, 1];
        let texels = rows.iter().flat_map(|row| row.iter()).map(|value| [*value, 0.0, 0.0, 1.0]).collect();
        Self {
            axes: 2,
            layers: 1,
            arrayed: false,
            is_cube: false,
            format: vk::Format::R32_SFLOAT,
            kind: NumericKind::Float,
            is_depth: false,
            is_unorm: false,
            components: vk::ComponentMapping::default(),
            levels: vec![Level { extent, texels }],
        }
    }
}

/// How one lookup compares depth.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Compare {
    Off,
    On { op: vk::CompareOp, reference: f64 },
}

impl Compare {
    fn of(texture: &Texture, sampler: &SamplerDesc, point: &SamplePoint) -> Self {
        if !sampler.compare_enable {
            return Self::Off;
        }
        let reference = f64::from(point.reference);
        // "If the image being sampled has an unsigned normalized fixed-point format, then Dref is clamped to [0,1]".
        let reference = if texture.is_unorm { reference.clamp(0.0, 1.0) } else { reference };
        Self::On { op: sampler.compare_op, reference }
    }
}

/// The result of one lookup with explicit LOD, as the shader sees it.
///
/// `max_lod_bias` is the device's `maxSamplerLodBias`. The sampler has to be legal for the texture, with one liberty: a
/// LINEAR filter on a format without the LINEAR bit is computed all the same. Comparison is done when the sampler
/// enables it, and the scalar result is replicated.
/// Panics on what [`try_sample`] does not know.
pub fn sample(texture: &Texture, sampler: &SamplerDesc, point: &SamplePoint, max_lod_bias: f32) -> Value {
    try_sample(texture, sampler, point, max_lod_bias)
        .unwrap_or_else(|| panic!("the reference does not know {sampler:?} at {point:?}"))
}

/// As [`sample`]; `None` for what the reference does not know: enumerants, and texels of two faces of a cube in one lookup.
pub fn try_sample(texture: &Texture, sampler: &SamplerDesc, point: &SamplePoint, max_lod_bias: f32) -> Option<Value> {
    let taps = footprint(texture, sampler, point, max_lod_bias)?;
    let combined = reduce(&taps, sampler.reduction.unwrap_or_default())?;
    if sampler.compare_enable {
        return Some(Value::Float([combined[0] as f32; 4]));
    }
    Some(texture.value(texture.swizzled(combined)?))
}

/// The result of one gather of the first component, or of comparisons; `None` for what the reference does not know, as of cubes what lies
/// across an edge. Specification: *Texel Gathering*, whose texels are those of a LINEAR filter at the base level, whatever the sampler's.
pub fn try_gather(texture: &Texture, sampler: &SamplerDesc, point: &SamplePoint) -> Option<Value> {
    let compare = Compare::of(texture, sampler, point);
    let found = taps(texture, sampler, vk::Filter::LINEAR, point, 0, compare)?;
    let [i0j0, i1j0, i0j1, i1j1] = <[Tap; 4]>::try_from(found).ok()?;
    let mut all = [0.0; 4];
    for (own, (_, texel)) in all.iter_mut().zip([i0j1, i1j1, i1j0, i0j0]) {
        *own = if sampler.compare_enable { texel } else { texture.swizzled(texel)? }[0];
    }
    Some(if sampler.compare_enable { Value::Float(all.map(|one| one as f32)) } else { texture.value(all) })
}

impl Texture {
    /// A texel as the view shows it.
    fn swizzled(&self, texel: [f64; 4]) -> Option<[f64; 4]> {
        let mut swizzled = texel;
        let sources = [self.components.r, self.components.g, self.components.b, self.components.a];
        for (own, source) in sources.into_iter().enumerate() {
            swizzled[own] = match source {
                vk::ComponentSwizzle::IDENTITY => texel[own],
                vk::ComponentSwizzle::ZERO => 0.0,
                vk::ComponentSwizzle::ONE => 1.0,
                vk::ComponentSwizzle::R => texel[0],
                vk::ComponentSwizzle::G => texel[1],
                vk::ComponentSwizzle::B => texel[2],
                vk::ComponentSwizzle::A => texel[3],
                _ => return None,
            };
        }
        Some(swizzled)
    }

    fn value(&self, components: [f64; 4]) -> Value {
        match self.kind {
            NumericKind::Float => Value::Float(components.map(|c| c as f32)),
            NumericKind::Int => Value::Int(components.map(|c| c as i32)),
            NumericKind::Uint => Value::Uint(components.map(|c| c as u32)),
        }
    }
}

/// The texels of a lookup, compared where the sampler compares, with their weights.
fn footprint(texture: &Texture, sampler: &SamplerDesc, point: &SamplePoint, max_lod_bias: f32) -> Option<Vec<Tap>> {
    let lambda = lambda(sampler, point, max_lod_bias);
    // "If λ is less than or equal to zero then the texture is said to be magnified."
    let filter = if lambda <= 0.0 { sampler.mag_filter } else { sampler.min_filter };
    let last = texture.levels.len() - 1;
    let level = lambda.clamp(0.0, last as f64);
    let compare = Compare::of(texture, sampler, point);
    let mut all = Vec::new();
    let mut gather = |level: usize, scale: f64| -> Option<()> {
        if scale > 0.0 {
            let found = taps(texture, sampler, filter, point, level, compare)?;
            all.extend(
                found.into_iter().filter(|(weight, _)| *weight > 0.0).map(|(weight, texel)| (weight * scale, texel)),
            );
        }
        Some(())
    };
    match sampler.mipmap_mode {
        vk::SamplerMipmapMode::NEAREST => {
            // "d = ⌈d' + 0.5⌉ − 1" is the preferred rounding.
            let nearest = ((level + 0.5).ceil() as usize).saturating_sub(1).min(last);
            gather(nearest, 1.0)?;
        }
        vk::SamplerMipmapMode::LINEAR => {
            let high = level.floor() as usize;
            let fraction = level - level.floor();
            gather(high, 1.0 - fraction)?;
            gather((high + 1).min(last), fraction)?;
        }
        _ => return None,
    }
    Some(all)
}

/// The level of detail of a lookup before the view's levels bound it.
fn lambda(sampler: &SamplerDesc, point: &SamplePoint, max_lod_bias: f32) -> f64 {
    let (lod, bias) = if sampler.unnormalized { (0.0, 0.0) } else { (point.lod, sampler.lod_bias) };
    // "λ' = λbase + clamp(sampler.bias + shaderOp.bias, -maxSamplerLodBias, maxSamplerLodBias)", then clamped.
    let lambda = f64::from(lod) + f64::from(bias.clamp(-max_lod_bias, max_lod_bias));
    lambda.max(f64::from(sampler.min_lod)).min(f64::from(sampler.max_lod))
}

/// Whether drivers may take either of two levels, filters or texels: between two levels halfway, where a filter gives way to the other,
/// and of a texel with next to no weight among those of which the least or largest is taken, a rounding decides.
pub fn is_tied(texture: &Texture, sampler: &SamplerDesc, point: &SamplePoint, max_lod_bias: f32) -> bool {
    const STEP: f64 = 1.0 / 128.0;
    let lambda = lambda(sampler, point, max_lod_bias);
    let last = (texture.levels.len() - 1) as f64;
    let between = sampler.mipmap_mode == vk::SamplerMipmapMode::NEAREST
        && (0.0..last).contains(&lambda)
        && (lambda.fract() - 0.5).abs() < STEP;
    let exact = f64::from(point.lod).fract() == 0.0 && sampler.lod_bias.fract() == 0.0;
    let picks = matches!(sampler.reduction, Some(vk::SamplerReductionMode::MIN | vk::SamplerReductionMode::MAX));
    let light = || {
        let taps = footprint(texture, sampler, point, max_lod_bias).unwrap_or_default();
        taps.iter().any(|(weight, _)| *weight < STEP)
    };
    between || (sampler.mag_filter != sampler.min_filter && !exact && lambda.abs() < STEP) || (picks && light())
}

/// One texel and its weight.
type Tap = (f64, [f64; 4]);

/// Coordinates and the layer of a lookup; `None` for a direction between two faces.
fn place(texture: &Texture, point: &SamplePoint) -> Option<([f64; 3], u32)> {
    let [x, y, z, w] = point.coord.map(f64::from);
    // "layer = clamp(RNE(a), 0, layerCount − 1)".
    let layer = |index: f64| index.round_ties_even().clamp(0.0, f64::from(texture.layers - 1)) as u32;
    if !texture.is_cube {
        return Some(([x, y, z], if texture.arrayed { layer([x, y, z, w][texture.axes]) } else { 0 }));
    }
    // "Cube Map Face Selection", by the greatest component; a tie is not looked at.
    let (face, s, t, major) = match (x.abs(), y.abs(), z.abs()) {
        (a, b, c) if a > b && a > c => {
            if x > 0.0 {
                (0, -z, -y, a)
            } else {
                (1, z, -y, a)
            }
        }
        (a, b, c) if b > a && b > c => {
            if y > 0.0 {
                (2, x, z, b)
            } else {
                (3, x, -z, b)
            }
        }
        (a, b, c) if c > a && c > b => {
            if z > 0.0 {
                (4, x, -y, c)
            } else {
                (5, -x, -y, c)
            }
        }
        _ => return None,
    };
    let cube = if texture.arrayed { layer(w) } else { 0 };
    Some(([0.5 * s / major + 0.5, 0.5 * t / major + 0.5, 0.0], 6 * cube + face))
}

/// The texels of a filter at one level with their weights, also those without any; `None` for what the reference does not know.
fn taps(
    texture: &Texture,
    sampler: &SamplerDesc,
    filter: vk::Filter,
    point: &SamplePoint,
    level: usize,
    compare: Compare,
) -> Option<Vec<Tap>> {
    let mut taps = Vec::new();
    let extent = texture.levels[level].extent;
    let (coord, layer) = place(texture, point)?;
    // Per axis: up to two (texel index, weight).
    let axis = |axis: usize| -> Option<Vec<(Option<u32>, f64)>> {
        if axis >= texture.axes {
            return Some(vec![(Some(0), 1.0)]);
        }
        let size = extent[axis];
        let u = if sampler.unnormalized { coord[axis] } else { coord[axis] * f64::from(size) };
        // OpenGL's clamps the coordinate, and what lies half a texel beyond it is border.
        let u = if sampler.address[axis] == GL_CLAMP { u.clamp(0.0, f64::from(size)) } else { u };
        let wrapped = |index: f64| {
            if texture.is_cube {
                // Across an edge lies another face.
                return (0.0..f64::from(size)).contains(&index).then_some(Some(index as u32));
            }
            let mode = match sampler.address[axis] {
                GL_CLAMP if filter == vk::Filter::NEAREST => vk::SamplerAddressMode::CLAMP_TO_EDGE,
                GL_CLAMP => vk::SamplerAddressMode::CLAMP_TO_BORDER,
                mode => mode,
            };
            wrap(index as i64, size, mode)
        };
        Some(match filter {
            vk::Filter::NEAREST => vec![(wrapped(u.floor())?, 1.0)],
            vk::Filter::LINEAR => {
                let low = (u - 0.5).floor();
                let alpha = (u - 0.5) - low;
                vec![(wrapped(low)?, 1.0 - alpha), (wrapped(low + 1.0)?, alpha)]
            }
            _ => return None,
        })
    };
    let (columns, rows, slices) = (axis(0)?, axis(1)?, axis(2)?);
    for (k, wk) in &slices {
        for (j, wj) in &rows {
            for (i, wi) in &columns {
                let raw = match (i, j, k) {
                    (Some(i), Some(j), Some(k)) => {
                        let [width, height, depth] = extent;
                        let index = ((layer * depth + k) * height + j) * width + i;
                        texture.levels[level].texels[index as usize]
                    }
                    _ => border(texture, sampler)?,
                };
                let value = match compare {
                    Compare::Off => raw,
                    Compare::On { op, reference } => [f64::from(u8::from(holds(op, reference, raw[0])?)); 4],
                };
                taps.push((wi * wj * wk, value));
            }
        }
    }
    Some(taps)
}

/// The texel index an address mode makes of `index`; `Some(None)` is the border. Specification: *Wrapping Operation*.
fn wrap(index: i64, size: u32, mode: vk::SamplerAddressMode) -> Option<Option<u32>> {
    let size = i64::from(size);
    let mirror = |n: i64| if n >= 0 { n } else { -(1 + n) };
    let wrapped = match mode {
        vk::SamplerAddressMode::REPEAT => index.rem_euclid(size),
        vk::SamplerAddressMode::MIRRORED_REPEAT => (size - 1) - mirror(index.rem_euclid(2 * size) - size),
        vk::SamplerAddressMode::CLAMP_TO_EDGE => index.clamp(0, size - 1),
        vk::SamplerAddressMode::CLAMP_TO_BORDER => index.clamp(-1, size),
        vk::SamplerAddressMode::MIRROR_CLAMP_TO_EDGE => mirror(index).clamp(0, size - 1),
        _ => return None,
    };
    Some((0..size).contains(&wrapped).then_some(wrapped as u32))
}

/// The border texel after replacement and conversion: components the format lacks read 0, 0, 0, 1.
fn border(texture: &Texture, sampler: &SamplerDesc) -> Option<[f64; 4]> {
    let colour = match sampler.border_color {
        vk::BorderColor::FLOAT_TRANSPARENT_BLACK | vk::BorderColor::INT_TRANSPARENT_BLACK => [0.0; 4],
        vk::BorderColor::FLOAT_OPAQUE_BLACK | vk::BorderColor::INT_OPAQUE_BLACK => [0.0, 0.0, 0.0, 1.0],
        vk::BorderColor::FLOAT_OPAQUE_WHITE | vk::BorderColor::INT_OPAQUE_WHITE => [1.0; 4],
        _ => match sampler.custom_border?.value {
            BorderValue::Float(value) => value.map(f64::from),
            BorderValue::Int(value) => value.map(f64::from),
            BorderValue::Uint(value) => value.map(f64::from),
        },
    };
    let present = if texture.is_depth { [true, false, false, false] } else { texel::channels(texture.format) };
    let missing = [0.0, 0.0, 0.0, 1.0];
    Some(std::array::from_fn(|index| if present[index] { colour[index] } else { missing[index] }))
}

fn holds(op: vk::CompareOp, reference: f64, depth: f64) -> Option<bool> {
    Some(match op {
        vk::CompareOp::NEVER => false,
        vk::CompareOp::LESS => reference < depth,
        vk::CompareOp::EQUAL => reference == depth,
        vk::CompareOp::LESS_OR_EQUAL => reference <= depth,
        vk::CompareOp::GREATER => reference > depth,
        vk::CompareOp::NOT_EQUAL => reference != depth,
        vk::CompareOp::GREATER_OR_EQUAL => reference >= depth,
        vk::CompareOp::ALWAYS => true,
        _ => return None,
    })
}

fn reduce(taps: &[Tap], mode: vk::SamplerReductionMode) -> Option<[f64; 4]> {
    let fold = |start: f64, step: fn(f64, f64) -> f64| {
        taps.iter().fold([start; 4], |all, (_, value)| std::array::from_fn(|index| step(all[index], value[index])))
    };
    Some(match mode {
        vk::SamplerReductionMode::WEIGHTED_AVERAGE => taps
            .iter()
            .fold([0.0; 4], |sum, (weight, value)| std::array::from_fn(|index| sum[index] + weight * value[index])),
        vk::SamplerReductionMode::MIN => fold(f64::INFINITY, f64::min),
        vk::SamplerReductionMode::MAX => fold(f64::NEG_INFINITY, f64::max),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn red(texture: &Texture, sampler: &SamplerDesc, point: SamplePoint) -> f64 {
        sample(texture, sampler, &point, 16.0).components()[0]
    }

    fn wrapped(mode: vk::SamplerAddressMode) -> Vec<Option<u32>> {
        (-5..8).map(|index| wrap(index, 3, mode).expect("a mode of Vulkan's")).collect()
    }

    #[test]
    fn wrapping_follows_the_specification() {
        let some = |list: [u32; 13]| list.map(Some).to_vec();
        assert_eq!(wrapped(vk::SamplerAddressMode::REPEAT), some([1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1]));
        assert_eq!(wrapped(vk::SamplerAddressMode::MIRRORED_REPEAT), some([1, 2, 2, 1, 0, 0, 1, 2, 2, 1, 0, 0, 1]));
        assert_eq!(wrapped(vk::SamplerAddressMode::CLAMP_TO_EDGE), some([0, 0, 0, 0, 0, 0, 1, 2, 2, 2, 2, 2, 2]));
        assert_eq!(
            wrapped(vk::SamplerAddressMode::MIRROR_CLAMP_TO_EDGE),
            some([2, 2, 2, 1, 0, 0, 1, 2, 2, 2, 2, 2, 2])
        );
        let border = wrapped(vk::SamplerAddressMode::CLAMP_TO_BORDER);
        assert_eq!(&border[4..9], [None, Some(0), Some(1), Some(2), None]);
    }

    #[test]
    fn linear_weights_are_bilinear() {
        let texture = Texture::rows(&[&[0.0, 4.0], &[8.0, 12.0]]);
        let sampler = SamplerDesc::linear();
        assert_eq!(red(&texture, &sampler, SamplePoint::at(0.5, 0.5, 0.0)), 6.0);
        assert_eq!(red(&texture, &sampler, SamplePoint::at(0.25, 0.25, 0.0)), 0.0);
        assert_eq!(red(&texture, &sampler, SamplePoint::at(0.375, 0.25, 0.0)), 1.0);
        assert_eq!(red(&texture, &sampler, SamplePoint::at(0.0, 0.0, 0.0)), 0.0);
        let bordered = SamplerDesc::linear().border(vk::BorderColor::FLOAT_OPAQUE_WHITE);
        // Half of the footprint of the left edge is border.
        assert_eq!(red(&texture, &bordered, SamplePoint::at(0.0, 0.75, 0.0)), 4.5);
    }

    #[test]
    fn levels_of_detail_pick_filters_and_mips() {
        let mut texture = Texture::rows(&[&[0.0, 4.0], &[8.0, 12.0]]);
        texture.levels.push(Level { extent: [1, 1, 1], texels: vec![[100.0, 0.0, 0.0, 1.0]] });
        let at = |lod| SamplePoint::at(0.25, 0.25, 0.0).lod(lod);
        let nearest = SamplerDesc::nearest();
        assert_eq!(red(&texture, &nearest, at(0.5)), 0.0, "ties go to the finer level");
        assert_eq!(red(&texture, &nearest, at(0.6)), 100.0);
        assert_eq!(red(&texture, &nearest, at(9.0)), 100.0, "beyond the last level");
        assert_eq!(red(&texture, &SamplerDesc::trilinear(), at(0.25)), 25.0);
        let biased = SamplerDesc { lod_bias: 1.0, ..SamplerDesc::nearest() };
        assert_eq!(red(&texture, &biased, at(0.0)), 100.0);
        assert_eq!(red(&texture, &biased.lod(0.0, 0.25), at(0.0)), 0.0, "the clamp comes after the bias");
        let split = SamplerDesc { min_filter: vk::Filter::LINEAR, ..SamplerDesc::nearest() };
        assert_eq!(red(&texture, &split, SamplePoint::at(0.375, 0.25, 0.0)), 0.0, "LOD 0 is magnification");
        assert_eq!(red(&texture, &split, SamplePoint::at(0.375, 0.25, 0.0).lod(0.1)), 1.0);
    }

    #[test]
    fn comparison_happens_before_filtering() {
        let mut texture = Texture::rows(&[&[0.25, 0.75]]);
        (texture.format, texture.is_depth) = (vk::Format::D32_SFLOAT, true);
        let sampler = SamplerDesc::linear().compare(vk::CompareOp::LESS);
        let got = sample(&texture, &sampler, &SamplePoint::at(0.5, 0.5, 0.0).reference(0.5), 16.0);
        assert_eq!(got, Value::Float([0.5; 4]));
    }

    #[test]
    fn references_are_clamped_for_unsigned_normalized_formats() {
        let sampler = SamplerDesc::nearest().compare(vk::CompareOp::LESS_OR_EQUAL);
        let beyond = SamplePoint::at(0.5, 0.5, 0.0).reference(1.5);
        for (is_unorm, passes) in [(true, 1.0), (false, 0.0)] {
            let texture = Texture { is_unorm, ..Texture::rows(&[&[1.0]]) };
            assert_eq!(red(&texture, &sampler, beyond), passes);
        }
        let (colour, depth) = (vk::ImageAspectFlags::COLOR, vk::ImageAspectFlags::DEPTH);
        for (format, aspect, is_unorm) in [
            (vk::Format::R16_UNORM, colour, true),
            (vk::Format::R8G8B8A8_SRGB, colour, true),
            (vk::Format::A2B10G10R10_UNORM_PACK32, colour, true),
            (vk::Format::D24_UNORM_S8_UINT, depth, true),
            (vk::Format::D24_UNORM_S8_UINT, vk::ImageAspectFlags::STENCIL, false),
            (vk::Format::D32_SFLOAT_S8_UINT, depth, false),
            (vk::Format::R16_SNORM, colour, false),
            (vk::Format::R32_SFLOAT, colour, false),
            (vk::Format::B10G11R11_UFLOAT_PACK32, colour, false),
        ] {
            assert_eq!(texel::is_unorm(format, aspect), is_unorm, "{format:?} {aspect:?}");
        }
    }

    #[test]
    fn borders_show_only_the_channels_a_format_has() {
        let mut texture = Texture::rows(&[&[0.5]]);
        let sampler = SamplerDesc::nearest().border(vk::BorderColor::FLOAT_OPAQUE_WHITE);
        let outside = SamplePoint::at(-1.0, 0.5, 0.0);
        assert_eq!(sample(&texture, &sampler, &outside, 16.0), Value::Float([1.0, 0.0, 0.0, 1.0]));
        texture.components.a = vk::ComponentSwizzle::ZERO;
        texture.components.g = vk::ComponentSwizzle::R;
        assert_eq!(sample(&texture, &sampler, &outside, 16.0), Value::Float([1.0, 1.0, 0.0, 0.0]));
    }

    #[test]
    fn reductions_take_the_texels_of_the_footprint() {
        let texture = Texture::rows(&[&[3.0, 7.0, 100.0]]);
        let point = SamplePoint::at(0.4, 0.5, 0.0);
        assert_eq!(red(&texture, &SamplerDesc::linear().reduction(vk::SamplerReductionMode::MIN), point), 3.0);
        assert_eq!(red(&texture, &SamplerDesc::linear().reduction(vk::SamplerReductionMode::MAX), point), 7.0);
    }

    #[test]
    fn gathers_go_round_the_footprint_of_linear() {
        let mut texture = Texture::rows(&[&[1.0, 2.0], &[3.0, 4.0]]);
        let sampler = SamplerDesc::nearest().border(vk::BorderColor::FLOAT_OPAQUE_WHITE);
        let at = |texture: &Texture, x, y| try_gather(texture, &sampler, &SamplePoint::at(x, y, 0.0)).unwrap();
        assert_eq!(at(&texture, 0.5, 0.5), Value::Float([3.0, 4.0, 2.0, 1.0]));
        // Texels of no weight are among them.
        assert_eq!(at(&texture, 0.25, 0.25), Value::Float([3.0, 4.0, 2.0, 1.0]));
        assert_eq!(at(&texture, 0.1, 0.5), Value::Float([1.0, 3.0, 1.0, 1.0]));
        let less = sampler.clone().compare(vk::CompareOp::LESS);
        let compared = try_gather(&texture, &less, &SamplePoint::at(0.5, 0.5, 0.0).reference(2.5));
        assert_eq!(compared, Some(Value::Float([1.0, 1.0, 0.0, 0.0])));
        (texture.kind, texture.components.r) = (NumericKind::Uint, vk::ComponentSwizzle::A);
        assert_eq!(at(&texture, 0.5, 0.5), Value::Uint([1; 4]));
    }

    #[test]
    fn unnormalized_coordinates_count_texels() {
        let texture = Texture::rows(&[&[1.0, 2.0, 3.0]]);
        let sampler = SamplerDesc::unnormalized(vk::Filter::NEAREST);
        assert_eq!(red(&texture, &sampler, SamplePoint::at(2.5, 0.5, 0.0).lod(3.0)), 3.0);
    }
}
