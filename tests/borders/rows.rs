//! The rows, and what they are written with.

use super::*;
use samplin_suite::case::rows::*;
use samplin_suite::rows;

/// Of no valid usage id, so that validation has nothing to say.
fn pair(
    name: impl Into<std::borrow::Cow<'static, str>>,
    scene: Scene,
    sampler: SamplerDesc,
    legal: SamplerDesc,
) -> Case {
    Case::pair(name, scene, sampler, legal, Oracle::Blind)
}

fn told_of(components: &str, srgb: bool) -> Json {
    serde_json::json!({"components": components, "srgb": srgb})
}

const NO_FROM_IMAGE: [Capability; 1] = [Capability::BorderColorSwizzleFromImage];
const NO_SWIZZLE: [Capability; 2] = [Capability::BorderColorSwizzle, Capability::BorderColorSwizzleFromImage];
pub(crate) const WITH_CUSTOM: [Capability; 1] = [Capability::CustomBorderColor];

pub(crate) fn all() -> Vec<Case> {
    let mut rows = Vec::new();
    rows.extend(predefined_kinds());
    rows.extend(custom_kinds());
    rows.extend(axes());
    rows.extend(unsupported());
    rows.extend(formats());
    rows.extend(swizzles());
    rows.extend(mappings());
    rows
}

/// B-50 and B-51 for predefined colours, with the right kind of each as its twin.
fn predefined_kinds() -> Vec<Case> {
    let twins = [
        ("transparent", B::INT_TRANSPARENT_BLACK, B::FLOAT_TRANSPARENT_BLACK),
        ("black", B::INT_OPAQUE_BLACK, B::FLOAT_OPAQUE_BLACK),
        ("white", B::INT_OPAQUE_WHITE, B::FLOAT_OPAQUE_WHITE),
    ];
    let floats = [
        ("unorm", Scene::colour(F::R8G8B8A8_UNORM)),
        ("snorm", Scene::colour(F::R8G8B8A8_SNORM)),
        ("srgb", Scene::colour(F::R8G8B8A8_SRGB)),
        ("sfloat", Scene::colour(F::R16G16B16A16_SFLOAT)),
        ("depth", Scene::depth(F::D32_SFLOAT)),
        ("depth-of-two", Scene::depth(F::D32_SFLOAT_S8_UINT)),
    ];
    let integers = [
        ("uint", Scene::colour(F::R8G8B8A8_UINT)),
        ("sint", Scene::colour(F::R32G32B32A32_SINT)),
        ("stencil", Scene::stencil(F::S8_UINT)),
        ("stencil-of-two", Scene::stencil(F::D32_SFLOAT_S8_UINT)),
    ];
    let mut rows = Vec::new();
    for (color, int, float) in twins {
        for (kind, scene) in floats {
            let changes = vec![colour(B50, int, float)];
            let row = pair(format!("kind/{kind}-int-{color}"), scene, border(int), border(float)).at_pair(changes);
            // Of a depth only the first component is looked at, which black leaves at 0 either way.
            let visible = color == "white" || (color == "black" && !kind.starts_with("depth"));
            rows.push(if visible { row.visible() } else { row });
            rows.push(Case::legal(format!("kind/{kind}-float-{color}"), scene, border(float)));
        }
        for (kind, scene) in integers {
            let changes = vec![colour(B51, float, int)];
            let row = pair(format!("kind/{kind}-float-{color}"), scene, border(float), border(int)).at_pair(changes);
            // Of a stencil value only the first component is looked at, which black leaves at 0 either way.
            let visible = color == "white" || (color == "black" && !kind.starts_with("stencil"));
            rows.push(if visible { row.visible() } else { row });
            rows.push(Case::legal(format!("kind/{kind}-int-{color}"), scene, border(int)));
        }
    }
    rows
}

