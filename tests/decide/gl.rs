//! GL address modes, the layer's own extension.

use crate::setting::*;

pub(crate) const ROWS: &[Row] = rows! { t:
    "S-4" None =>
        "GL_CLAMP with LINEAR on a view blends with the border"
            { t.caps.gl_address_modes = true; t.filters(LINEAR);
              t.s.address_mode = [decide::GL_CLAMP, Mode::REPEAT, Mode::REPEAT]; t.sees(F::R8_UNORM, FILTERS); }
            => ["S-4 addressModeU 10496 -> CLAMP_TO_BORDER"]
            but { t.s.address_mode[0] = Mode::CLAMP_TO_BORDER; }
        "GL_CLAMP on a view that cannot filter reads edge texels"
            { t.caps.gl_address_modes = true; t.filters(LINEAR); t.s.address_mode[0] = decide::GL_CLAMP;
              t.sees(F::R32_SFLOAT, NONE); }
            => ["B-1 magFilter LINEAR -> NEAREST", "B-1 minFilter LINEAR -> NEAREST",
                "S-4 addressModeU 10496 -> CLAMP_TO_EDGE"]
            but { t.filters(NEAREST); t.s.address_mode[0] = Mode::CLAMP_TO_EDGE; }
        "gl_clamp_rule=min: the minification filter alone decides"
            { t.caps.gl_address_modes = true; t.policy.gl_clamp_min = true; t.s.min_filter = LINEAR;
              t.s.address_mode[1] = decide::GL_CLAMP; t.sees(F::R8_UNORM, FILTERS); }
            => ["S-4 addressModeV 10496 -> CLAMP_TO_BORDER"]
            but { t.s.address_mode[1] = Mode::REPEAT; }
        "one LINEAR filter is enough for the border where shaders saturate: they keep the other one within the edge"
            { t.caps.gl_address_modes = true; t.policy.saturates = true; t.s.mag_filter = LINEAR;
              t.s.address_mode = [decide::GL_CLAMP, decide::GL_MIRROR_CLAMP, Mode::REPEAT];
              t.sees(F::R8_UNORM, FILTERS); }
            => ["S-4 addressModeU 10496 -> CLAMP_TO_BORDER", "S-4 addressModeV 34626 -> CLAMP_TO_BORDER"]
            but { t.s.address_mode = [Mode::CLAMP_TO_BORDER, Mode::CLAMP_TO_BORDER, Mode::REPEAT]; }
        "the same without such shaders, by gl_clamp_rule=both"
            { t.caps.gl_address_modes = true; t.s.mag_filter = LINEAR; t.s.address_mode[0] = decide::GL_CLAMP;
              t.sees(F::R8_UNORM, FILTERS); }
            => ["S-4 addressModeU 10496 -> CLAMP_TO_EDGE"]
            but { t.s.address_mode[0] = Mode::CLAMP_TO_EDGE; }
        "GL_MIRROR_CLAMP at creation, on a device without MIRROR_CLAMP_TO_EDGE (A-21)"
            { t.caps.gl_address_modes = true; t.caps.sampler_mirror_clamp_to_edge = false;
              t.s.address_mode[2] = decide::GL_MIRROR_CLAMP; }
            => ["S-4 addressModeW 34626 -> MIRROR_CLAMP_TO_EDGE",
                "A-21 addressModeW MIRROR_CLAMP_TO_EDGE -> MIRRORED_REPEAT"]
            but { t.s.address_mode[2] = Mode::MIRRORED_REPEAT; }
        "GL_MIRROR_CLAMP on a view that filters, where shaders mirror, blends with the border"
            { t.caps.gl_address_modes = true; t.policy.saturates = true; t.filters(LINEAR);
              t.s.address_mode = [decide::GL_MIRROR_CLAMP, decide::GL_CLAMP, Mode::REPEAT];
              t.sees(F::R8_UNORM, FILTERS); }
            => ["S-4 addressModeU 34626 -> CLAMP_TO_BORDER", "S-4 addressModeV 10496 -> CLAMP_TO_BORDER"]
            but { t.s.address_mode = [Mode::CLAMP_TO_BORDER, Mode::CLAMP_TO_BORDER, Mode::REPEAT]; }
        "GL_MIRROR_CLAMP on the same view without such shaders keeps the mirroring"
            { t.caps.gl_address_modes = true; t.filters(LINEAR); t.s.address_mode[0] = decide::GL_MIRROR_CLAMP;
              t.sees(F::R8_UNORM, FILTERS); }
            => ["S-4 addressModeU 34626 -> MIRROR_CLAMP_TO_EDGE"]
            but { t.s.address_mode[0] = Mode::MIRROR_CLAMP_TO_EDGE; }
        "GL_CLAMP on a view that the shader filters blends with the border"
            { t.caps.gl_address_modes = true; t.policy.emulates = true; t.filters(LINEAR);
              t.s.address_mode[0] = decide::GL_CLAMP; t.sees(F::R32_SFLOAT, NONE); }
            => ["B-1 magFilter LINEAR -> NEAREST", "B-1 minFilter LINEAR -> NEAREST",
                "S-4 addressModeU 10496 -> CLAMP_TO_BORDER"]
            but { t.filters(NEAREST); t.s.address_mode[0] = Mode::CLAMP_TO_BORDER; };
};
