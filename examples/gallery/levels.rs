//! Painters of images with several levels.

use crate::cases::{PANEL, Picture, colour, scale, texel_of, whole_panel};
use ash::vk;
use samplin_testkit::descriptor::{Binding, Pool, SetLayout, write_combined};
use samplin_testkit::{
    Capability, Context, Image, ImageDesc, Mapping, Painter, Pair, SamplePoint, SamplerDesc, ViewDesc, sample,
};

pub(crate) fn integers(context: &Context) -> Result<Picture, String> {
    let format = vk::Format::R16_SINT;
    let image = Image::filled(context, &ImageDesc::d2(format, 16, 16).levels(5), |_, level, _, [x, y, _]| {
        let checker = (x + y) % 2 == 0 && level < 4;
        texel_of(format, 0.08 + 0.2 * f64::from(level) + if checker { 0.08 } else { 0.0 }, [0.0; 3])
    })?;
    let view = image.view(&ViewDesc::default());
    let sampler = SamplerDesc { mipmap_mode: vk::SamplerMipmapMode::LINEAR, ..SamplerDesc::nearest() }.create(context);
    let values = sample(context, Pair::new(&view, &sampler), &with_rising_lod(4.0));
    Ok(values.into_iter().map(|value| colour(format, value)).collect())
}

/// The whole panel, LOD from 0 at the left to `most` at the right.
fn with_rising_lod(most: f32) -> Vec<SamplePoint> {
    whole_panel().into_iter().map(|point| point.lod(point.coord[0] * most)).collect()
}

/// A floor of tiles that reaches to the horizon.
pub(crate) fn floor(context: &Context, sampler: SamplerDesc) -> Result<Picture, String> {
    if let Some(lacking) = context.missing(&[Capability::SamplerAnisotropy]) {
        return Err(lacking);
    }
    let format = vk::Format::R8G8B8A8_UNORM;
    let size = 256u32;
    let tile = |x: u32, y: u32| {
        let line = x % 32 < 3 || y % 32 < 3;
        let odd = (x / 32 + y / 32) % 2 == 1;
        if line {
            [0.99, 0.94, 0.63]
        } else if odd {
            [0.15, 0.51, 0.56]
        } else {
            [0.15, 0.09, 0.29]
        }
    };
    let image = Image::filled(context, &ImageDesc::d2(format, size, size).levels(9), |_, level, _, [x, y, _]| {
        // A box filter of the full-size floor.
        let edge = 1u32 << level;
        let mut sum = [0.0; 3];
        for (i, j) in (0..edge).flat_map(|i| (0..edge).map(move |j| (i, j))) {
            let texel = tile(x * edge + i, y * edge + j);
            sum = std::array::from_fn(|index| sum[index] + texel[index]);
        }
        let mean = sum.map(|c| c / f64::from(edge * edge));
        texel_of(format, 0.0, mean)
    })?;
    let view = image.view(&ViewDesc::default());
    let sampler = sampler.address(vk::SamplerAddressMode::REPEAT).create(context);
    let pair = Pair::new(&view, &sampler);
    let layout = SetLayout::new(context, &[Binding::combined(0, 1)]);
    let (_pool, set) = Pool::set(context, &layout);
    write_combined(context, set, (0, 0), &[pair]);
    let painter = Painter::new(context, &layout, pair.shape, pair.kind, [PANEL, PANEL])?;
    // Looking along a plane: the horizon is just above the panel.
    let mapping = Mapping {
        origin: [-1.0, 1.0, 0.0, 0.0],
        dx: [2.0, 0.0, 0.0, 0.0],
        dy: [0.0, 0.0, 0.0, 0.0],
        divisor: [0.06, 0.0, 0.9],
        reference: 0.0,
        bias: 0.0,
    };
    Ok(painter.paint(set, &mapping).into_iter().map(|value| colour(format, value)).collect())
}

pub(crate) fn each(context: &Context, sampler: &SamplerDesc, most: f32) -> Result<Picture, String> {
    let format = vk::Format::R8G8B8A8_UNORM;
    let image = Image::filled(context, &ImageDesc::d2(format, 32, 32).levels(6), |_, level, _, [x, y, _]| {
        let shade = scale(0.05 + 0.18 * f64::from(level)).map(|c| f64::from(c) / 255.0);
        let dim = if (x / 2 + y / 2) % 2 == 0 && level < 4 { 0.82 } else { 1.0 };
        texel_of(format, 0.0, shade.map(|c| c * dim))
    })?;
    let view = image.view(&ViewDesc::default());
    let sampler = sampler.create(context);
    let values = sample(context, Pair::new(&view, &sampler), &with_rising_lod(most));
    Ok(values.into_iter().map(|value| colour(format, value)).collect())
}
