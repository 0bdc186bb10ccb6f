//! What is sampled: images with a pattern that tells neighbouring texels apart, and the points looked at.

pub use crate::lookup::Shape;
use crate::skip::{Skip, skip_if};
use crate::{Capability, Context, Image, ImageDesc, SamplePoint, SamplerDesc, Value, View, ViewDesc, texel};
use ash::vk;

/// An image, a view of it and where it is sampled.
#[derive(Clone, Copy, Debug)]
pub struct Scene {
    /// Format of image and view.
    pub format: vk::Format,
    /// Aspect of the view.
    pub aspect: vk::ImageAspectFlags,
    /// Shape of the image and the view: 8 texels along each axis, 4 deep, three layers or two cubes.
    pub shape: Shape,
    /// Mip levels.
    pub levels: u32,
    /// Linear instead of optimal tiling.
    pub linear_tiling: bool,
    /// Swizzle of the view.
    pub components: vk::ComponentMapping,
}

impl Scene {
    /// The image of legal twins.
    pub const RGBA8: Self = Self::colour(vk::Format::R8G8B8A8_UNORM);
    /// Integers, which no device filters.
    pub const UINT: Self = Self::colour(vk::Format::R32_UINT);
    /// Depth.
    pub const D32: Self = Self::depth(vk::Format::D32_SFLOAT);

    /// A 2D colour image with three levels.
    pub const fn colour(format: vk::Format) -> Self {
        Self {
            format,
            aspect: vk::ImageAspectFlags::COLOR,
            shape: Shape::D2,
            levels: 3,
            linear_tiling: false,
            components: vk::ComponentMapping {
                r: vk::ComponentSwizzle::IDENTITY,
                g: vk::ComponentSwizzle::IDENTITY,
                b: vk::ComponentSwizzle::IDENTITY,
                a: vk::ComponentSwizzle::IDENTITY,
            },
        }
    }

    /// The depth aspect of a 2D image with three levels.
    pub const fn depth(format: vk::Format) -> Self {
        Self { aspect: vk::ImageAspectFlags::DEPTH, ..Self::colour(format) }
    }

    /// The stencil aspect of a 2D image with three levels.
    pub const fn stencil(format: vk::Format) -> Self {
        Self { aspect: vk::ImageAspectFlags::STENCIL, ..Self::colour(format) }
    }

    /// The same in another shape.
    pub const fn shape(self, shape: Shape) -> Self {
        Self { shape, ..self }
    }

    /// One level only.
    pub const fn flat(self) -> Self {
        Self { levels: 1, ..self }
    }

    /// One level in linear tiling.
    pub const fn linear_tiling(self) -> Self {
        Self { linear_tiling: true, ..self.flat() }
    }

    /// The tiling.
    pub fn tiling(&self) -> vk::ImageTiling {
        if self.linear_tiling { vk::ImageTiling::LINEAR } else { vk::ImageTiling::OPTIMAL }
    }

    /// Features of the view.
    pub fn features(&self, context: &Context) -> vk::FormatFeatureFlags {
        context.format_features(self.format, self.tiling())
    }

    /// Describes the image.
    pub fn image_desc(&self) -> ImageDesc {
        let mut desc = match self.shape {
            Shape::D1 => ImageDesc::d1(self.format, 8),
            Shape::D1Array => ImageDesc::d1(self.format, 8).layers(3),
            Shape::D2 => ImageDesc::d2(self.format, 8, 8),
            Shape::D2Array => ImageDesc::d2(self.format, 8, 8).layers(3),
            Shape::D3 => ImageDesc::d3(self.format, 8, 8, 4),
            Shape::Cube => ImageDesc::cube(self.format, 8),
            Shape::CubeArray => ImageDesc::cube(self.format, 8).layers(12),
        }
        .levels(self.levels);
        desc.tiling = self.tiling();
        desc
    }

