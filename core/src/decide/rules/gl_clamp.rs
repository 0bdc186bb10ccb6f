use alloc::{format, string::String};

use ash::vk;

use crate::decide::lost::Lost;
use crate::decide::{Catalog, Change, Context, Value};

rule! { ($)
    /// An address mode of OpenGL: GL_CLAMP or GL_MIRROR_CLAMP_EXT.
    ///
    /// ## The specification
    ///
    /// Not a rule of Vulkan's. OpenGL 2.1, 3.8.7: coordinates are clamped to [0, 1], so that LINEAR blends half of the border at
    ///   the edge.
    ///
    /// ## Who trips over it
    ///
    /// Translators of OpenGL, by `VK_SAMPLIN_gl_address_modes`, or a rule with `address_mode = "gl_clamp"`.
    ///
    /// ## What is lost
    ///
    /// Nothing where samplin rewrites the shader. Elsewhere the border blends over a whole texel instead of half of one.
    ///
    /// ## In the application
    ///
    /// Use CLAMP_TO_EDGE, or saturate the coordinate in the shader and use CLAMP_TO_BORDER.
    ///
    /// ## Settings
    ///
    /// - `gl_clamp_rule` says when the border is reached where shaders are not rewritten.
    /// - `shader_keys` says where rewritten shaders find what each descriptor asks for.
    gl_clamp GlClamp "gl-clamp" lost_by lost {
        GlClamp "S-4" Layer
            lost "half of the border's influence until the shader saturates coordinates", by blends;
        GlClampEdge "S-4" Layer
            lost "nothing but what gathers read: without LINEAR it is edge texels only", by stays_at_the_edge;
        GlMirrorClamp "S-4" Layer
            lost "the border", by mirrors;
    }
}

const BORDER: Value = Value::AddressMode(vk::SamplerAddressMode::CLAMP_TO_BORDER);

pub(super) fn blends(_: &Change, context: &Context<'_>) -> String {
    format!("the pair filters {}, so the border blends in", context.format())
}

pub(super) fn stays_at_the_edge(_: &Change, context: &Context<'_>) -> String {
    match context.view {
        Some(_) if context.linear[0] != context.linear[1] => {
            "gl_clamp_rule needs the other filter to be LINEAR too".into()
        }
        Some(_) => "the pair does not filter, so only edge texels are read".into(),
        None => "no view is known yet, and the edge is safe with every view".into(),
    }
}

pub(super) fn mirrors(change: &Change, context: &Context<'_>) -> String {
    match change.to == BORDER {
        true => format!("the pair filters {}, so the border blends in; the shader mirrors", context.format()),
        false => "Vulkan has no mirrored clamp to the border".into(),
    }
}

pub(super) fn lost(change: &Change, context: &Context<'_>) -> Option<Lost> {
    Some(Lost::but_for_some_shaders(match change.catalog {
        Catalog::GlClamp if context.saturates && context.trilinear => {
            "trilinear-offset: between two levels offsets are those of the nearer one; the exact border where no shader saturates"
        }
        Catalog::GlMirrorClamp if context.trilinear && change.to == BORDER => {
            "trilinear-offset: between two levels offsets are those of the nearer one, and beside the axis shows a bit of the \
             border; the mirrored half where no shader mirrors"
        }
        Catalog::GlClampEdge if context.view.is_none() => {
            return Some("nothing: each pair is decided by its view".into());
        }
        Catalog::GlClampEdge if context.linear.contains(&true) => {
            return Some("the border of the filter that is LINEAR".into());
        }
        Catalog::GlClamp if context.linear[0] != context.linear[1] => {
            "nothing where the shader saturates coordinates, edge texels of the filter that is NEAREST elsewhere"
        }
        Catalog::GlClamp if context.saturates => {
            "nothing where the shader saturates coordinates, half of the border's influence elsewhere"
        }
        Catalog::GlMirrorClamp if change.to == BORDER => {
            "nothing where the shader mirrors and saturates coordinates, the mirrored half elsewhere"
        }
        _ => return None,
    }))
}
