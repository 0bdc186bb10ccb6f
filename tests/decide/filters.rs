//! Catalogue A.1: filters, LOD, anisotropy.

use crate::setting::*;

pub(crate) const ROWS: &[Row] = rows! { t:
    "A-1" Some("VUID-VkSamplerCreateInfo-magFilter-parameter") =>
        "CUBIC without an extension that has it"
            { t.s.mag_filter = CUBIC; t.caps.filter_cubic_img = false; t.caps.filter_cubic_ext = false; }
            => ["A-1 magFilter CUBIC_EXT -> LINEAR"]
            but { t.caps.filter_cubic_img = true; };
    "A-1" Some("VUID-VkSamplerCreateInfo-minFilter-parameter") =>
        "a minification filter that is none"
            { t.s.min_filter = vk::Filter::from_raw(77); }
            => ["A-1 minFilter 77 -> NEAREST"]
            but { t.s.min_filter = LINEAR; };
    "A-1" Some("VUID-VkSamplerCreateInfo-mipmapMode-parameter") =>
        "a mipmap mode that is none"
            { t.s.mipmap_mode = vk::SamplerMipmapMode::from_raw(2); }
            => ["A-1 mipmapMode 2 -> NEAREST"]
            but { t.s.mipmap_mode = MIP_LINEAR; };
    "A-2" Some("VUID-VkSamplerCreateInfo-mipLodBias-01069") =>
        "bias above the limit"
            { t.s.mip_lod_bias = 15.5; }
            => ["A-2 mipLodBias 15.5 -> 15"]
            but { t.s.mip_lod_bias = 15.0; }
        "bias below the negative limit, where the validation layer looks away"
            { t.s.mip_lod_bias = f32::NEG_INFINITY; }
            => ["A-2 mipLodBias -inf -> -15"]
            but { t.s.mip_lod_bias = -15.0; }
        "bias is not a number"
            { t.s.mip_lod_bias = f32::NAN; }
            => ["A-2 mipLodBias NaN -> 0"]
            but { t.s.mip_lod_bias = -0.0; };
    "A-3" Some("VUID-VkSamplerCreateInfo-samplerMipLodBias-04467") =>
        "any bias on a portability device without the feature"
            { t.s.mip_lod_bias = 0.5; t.caps.sampler_mip_lod_bias = false; }
            => ["A-3 mipLodBias 0.5 -> 0"]
            but { t.s.mip_lod_bias = 0.0; };
    "A-4" Some("VUID-VkSamplerCreateInfo-maxLod-01973") =>
        "the range is upside down"
            { (t.s.min_lod, t.s.max_lod) = (4.0, 1.0); }
            => ["A-4 minLod 4 -> 1", "A-4 maxLod 1 -> 4"]
            but { t.s.max_lod = 4.0; }
        "ends that are not numbers"
            { (t.s.min_lod, t.s.max_lod) = (f32::NAN, f32::NAN); }
            => ["A-4 minLod NaN -> 0", "A-4 maxLod NaN -> 1000"]
            // negative values are legal, and 0.25 is the OpenGL idiom for "no mipmap", never to be rounded.
            but { (t.s.min_lod, t.s.max_lod) = (-1e9, 0.25); };
    "A-5" Some("VUID-VkSamplerCreateInfo-anisotropyEnable-01070") =>
        "anisotropy without the feature"
            { t.anisotropic(4.0); t.caps.sampler_anisotropy = false; }
            => ["A-5 anisotropyEnable true -> false"]
            but { (t.s.anisotropy_enable, t.s.max_anisotropy) = (false, 999.0); };
    "A-6" Some("VUID-VkSamplerCreateInfo-anisotropyEnable-01071") =>
        "more anisotropy than the limit"
            { (t.s.anisotropy_enable, t.s.max_anisotropy) = (true, f32::INFINITY); }
            => ["A-6 maxAnisotropy inf -> 16"]
            but { t.s.max_anisotropy = 16.0; }
        "less anisotropy than 1"
            { t.anisotropic(0.0); }
            => ["A-6 anisotropyEnable true -> false"]
            but { t.s.max_anisotropy = 1.0; }
        "anisotropy is not a number"
            { (t.s.anisotropy_enable, t.s.max_anisotropy) = (true, f32::NAN); }
            => ["A-6 anisotropyEnable true -> false"]
            but { t.s.anisotropy_enable = false; };
    "A-7" Some("VUID-VkSamplerCreateInfo-magFilter-01081") =>
        "CUBIC with anisotropy; CUBIC wins"
            { t.s.min_filter = CUBIC; t.anisotropic(4.0); }
            => ["A-7 anisotropyEnable true -> false"]
            but { t.s.min_filter = LINEAR; };
    "S-6" None =>
        "anisotropy on NEAREST filters, with aniso_nearest=off"
            { t.anisotropic(16.0); t.s.mipmap_mode = MIP_LINEAR; t.policy.flat_nearest = true; }
            => ["S-6 anisotropyEnable true -> false"]
            but { t.policy.flat_nearest = false; }
        "a degree of 1 is no exception"
            { t.anisotropic(1.0); t.caps.max_sampler_anisotropy = 1.0; t.policy.flat_nearest = true; }
            => ["S-6 anisotropyEnable true -> false"]
            but { t.s.min_filter = LINEAR; }
        "with a view that asks for nothing"
            { t.anisotropic(99.0); t.policy.flat_nearest = true; t.sees(F::R8_UNORM, FILTERS); }
            => ["S-6 anisotropyEnable true -> false"]
            but { (t.s.mag_filter, t.s.max_anisotropy) = (LINEAR, 16.0); };
};