    /// Makes the image with its pattern.
    pub fn image<'c>(&self, context: &'c Context) -> Result<Image<'c>, Skip> {
        if self.shape == Shape::CubeArray {
            skip_if(context.missing(&[Capability::ImageCubeArray]))?;
        }
        Image::filled(context, &self.image_desc(), |aspect, level, layer, at| {
            pattern(texel::numeric_kind(self.format, aspect), level, layer, at)
        })
        .map_err(Skip)
    }

    /// Describes the view.
    pub fn view_desc(&self) -> ViewDesc {
        ViewDesc { aspect: self.aspect, components: self.components, ..ViewDesc::default() }
    }

    /// Makes the view.
    pub fn view<'c>(&self, image: &Image<'c>) -> View<'c> {
        image.view(&self.view_desc())
    }

    /// Makes the image and the view.
    pub fn shown<'c>(&self, context: &'c Context) -> Result<(Image<'c>, View<'c>), Skip> {
        let image = self.image(context)?;
        let view = self.view(&image);
        Ok((image, view))
    }

    /// Points inside and outside of the image, none of them on the edge between two texels or halfway between two levels.
    ///
    /// `unnormalized`: coordinates in texels, and level 0 only.
    pub fn points(&self, unnormalized: bool) -> Vec<SamplePoint> {
        let scale = if unnormalized { 8.0 } else { 1.0 };
        let lods: &[f32] = if unnormalized { &[0.0] } else { &[0.0, 0.3, 0.7, 1.2, 4.0] };
        let places: [f32; 7] = [-0.43, -0.07, 0.03, 0.29, 0.57, 0.92, 1.36];
        let mut points = Vec::new();
        for lod in lods {
            for (row, y) in places.iter().enumerate() {
                for x in places {
                    let z = match self.shape {
                        // The layer, also ones that do not exist.
                        Shape::D2Array => row as f32 * 0.6 - 0.7,
                        _ => places[(row + 2) % 7],
                    };
                    let [x, y, z] = if matches!(self.shape, Shape::Cube | Shape::CubeArray) {
                        [x - 0.5, y - 0.5, z - 0.5]
                    } else if self.shape == Shape::D2Array {
                        [x * scale, y * scale, z]
                    } else if self.shape == Shape::D1Array {
                        [x * scale, row as f32 * 0.6 - 0.7, 0.0]
                    } else {
                        [x * scale, y * scale, z * scale]
                    };
                    let mut point = SamplePoint::at(x, y, z).lod(*lod).reference(0.41);
                    if self.shape == Shape::CubeArray {
                        point.coord[3] = (row % 2) as f32;
                    }
                    points.push(point);
                }
            }
        }
        points
    }
}

impl Scene {
    /// Whether two results of sampling agree within `tolerance`: of depth and stencil by the only component that is defined.
    pub fn is_same(&self, got: Value, wanted: Value, tolerance: f64) -> bool {
        match self.aspect {
            vk::ImageAspectFlags::COLOR => got.is_near(wanted, tolerance),
            _ => (got.components()[0] - wanted.components()[0]).abs() <= tolerance,
        }
    }

    /// What drivers may round of a result by this sampler: weights have as few as four bits for the mip fraction, and texels of the
    /// [`pattern`] differ by 1 / 15 at least. Of texels with the sRGB curve half a step of what is stored.
    pub fn tolerance(&self, sampler: &SamplerDesc) -> f64 {
        let smooth = sampler.mag_filter == vk::Filter::LINEAR
            || sampler.min_filter == vk::Filter::LINEAR
            || sampler.mipmap_mode == vk::SamplerMipmapMode::LINEAR;
        match () {
            () if smooth => 0.02,
            () if format!("{:?}", self.format).contains("SRGB") => 0.005,
            () => 1e-4,
        }
    }
}

/// One texel: neighbours in every direction, layers and levels differ by much.
pub fn pattern(kind: texel::NumericKind, level: u32, layer: u32, [x, y, z]: [u32; 3]) -> Value {
    let step = |salt: u32| (x * 5 + y * 3 + z * 7 + layer * 2 + level * 6 + salt) % 16;
    match kind {
        texel::NumericKind::Float => Value::Float([1, 4, 9, 2].map(|salt| step(salt) as f32 / 15.0)),
        texel::NumericKind::Int => Value::Int([1, 4, 9, 2].map(|salt| step(salt).cast_signed() * 8 - 60)),
        texel::NumericKind::Uint => Value::Uint([1, 4, 9, 2].map(|salt| step(salt) * 12 + 3)),
    }
}

/// The first place where two results differ by more than `tolerance`. Depth and stencil define their first component only.
pub fn first_difference(got: &[Value], wanted: &[Value], scene: &Scene, tolerance: f64) -> Option<usize> {
    assert_eq!(got.len(), wanted.len());
    std::iter::zip(got, wanted).position(|(got, wanted)| !scene.is_same(*got, *wanted, tolerance))
}