/// B-50, B-51 and B-58 for custom colours.
fn custom_kinds() -> Vec<Case> {
    let undefined = F::UNDEFINED;
    let (int, float) = (B::INT_CUSTOM_EXT, B::FLOAT_CUSTOM_EXT);
    let (uint8, sint8) = (Scene::colour(F::R8G8B8A8_UINT), Scene::colour(F::R8G8B8A8_SINT));
    let (unorm, sfloat) = (Scene::colour(F::R8G8B8A8_UNORM), Scene::colour(F::R16G16B16A16_SFLOAT));
    let stencil = Scene::stencil(F::S8_UINT);
    let rows = rows! {
        pair("custom/float-on-uint-rounds-and-clamps", uint8, custom_float([2.5, -3.0, 300.0, 7.25], undefined),
            custom_uint([3, 0, 255, 7], undefined))
            .at_pair([colour(B51, float, int), value(B51, vec![2.5, -3.0, 300.0, 7.25], vec![3, 0, 255, 7])]).visible(),
        pair("custom/float-on-sint-rounds-and-clamps", sint8, custom_float([-200.0, 127.6, 0.4, -1.5], undefined),
            custom_int([-128, 127, 0, -2], undefined))
            .at_pair([colour(B51, float, int),
                value(B51, vec![-200.0, 127.6, 0.4, -1.5],
                vec![(-128_i32).cast_unsigned(), 127, 0, (-2_i32).cast_unsigned()])])
            .visible(),
        pair("custom/int-on-unorm-converts-and-clamps", unorm, custom_int([1, 0, 7, -1], undefined),
            custom_float([1.0, 0.0, 1.0, 0.0], undefined))
            .at_pair([colour(B50, int, float),
                value(B50, vec![1, 0, 7, (-1_i32).cast_unsigned()], vec![1.0, 0.0, 1.0, 0.0])])
            .visible(),
        pair("custom/int-on-sfloat-converts", sfloat, custom_int([3, 0, 7, -1], undefined),
            custom_float([3.0, 0.0, 7.0, -1.0], undefined))
            .at_pair([colour(B50, int, float),
                value(B50, vec![3, 0, 7, (-1_i32).cast_unsigned()], vec![3.0, 0.0, 7.0, -1.0])])
            .visible(),
        pair("custom/float-on-stencil-in-red-and-green", stencil, custom_float([7.0, 9.0, 0.0, 0.0], undefined),
            custom_uint([7, 7, 0, 0], undefined))
            .at_pair([colour(B51, float, int), value(B51, vec![7.0, 9.0, 0.0, 0.0], vec![7, 7, 0, 0])]).visible(),
        // Which of the two is read depends on the implementation, and that is legal.
        Case::legal("custom/int-on-stencil-in-red-and-green", stencil, custom_uint([7, 9, 0, 0], undefined)),
        pair("custom/stencil-has-eight-bits", stencil, custom_uint([300, 300, 0, 0], undefined),
            custom_uint([255, 255, 0, 0], undefined))
            .at_pair([value(B58, vec![300, 300, 0, 0], vec![255, 255, 0, 0])]),
        Case::legal("custom/int-on-stencil", stencil, custom_uint([7, 7, 0, 0], undefined)),
        pair("custom/value-beyond-unorm", unorm, custom_float([2.0, -1.0, 0.5, 1.0], undefined),
            custom_float([1.0, 0.0, 0.5, 1.0], undefined))
            .at_pair([value(B58, vec![2.0, -1.0, 0.5, 1.0], vec![1.0, 0.0, 0.5, 1.0])]),
        Case::legal("custom/value-within-sfloat", sfloat, custom_float([2.0, -1.0, 0.5, 1.0], undefined)),
        Case::legal("custom/float-on-unorm", unorm, custom_float([0.25, 0.5, 0.75, 1.0], undefined)),
        Case::legal("custom/uint-on-uint", uint8, custom_uint([3, 0, 255, 7], undefined)),
        Case::legal("custom/int-on-sint", sint8, custom_int([-128, 127, 0, -2], undefined)),
        // A custom colour that the device can hold stays custom, even where a predefined one has its value.
        Case::legal("custom/white-stays-custom", unorm, custom_float([1.0; 4], undefined)),
    };
    rows.into_iter().map(|row| row.needs([Capability::CustomBorderColorWithoutFormat])).collect()
}

