//! What a sampling program is asked: the shape and kind of a lookup, how it reaches its pair, and where it looks.

use crate::texel::NumericKind;
use ash::vk;

/// Dimensionality of the sampled image in the shader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    /// `sampler1D`.
    D1,
    /// `sampler1DArray`.
    D1Array,
    /// `sampler2D`.
    D2,
    /// `sampler2DArray`.
    D2Array,
    /// `sampler3D`.
    D3,
    /// `samplerCube`.
    Cube,
    /// `samplerCubeArray`; needs `imageCubeArray`.
    CubeArray,
}

impl Shape {
    /// The shape a view of this type is sampled as.
    pub fn of(view_type: vk::ImageViewType) -> Self {
        match view_type {
            vk::ImageViewType::TYPE_1D => Self::D1,
            vk::ImageViewType::TYPE_1D_ARRAY => Self::D1Array,
            vk::ImageViewType::TYPE_2D_ARRAY => Self::D2Array,
            vk::ImageViewType::TYPE_3D => Self::D3,
            vk::ImageViewType::CUBE => Self::Cube,
            vk::ImageViewType::CUBE_ARRAY => Self::CubeArray,
            _ => Self::D2,
        }
    }

    /// The view type of this shape.
    pub fn view_type(self) -> vk::ImageViewType {
        match self {
            Self::D1 => vk::ImageViewType::TYPE_1D,
            Self::D1Array => vk::ImageViewType::TYPE_1D_ARRAY,
            Self::D2 => vk::ImageViewType::TYPE_2D,
            Self::D2Array => vk::ImageViewType::TYPE_2D_ARRAY,
            Self::D3 => vk::ImageViewType::TYPE_3D,
            Self::Cube => vk::ImageViewType::CUBE,
            Self::CubeArray => vk::ImageViewType::CUBE_ARRAY,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::D1 => "1d",
            Self::D1Array => "1d_array",
            Self::D2 => "2d",
            Self::D2Array => "2d_array",
            Self::D3 => "3d",
            Self::Cube => "cube",
            Self::CubeArray => "cube_array",
        }
    }
}

/// What a lookup returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ResultKind {
    /// Four floats.
    Float,
    /// Four signed integers.
    Int,
    /// Four unsigned integers.
    Uint,
    /// A depth comparison, replicated to four floats.
    Shadow,
}

impl ResultKind {
    /// Kind of the values that come back.
    pub fn numeric(self) -> NumericKind {
        match self {
            Self::Float | Self::Shadow => NumericKind::Float,
            Self::Int => NumericKind::Int,
            Self::Uint => NumericKind::Uint,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Float => "float",
            Self::Int => "int",
            Self::Uint => "uint",
            Self::Shadow => "shadow",
        }
    }
}

impl From<NumericKind> for ResultKind {
    fn from(kind: NumericKind) -> Self {
        match kind {
            NumericKind::Float => Self::Float,
            NumericKind::Int => Self::Int,
            NumericKind::Uint => Self::Uint,
        }
    }
}

/// How the shader declares the pair in set 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// One combined image sampler at `binding`.
    Single {
        /// Binding number.
        binding: u32,
    },
    /// Element `element` of an array of `count` combined image samplers at `binding`.
    Array {
        /// Binding number.
        binding: u32,
        /// Array size in the shader.
        count: u32,
        /// Constant index.
        element: u32,
    },
    /// A sampled image and a sampler, combined in the shader.
    Separate {
        /// Binding of the image.
        image: u32,
        /// Binding of the sampler.
        sampler: u32,
    },
}

/// The instruction a probe executes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// `textureLod`; for shadow lookups of 2D arrays by gradients, of cubes and their arrays at the base level only.
    Sample,
    /// `texelFetch` through a combined image sampler; coordinates and LOD are integers. Single access, no cubes.
    Fetch,
    /// `textureGather` of the first component, or of comparisons; the LOD is ignored. Single and separate access; 2D, cubes and arrays of them.
    Gather,
    /// `textureLodOffset` by [`OFFSET`]; 2D floats.
    Offset,
    /// `textureGatherOffset` by [`OFFSET`]; 2D floats.
    GatherOffset,
}

impl Op {
    /// What its shaders are called.
    pub fn stage(self) -> &'static str {
        match self {
            Self::Sample => "sample",
            Self::Fetch => "fetch",
            Self::Gather => "gather",
            Self::Offset => "offset",
            Self::GatherOffset => "gather_offset",
        }
    }
}

/// The offset, in texels, of lookups that have one.
pub const OFFSET: [f32; 2] = [2.0, -3.0];

/// One lookup.
///
/// `coord`: normalised (in texels for an unnormalized sampler or [`Op::Fetch`]); array shapes take the layer in the
/// component after the coordinates, cubes a direction in xyz and the cube index in w.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SamplePoint {
    /// Coordinate.
    pub coord: [f32; 4],
    /// Explicit LOD in mip levels.
    pub lod: f32,
    /// Reference value of a shadow lookup.
    pub reference: f32,
}

impl SamplePoint {
    /// A point at level 0.
    pub fn at(x: f32, y: f32, z: f32) -> Self {
        Self { coord: [x, y, z, 0.0], lod: 0.0, reference: 0.0 }
    }

    /// Sets the LOD.
    pub fn lod(mut self, lod: f32) -> Self {
        self.lod = lod;
        self
    }

    /// Sets the depth reference.
    pub fn reference(mut self, reference: f32) -> Self {
        self.reference = reference;
        self
    }

    /// How far a direction of a cube is from the middle of its face: 1 at the edges.
    pub fn from_middle(&self) -> f32 {
        let mut sizes = [0, 1, 2].map(|axis: usize| self.coord[axis].abs());
        sizes.sort_by(f32::total_cmp);
        // What is next to nothing is no direction.
        if sizes[2] < 1e-3 { 1.0 } else { sizes[1] / sizes[2] }
    }

    pub(crate) fn bytes(&self) -> [u8; 32] {
        let mut bytes = [0; 32];
        let words = self.coord.into_iter().chain([self.lod, self.reference]);
        for (slot, word) in bytes.chunks_exact_mut(4).zip(words) {
            slot.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }
}

/// The coordinates of `columns` × `rows` pixel centres that cover [`low`, `high`) in x and y, row by row from the top.
pub fn grid(columns: u32, rows: u32, low: [f32; 2], high: [f32; 2]) -> Vec<SamplePoint> {
    let place = |index: u32, count: u32, axis: usize| {
        low[axis] + (high[axis] - low[axis]) * (index as f32 + 0.5) / count as f32
    };
    (0..rows)
        .flat_map(|y| (0..columns).map(move |x| SamplePoint::at(place(x, columns, 0), place(y, rows, 1), 0.0)))
        .collect()
}
