//! Painters of what the layer makes in the shader, and the settings that such a case needs.

use crate::cases::{Case, PANEL, Picture, TEXTURE, colour, diagonal, relief, relief_image, scale, whole_panel};
use ash::vk;
use samplin_testkit::descriptor::{Binding, Pool, SetLayout, write_combined};
use samplin_testkit::shader::{Access, Bind, Op, grid};
use samplin_testkit::{Context, ContextBuilder, Image, ImageDesc, Pair, Probe, SamplerDesc, Value, ViewDesc, sample};
use std::ffi::CStr;

/// The extension that has GL_CLAMP, and the mode.
pub(crate) const GL_ADDRESS_MODES: &CStr = c"VK_SAMPLIN_gl_address_modes";
const GL_CLAMP: vk::SamplerAddressMode = vk::SamplerAddressMode::from_raw(0x2900);

/// A device that filters RGBA8 and no 32-bit floats; without the layer it is what it is.
const WEAK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../devices/broadcom-v3d-4.2-v3dv.json");

pub(crate) fn weak(builder: ContextBuilder) -> ContextBuilder {
    builder.setting("device", WEAK)
}

/// The setting that the left half has, of a case about a setting: both halves are with the layer then. Most devices filter
/// 32-bit floats, so that without the layer there would be no stairs to see; and most store small floats, so that an application
/// which asks would not be refused.
pub(crate) fn contrast(case: &Case) -> Option<(&'static str, &'static str)> {
    match case.name {
        "r32f-linear" => Some(("unfilterable", "nearest")),
        "aniso-nearest" => Some(("aniso_nearest", "keep")),
        "r11g11b10-store" => Some(("device_visible", "on")),
        _ => None,
    }
}

pub(crate) fn gl_clamp(context: &Context) -> Result<Picture, String> {
    let format = vk::Format::R8G8B8A8_UNORM;
    let image = relief_image(context, format)?;
    let view = image.view(&ViewDesc::default());
    let border = SamplerDesc::linear().border(vk::BorderColor::FLOAT_OPAQUE_WHITE);
    let has_mode = context.extensions().contains(&GL_ADDRESS_MODES);
    let sampler = if has_mode { border.address(GL_CLAMP) } else { border };
    let sampler = sampler.create(context);
    let values = sample(context, Pair::new(&view, &sampler), &grid(PANEL, PANEL, [-0.35, -0.35], [1.35, 1.35]));
    Ok(values.into_iter().map(|value| colour(format, value)).collect())
}

/// The relief in floats.
fn float_image(context: &Context) -> Result<Image<'_>, String> {
    Image::filled(context, &ImageDesc::d2(vk::Format::R32_SFLOAT, TEXTURE, TEXTURE), |_, _, _, [x, y, _]| {
        Value::Float([relief(x, y) as f32, 0.0, 0.0, 1.0])
    })
}

fn on_scale(values: Vec<Value>) -> Picture {
    values.into_iter().map(|value| scale(value.components()[0])).collect()
}

pub(crate) fn floats(context: &Context) -> Result<Picture, String> {
    let image = float_image(context)?;
    let view = image.view(&ViewDesc::default());
    let sampler = SamplerDesc::linear().create(context);
    Ok(on_scale(sample(context, Pair::new(&view, &sampler), &whole_panel())))
}