/// Only an axis that the view has counts, unless `border=strict`.
fn axes() -> Vec<Case> {
    let wrong =
        |u, v, w| SamplerDesc { address: [u, v, w], border_color: B::INT_OPAQUE_WHITE, ..SamplerDesc::nearest() };
    let right = |sampler: &SamplerDesc| SamplerDesc { border_color: B::FLOAT_OPAQUE_WHITE, ..sampler.clone() };
    let scene = Scene::colour(F::R8G8B8A8_UNORM);
    let (edge, to_border, repeat) = (M::CLAMP_TO_EDGE, M::CLAMP_TO_BORDER, M::REPEAT);
    let change = || vec![colour(B50, B::INT_OPAQUE_WHITE, B::FLOAT_OPAQUE_WHITE)];
    let mut rows = Vec::new();
    for (name, shape, reach) in [
        ("1d", Shape::D1, [true, false, false]),
        ("2d", Shape::D2, [true, true, false]),
        ("2d-array", Shape::D2Array, [true, true, false]),
        ("3d", Shape::D3, [true, true, true]),
    ] {
        let scene = if shape == Shape::D1 { scene.shape(shape).flat() } else { scene.shape(shape) };
        for (axis, (letter, reached)) in ["u", "v", "w"].into_iter().zip(reach).enumerate() {
            let mut modes = [repeat, edge, edge];
            modes[axis] = to_border;
            let sampler = wrong(modes[0], modes[1], modes[2]);
            let name = format!("axis/{name}-{letter}");
            rows.push(if reached {
                pair(name, scene, sampler.clone(), right(&sampler)).at_pair(change())
            } else {
                Case::legal(name, scene, sampler)
            });
        }
    }
    // Faces of a cube have no border, unless the sampler is not seamless.
    let (cube, needs) = (scene.shape(Shape::Cube), [Capability::NonSeamlessCubeMap]);
    let seams =
        |sampler: SamplerDesc| SamplerDesc { flags: vk::SamplerCreateFlags::NON_SEAMLESS_CUBE_MAP_EXT, ..sampler };
    let (all, deep, clamped) =
        (wrong(to_border, to_border, edge), wrong(edge, edge, to_border), wrong(edge, edge, edge));
    let (zero, uint, strict) = (nearest(), Scene::colour(F::R8G8B8A8_UINT), [("border", "strict")]);
    rows.extend(rows! {
        Case::legal("axis/seamless-cube", cube, all.clone()),
        pair("axis/non-seamless-cube", cube, seams(all.clone()), seams(right(&all))).at_pair(change()).needs(needs),
        Case::legal("axis/non-seamless-cube-w", cube, seams(deep)).needs(needs),
        // Literally, every border must be of the view's kind.
        Case::legal("axis/unreached", scene, clamped.clone()),
        pair("axis/unreached-strict", scene, clamped.clone(), right(&clamped)).at_pair(change()).settings(strict),
        Case::legal("axis/zero-filled-on-uint", uint, zero.clone()),
        pair("axis/zero-filled-on-uint-strict", uint, zero.clone(), zero)
            .at_pair([colour(B51, B::FLOAT_TRANSPARENT_BLACK, B::INT_TRANSPARENT_BLACK)]).settings(strict),
    });
    rows
}

/// custom colours that the device cannot hold as they are.
fn unsupported() -> Vec<Case> {
    let unorm = Scene::colour(F::R8G8B8A8_UNORM);
    let uint = Scene::colour(F::R8G8B8A8_UINT);
    let float = B::FLOAT_CUSTOM_EXT;
    let undefined = F::UNDEFINED;
    let no_custom = [Capability::CustomBorderColor];
    let no_formatless = [Capability::CustomBorderColorWithoutFormat];
    let mut rows = Vec::new();
    // Exactly a predefined colour: nothing is lost, so the validation layer alone would have complained for nothing.
    for (name, value, to) in [
        ("white", [1.0; 4], B::FLOAT_OPAQUE_WHITE),
        ("black", [0.0, 0.0, 0.0, 1.0], B::FLOAT_OPAQUE_BLACK),
        ("transparent", [0.0, -0.0, 0.0, 0.0], B::FLOAT_TRANSPARENT_BLACK),
        ("nearly-white", [0.9, 0.8, 0.9, 1.0], B::FLOAT_OPAQUE_WHITE),
        ("nearly-black", [0.1, 0.0, 0.3, 0.9], B::FLOAT_OPAQUE_BLACK),
        ("nearly-transparent", [0.1, 0.0, 0.3, 0.2], B::FLOAT_TRANSPARENT_BLACK),
    ] {
        for (kind, format) in [("", undefined), ("-with-format", F::R8G8B8A8_UNORM)] {
            rows.push(
                pair(format!("unsupported/custom-{name}{kind}"), unorm, custom_float(value, format), border(to))
                    .at_creation([colour(A30, float, to)])
                    .without(no_custom),
            );
        }
    }
    // Only red is seen, and red is 1: white, although the four components are nearest to nothing.
    let red = custom_float([1.0, 0.0, 0.0, 0.0], undefined);
    let (nothing, white) = (B::FLOAT_TRANSPARENT_BLACK, B::FLOAT_OPAQUE_WHITE);
    rows.extend(rows! {
        pair("unsupported/custom-red-on-red", Scene::colour(F::R8_UNORM), red.clone(), border(white))
            .at_pair([colour(A30, float, white)]).at_creation([colour(A30, float, nothing)]).without(no_custom),
        pair("unsupported/custom-red", unorm, red, border(nothing))
            .at_creation([colour(A30, float, nothing)]).without(no_custom),
        pair("unsupported/custom-int-white", uint, custom_int([1; 4], undefined), border(B::INT_OPAQUE_WHITE))
            .at_creation([colour(A30, B::INT_CUSTOM_EXT, B::INT_OPAQUE_WHITE)]).without(no_custom),
        // The structure is missing.
        pair("unsupported/no-structure", unorm, border(float), border(B::FLOAT_TRANSPARENT_BLACK))
            .at_creation([colour(A31, float, B::FLOAT_TRANSPARENT_BLACK)]).needs(WITH_CUSTOM),
    });
    // The format is missing: the view brings it.
    let some = [0.25, 0.5, 0.5, 1.0];
    rows.extend(rows! {
        pair("unsupported/format-from-view", unorm, custom_float(some, undefined),
            custom_float(some, F::R8G8B8A8_UNORM))
            .at_pair([format(A32, "UNDEFINED", "R8G8B8A8_UNORM")])
            .at_creation([colour(A32, float, B::FLOAT_OPAQUE_BLACK)]).without(no_formatless).needs(WITH_CUSTOM),
        pair("unsupported/formatless-white", unorm, custom_float([1.0; 4], undefined), border(B::FLOAT_OPAQUE_WHITE))
            .at_creation([colour(A32, float, B::FLOAT_OPAQUE_WHITE)]).without(no_formatless).needs(WITH_CUSTOM),
        Case::legal("unsupported/format-given", unorm, custom_float(some, F::R8G8B8A8_UNORM))
            .without(no_formatless).needs(WITH_CUSTOM),
        // The kind is not that of the format.
        pair("unsupported/float-with-uint-format", uint, custom_float([3.0, 0.0, 300.0, 1.0], F::R8G8B8A8_UINT),
            custom_uint([3, 0, 255, 1], F::R8G8B8A8_UINT))
            .at_creation([colour(A33, float, B::INT_CUSTOM_EXT),
                value(A33, vec![3.0, 0.0, 300.0, 1.0], vec![3, 0, 255, 1])])
            .needs(WITH_CUSTOM),
        // The format cannot hold the value.
        pair("unsupported/value-beyond-format", unorm, custom_float([2.0, -1.0, 0.5, 1.0], F::R8G8B8A8_UNORM),
            custom_float([1.0, 0.0, 0.5, 1.0], F::R8G8B8A8_UNORM))
            .at_creation([value(A34, vec![2.0, -1.0, 0.5, 1.0], vec![1.0, 0.0, 0.5, 1.0])]).needs(WITH_CUSTOM),
    });
    rows
}

/// B-56 and B-57: the format of a custom colour follows the view.
fn formats() -> Vec<Case> {
    let mut rows = Vec::new();
    let some = [0.0, 1.0, 1.0, 1.0];
    for (name, packed) in [
        ("B4G4R4A4_UNORM_PACK16", F::B4G4R4A4_UNORM_PACK16),
        ("B5G6R5_UNORM_PACK16", F::B5G6R5_UNORM_PACK16),
        ("B5G5R5A1_UNORM_PACK16", F::B5G5R5A1_UNORM_PACK16),
    ] {
        let scene = Scene::colour(packed);
        rows.push(
            pair(format!("format/{name}"), scene, custom_float(some, F::UNDEFINED), custom_float(some, packed))
                .at_pair([format(B56, "UNDEFINED", name)]),
        );
        rows.push(
            pair(
                format!("format/{name}-white"),
                scene,
                custom_float([1.0; 4], F::UNDEFINED),
                border(B::FLOAT_OPAQUE_WHITE),
            )
            .at_pair([colour(B56, B::FLOAT_CUSTOM_EXT, B::FLOAT_OPAQUE_WHITE)]),
        );
        rows.push(Case::legal(format!("format/{name}-given"), scene, custom_float(some, packed)));
    }
    let (unorm, half) = (Scene::colour(F::R8G8B8A8_UNORM), Scene::colour(F::R16G16B16A16_SFLOAT));
    let value = [0.25, 0.5, 0.75, 1.0];
    rows.extend(rows! {
        pair("format/other-than-view", half, custom_float(value, F::R8G8B8A8_UNORM),
            custom_float(value, F::R16G16B16A16_SFLOAT))
            .at_pair([format(B57, "R8G8B8A8_UNORM", "R16G16B16A16_SFLOAT")]),
        pair("format/other-and-narrower-than-view", unorm, custom_float([3.0, 0.5, -2.0, 1.0], F::R16G16B16A16_SFLOAT),
            custom_float([1.0, 0.5, 0.0, 1.0], F::R8G8B8A8_UNORM))
            .at_pair([format(B57, "R16G16B16A16_SFLOAT", "R8G8B8A8_UNORM"),
                samplin_suite::case::value(B58, vec![3.0, 0.5, -2.0, 1.0], vec![1.0, 0.5, 0.0, 1.0])]),
    });
    rows.into_iter().map(|row| row.needs([Capability::CustomBorderColorWithoutFormat])).collect()
}