/// One layout with an immutable sampler, and two sets of it, with an image each.
pub(crate) fn immutable(context: &Context) -> Result<Picture, String> {
    let format = vk::Format::R8G8B8A8_UNORM;
    let images = [relief_image(context, format)?, float_image(context)?];
    let views = images.each_ref().map(|image| image.view(&ViewDesc::default()));
    let sampler = SamplerDesc::linear().named("immutable").create(context);
    let layout = SetLayout::new(context, &[Binding::combined(0, 1).immutable(&[&sampler])]);
    let pool = Pool::new(context, &[&layout, &layout]);
    let pairs = views.each_ref().map(|view| Pair::new(view, &sampler));
    let sets = pairs.map(|pair| {
        let set = pool.allocate(&layout);
        write_combined(context, set, (0, 0), &[pair]);
        set
    });
    let [pair, _] = pairs;
    let probe = Probe::new(context, &layout, Op::Sample, pair.shape, pair.kind, Access::Single { binding: 0 });
    let [good, bad] = sets.map(|set| probe.run(&Bind::Set(set), &whole_panel()));
    let good = good.into_iter().map(|value| colour(format, value)).collect();
    Ok(diagonal([&good, &on_scale(bad)]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::CASES;
    use crate::shaders::lamps;
    use samplin_testkit::reference::{self, Texture};
    use samplin_testkit::{layer, skip};

    /// What the reference finds in an image on the whole panel.
    fn exact(image: &Image<'_>, sampler: &SamplerDesc) -> Vec<Value> {
        let texels = Texture::read(image, &image.view(&ViewDesc::default()));
        whole_panel().iter().map(|point| reference::sample(&texels, sampler, point, 16.0)).collect()
    }

    /// Paints a case with the layer, its settings and these before them, and has it judged by the reference's picture: how many pixels
    /// are further from it than `tolerance` in a channel.
    fn far(
        name: &str,
        settings: &[(&str, &str)],
        tolerance: u8,
        wanted: impl Fn(&Context) -> Result<Picture, String>,
    ) -> Option<usize> {
        if let Err(why) = layer::locate() {
            assert!(std::env::var_os("CI").is_none(), "{why}");
            skip(why);
            return None;
        }
        let case = CASES.iter().find(|case| case.name == name).expect("a case");
        let builder = Context::builder().samplin();
        let builder = settings.iter().fold(builder, |builder, (key, value)| builder.setting(key, value));
        let context = (case.prepare)(builder).build().expect("a context");
        let (got, wanted) = ((case.paint)(&context).expect("painted"), wanted(&context).expect("painted"));
        assert_eq!((got.len(), wanted.len()), ((PANEL * PANEL) as usize, (PANEL * PANEL) as usize));
        let is_far = |(got, wanted): &(&[u8; 3], &[u8; 3])| {
            got.iter().zip(*wanted).any(|(got, wanted)| got.abs_diff(*wanted) > tolerance)
        };
        Some(got.iter().zip(&wanted).filter(is_far).count())
    }

    fn of_floats(context: &Context, sampler: &SamplerDesc) -> Result<Picture, String> {
        Ok(on_scale(exact(&float_image(context)?, sampler)))
    }

    #[test]
    fn floats_are_filtered_in_full_precision_or_not_at_all() {
        let (nearest, linear) = (SamplerDesc::nearest(), SamplerDesc::linear());
        let own = |sampler: SamplerDesc| move |context: &Context| of_floats(context, &sampler);
        let Some(smooth) = far("r32f-linear", &[], 1, own(linear.clone())) else { return };
        assert_eq!(smooth, 0, "pixels are not those of the filter");
        let contrast = contrast(CASES.iter().find(|case| case.name == "r32f-linear").expect("a case"));
        let contrast = [contrast.expect("a contrast")];
        assert_eq!(far("r32f-linear", &contrast, 1, own(nearest)), Some(0), "pixels are not those of the texels");
        let apart = far("r32f-linear", &contrast, 1, own(linear)).expect("as before");
        assert!(apart > (PANEL * PANEL / 2) as usize, "{apart} pixels tell them apart");
    }

    #[test]
    fn small_floats_are_those_that_the_driver_stores() {
        let native = Context::builder().build().expect("a context");
        // Of the two small floats around a value a driver may store either, and a pixel is stored three times. What SwiftShader
        // stores is not the same on all processors.
        let steps = if native.device_name().contains("SwiftShader") { 3 } else { 0 };
        let Some(other) = far("r11g11b10-store", &[], steps, |_| lamps(&native)) else { return };
        assert_eq!(other, 0, "pixels are not those of the driver");
        let dark = |_: &Context| Ok(vec![[0; 3]; (PANEL * PANEL) as usize]);
        let lit = far("r11g11b10-store", &[], steps, dark).expect("as before");
        assert!(lit > (PANEL * PANEL / 2) as usize, "{lit} pixels are lit");
    }

    #[test]
    fn an_immutable_sampler_is_demoted_for_the_view_that_needs_it() {
        let wanted = |context: &Context, of_bad: &SamplerDesc| {
            let format = vk::Format::R8G8B8A8_UNORM;
            let good = exact(&relief_image(context, format)?, &SamplerDesc::linear());
            let good = good.into_iter().map(|value| colour(format, value)).collect();
            Ok(diagonal([&good, &of_floats(context, of_bad)?]))
        };
        // A device may filter 8-bit colours with 8 bits of weight.
        let far = |legal: SamplerDesc| far("immutable", &[], 5, move |context| wanted(context, &legal));
        let Some(right) = far(SamplerDesc::nearest()) else { return };
        assert_eq!(right, 0, "pixels are neither filtered nor texels");
        let apart = far(SamplerDesc::linear()).expect("as before");
        assert!(apart > (PANEL * PANEL / 4) as usize, "{apart} pixels tell them apart");
    }
}