/// B-52 and B-53: white, opaque black and a custom colour through swizzled and sRGB views, on devices that know the view's
/// swizzle by themselves, that can be told it, and that cannot.
fn swizzles() -> Vec<Case> {
    let custom = [0.25, 0.5, 1.0, 0.75];
    let views = [
        ("plain", vk::ComponentMapping::default(), false),
        ("bgra", BGRA, false),
        ("alpha-one", ALPHA_ONE, false),
        ("red-in-alpha", RED_IN_ALPHA, false),
        ("srgb", vk::ComponentMapping::default(), true),
        ("srgb-bgra", BGRA, true),
        ("srgb-alpha-one", ALPHA_ONE, true),
    ];
    let letters = |name: &str| match name.trim_start_matches("srgb-") {
        "bgra" => "bgra",
        "alpha-one" => "rgb1",
        "red-in-alpha" => "111r",
        _ => "rgba",
    };
    let mut rows = Vec::new();
    for (view, components, srgb) in views {
        let format = if srgb { F::R8G8B8A8_SRGB } else { F::R8G8B8A8_UNORM };
        let scene = Scene { components, ..Scene::colour(format) };
        let swizzled = letters(view) != "rgba";
        for color in ["white", "black", "grey", "blue", "custom"] {
            let sampler = match color {
                "white" => border(B::FLOAT_OPAQUE_WHITE),
                "black" => border(B::FLOAT_OPAQUE_BLACK),
                "grey" => custom_float([0.5, 0.5, 0.5, 1.0], F::UNDEFINED),
                "blue" => custom_float([0.0, 0.0, 1.0, 1.0], F::UNDEFINED),
                _ => custom_float(custom, F::UNDEFINED),
            };
            let given = sampler.border_color;
            let sensitive = swizzled && color != "white";
            let name = |device: &str| format!("swizzle/{view}-{color}-{device}");
            let needs = [Capability::CustomBorderColorWithoutFormat];
            let from_image = Case::legal(name("from-image"), scene, sampler.clone());
            rows.push(from_image.needs(needs).needs(NO_FROM_IMAGE));
            let (told, lost) = if sensitive {
                let catalog = if color == "black" { B52 } else { B53 };
                let told = vec![change(catalog, "components", "", told_of(letters(view), srgb))];
                let to = match (color, letters(view)) {
                    // With the mapping and without it they are the same.
                    ("black" | "grey", "bgra") | ("black" | "grey" | "blue", "rgb1") => None,
                    // Alpha is 0.5, as far from transparent black as from white, which is nearer to grey.
                    ("grey", "111r") => Some(B::FLOAT_OPAQUE_WHITE),
                    // (1, 1, 1, 0) is transparent black by this swizzle exactly, and (1, 1, 1, 0.25) is nearly it.
                    (_, "111r") => Some(B::FLOAT_TRANSPARENT_BLACK),
                    // (1, 0, 0, 1) is nearer to black, which the exchange leaves alone, than to (0, 0, 1, 1).
                    ("blue", _) => Some(B::FLOAT_OPAQUE_BLACK),
                    // (1, 0.5, 0.25, 0.75): 0.875 from white, 1.125 from (0.25, 0.5, 1, 0.75).
                    (_, "bgra") => Some(B::FLOAT_OPAQUE_WHITE),
                    // (0.25, 0.5, 1, 1) is next to (0.25, 0.5, 1, 0.75), so it is left to the driver; those here get it right.
                    _ => Some(given),
                };
                let lost = match to {
                    None => Case::legal(name("cannot"), scene, sampler.clone()),
                    Some(to) if to == given => {
                        Case { left: Some("border-swizzle"), ..Case::legal(name("cannot"), scene, sampler.clone()) }
                    }
                    Some(to) => {
                        pair(name("cannot"), scene, sampler.clone(), border(to)).at_pair([colour(catalog, given, to)])
                    }
                };
                (pair(name("told"), scene, sampler.clone(), sampler).at_pair(told), lost)
            } else {
                let untouched = |device| Case::legal(name(device), scene, sampler.clone());
                (untouched("told"), untouched("cannot"))
            };
            rows.push(told.without(NO_FROM_IMAGE).needs(needs).needs([Capability::BorderColorSwizzle]));
            rows.push(lost.without(NO_SWIZZLE).needs(needs));
        }
    }
    rows.extend(without_swizzle());
    rows
}

/// Views without a mapping, whatever the order of their components in memory: nothing is to be told, and nothing changes on
/// devices that cannot be.
fn without_swizzle() -> Vec<Case> {
    let mut rows = Vec::new();
    for (name, format) in [
        ("B8G8R8A8_UNORM", F::B8G8R8A8_UNORM),
        ("B8G8R8A8_SRGB", F::B8G8R8A8_SRGB),
        ("B4G4R4A4_UNORM_PACK16", F::B4G4R4A4_UNORM_PACK16),
        ("B5G5R5A1_UNORM_PACK16", F::B5G5R5A1_UNORM_PACK16),
        ("A1R5G5B5_UNORM_PACK16", F::A1R5G5B5_UNORM_PACK16),
        ("B5G6R5_UNORM_PACK16", F::B5G6R5_UNORM_PACK16),
    ] {
        for (color, sampler) in [
            ("black", border(B::FLOAT_OPAQUE_BLACK)),
            ("cyan", custom_float([0.0, 1.0, 1.0, 1.0], format)),
            ("opaque-black", custom_float([0.0, 0.0, 0.0, 1.0], format)),
        ] {
            let row = Case::legal(format!("identity/{name}-{color}"), Scene::colour(format), sampler);
            rows.push(row.without(NO_SWIZZLE).needs(WITH_CUSTOM));
        }
    }
    rows
}

/// B-54, B-55 and A-36: a mapping that the application chained itself.
fn mappings() -> Vec<Case> {
    let unorm = Scene { components: BGRA, ..Scene::colour(F::R8G8B8A8_UNORM) };
    let srgb = Scene { components: BGRA, ..Scene::colour(F::R8G8B8A8_SRGB) };
    let with = |components, srgb| SamplerDesc {
        border_mapping: Some((components, srgb)),
        ..custom_float([0.25, 0.5, 1.0, 0.75], F::UNDEFINED)
    };
    let named = vk::ComponentMapping { r: C::R, g: C::G, b: C::B, a: C::A };
    let (plain, bgra) = (with(named, false), with(BGRA, false));
    let rows = rows! {
        Case::legal("mapping/of-the-view", unorm, bgra.clone()),
        pair("mapping/of-another", unorm, plain.clone(), bgra.clone())
            .at_pair([change(B54, "components", told_of("rgba", false), told_of("bgra", false))]),
        pair("mapping/not-srgb", srgb, bgra.clone(), with(BGRA, true))
            .at_pair([change(B55, "components", told_of("bgra", false), told_of("bgra", true))]),
        Case::legal("mapping/srgb", srgb, with(BGRA, true)),
        Case::legal("mapping/identity-by-name", Scene::colour(F::R8G8B8A8_UNORM), plain),
        pair("mapping/without-feature", unorm, bgra.clone(), border(B::FLOAT_OPAQUE_WHITE))
            .at_pair([colour(B53, B::FLOAT_CUSTOM_EXT, B::FLOAT_OPAQUE_WHITE)])
            .at_creation([change(A36, "components", "present", "")]).without(NO_SWIZZLE),
    };
    let needs = |row: Case| {
        let row = row.needs([Capability::CustomBorderColorWithoutFormat]);
        if row.name == "mapping/without-feature" { row } else { row.needs([Capability::BorderColorSwizzle]) }
    };
    rows.into_iter().map(needs).collect()
}
