//! Border colours through every mapping: what a shader sees of them is never further from what was asked for than it would be
//! without the layer, whatever the driver makes of what the specification leaves open.

use samplin_checker::{border_texels, formats, representable};

use crate::setting::*;

const ONE: u32 = 0x3f80_0000;
const HALF: u32 = 0x3f00_0000;
const QUARTER: u32 = 0x3e80_0000;

/// Colours of one kind that nearly every format can hold: the predefined ones, greys, and some that an exchange changes.
fn colors(int: bool) -> Vec<(vk::BorderColor, Option<[u32; 4]>)> {
    use vk::BorderColor as B;
    let (predefined, custom, words) = if int {
        let words: &[[u32; 4]] =
            &[[1, 1, 1, 0], [1, 0, 0, 0], [0, 1, 0, 1], [0, 0, 0, 1], [3, 3, 3, 3], [7, 7, 9, 1], [200, 3, 0, 1]];
        ([B::INT_TRANSPARENT_BLACK, B::INT_OPAQUE_BLACK, B::INT_OPAQUE_WHITE], B::INT_CUSTOM_EXT, words)
    } else {
        let words: &[[u32; 4]] = &[
            [HALF, HALF, HALF, ONE],
            [ONE, 0, 0, 0],
            [0, HALF, 0, ONE],
            [0, 0, 0, ONE],
            [QUARTER; 4],
            [HALF, HALF, QUARTER, ONE],
            [ONE, QUARTER, 0, HALF],
        ];
        ([B::FLOAT_TRANSPARENT_BLACK, B::FLOAT_OPAQUE_BLACK, B::FLOAT_OPAQUE_WHITE], B::FLOAT_CUSTOM_EXT, words)
    };
    let custom = words.iter().map(|words| (custom, Some(*words)));
    predefined.into_iter().map(|color| (color, None)).chain(custom).collect()
}

/// Every mapping, in the form that views are kept in.
fn mappings() -> impl Iterator<Item = [Swizzle; 4]> {
    let all = [Swizzle::ZERO, Swizzle::ONE, Swizzle::R, Swizzle::G, Swizzle::B, Swizzle::A];
    (0..6_usize.pow(4)).map(move |number| {
        let [r, g, b, a] = [1, 6, 36, 216].map(|weight| all[number / weight % 6]);
        normalize_components(vk::ComponentMapping { r, g, b, a })
    })
}

fn apart(one: [f64; 4], other: [f64; 4]) -> f64 {
    (0..4).map(|at| (one[at] - other[at]).powi(2)).sum()
}

/// What may be seen of the border: one colour where the specification says which, else either of two.
fn may_be_seen(t: &Setting, state: &SamplerState) -> [[f64; 4]; 2] {
    use vk::BorderColor as B;
    let view = t.view.as_ref().expect("a view");
    let [mapped, plain] = border_texels(state, view);
    let open = decide::is_custom(state.border_color)
        || [B::FLOAT_OPAQUE_BLACK, B::INT_OPAQUE_BLACK].contains(&state.border_color);
    let follows = state.border_mapping.is_some() || t.caps.border_color_swizzle_from_image;
    if open && !follows { [mapped, plain] } else { [mapped; 2] }
}

/// The furthest that what may be seen is from what was asked for.
fn furthest(asked: [f64; 4], seen: [[f64; 4]; 2]) -> f64 {
    apart(asked, seen[0]).max(apart(asked, seen[1]))
}

/// Judges one colour through the view of `t`; says whether it was changed, and whether it was left to the driver.
fn judge(t: &mut Setting, color: vk::BorderColor, custom: Option<CustomBorder>) -> [bool; 2] {
    let view = t.view.expect("a view");
    t.border(color);
    t.s.custom_border = custom;
    let what = || format!("{color:?} {custom:?} on {:?} {:?} {:?}", view.format, view.components, t.caps);
    let asked = border_texels(&t.s, &view)[0];
    let without = may_be_seen(t, &t.s);
    let decision = t.decide();
    let with = may_be_seen(t, &decision.state);
    let supported = custom.is_none() || t.caps.custom_border_colors;
    let told = t.caps.border_color_swizzle || t.caps.border_color_swizzle_from_image;
    let plain = view.components == [Swizzle::IDENTITY; 4];
    let strict = t.policy.strict_border;
    // The format that some views need is given, or a predefined colour taken that shows the same.
    let lacks_format = t.violations().contains(&"B-56");
    if supported && !strict {
        let (now, before) = (furthest(asked, with), furthest(asked, without));
        assert!(now <= before, "{}: {now} instead of {before}", what());
        // A device that can be told is, for the letter of the specification, and shows what was asked for.
        let untouched = decision.changes.is_empty() && decision.unresolved.is_none();
        assert!(before > 0.0 || untouched || (told && now == 0.0) || lacks_format, "{} was fine", what());
        assert!(before == 0.0 || !untouched, "{} goes unmentioned", what());
    }
    assert!(!told || !supported || furthest(asked, with) == 0.0, "{}: not as the device could", what());
    assert!(!plain || !supported || lacks_format || decision.changes.is_empty(), "{}: nothing is swizzled", what());
    if !decide::is_custom(decision.state.border_color) && decision.state.border_color != color {
        // No predefined colour of the same kind that is certain would have been nearer.
        assert_eq!(with[0], with[1], "{} may be seen as {with:?}", what());
        for (other, _) in colors(view.is_integer()).into_iter().take(3) {
            let mut state = decision.state;
            state.border_color = other;
            let seen = may_be_seen(t, &state);
            let certain = seen[0] == seen[1] && (seen[0] == border_texels(&state, &view)[1] || !strict);
            let black = [vk::BorderColor::FLOAT_OPAQUE_BLACK, vk::BorderColor::INT_OPAQUE_BLACK].contains(&other);
            let forbidden = black && strict && !plain && !told;
            assert!(
                !certain || forbidden || apart(asked, seen[0]) >= apart(asked, with[0]),
                "{}: {other:?} is nearer",
                what()
            );
        }
    }
    let again = decide::pair(&decision.state, &view, &t.caps, &t.policy);
    assert!(again.changes.is_empty() && again.unresolved == decision.unresolved, "{}: {:?}", what(), again.changes);
    [!decision.changes.is_empty(), decision.unresolved.is_some()]
}

/// Custom colours, telling of mappings, knowing them, and strictness, each on and off.
fn devices() -> impl Iterator<Item = Setting> {
    (0..16_u32).filter_map(|bits| {
        let [custom, told, follows, strict] = [1, 2, 4, 8].map(|bit| bits & bit != 0);
        let mut t = Setting::new();
        t.caps.custom_border_colors = custom;
        t.caps.border_color_swizzle = told;
        t.caps.border_color_swizzle_from_image = follows;
        t.policy.strict_border = strict;
        // Who follows can be told as well.
        (told || !follows).then_some(t)
    })
}

fn through(format: vk::Format, mappings: impl Iterator<Item = [Swizzle; 4]>, counts: &mut [u32; 3]) {
    let mut devices: Vec<_> = devices().collect();
    let view = *Setting::new().sees(format, Feature::empty());
    let fits = |(_, words): &(_, Option<[u32; 4]>)| {
        words.is_none_or(|words| representable(words, view.is_integer(), formats::facts(format)))
    };
    let colors: Vec<_> = colors(view.is_integer()).into_iter().filter(fits).collect();
    for components in mappings {
        for t in &mut devices {
            t.view = Some(ViewTraits { components, ..view });
            for (color, words) in &colors {
                // With the view's format and without one, which some formats need.
                let formats = if words.is_some() { &[format, vk::Format::UNDEFINED][..] } else { &[format] };
                for format in formats {
                    let custom = words.map(|color| CustomBorder { color, format: *format });
                    let [changed, left] = judge(t, *color, custom);
                    counts[0] += 1;
                    counts[1] += u32::from(changed);
                    counts[2] += u32::from(left);
                }
            }
        }
    }
}

#[test]
fn no_border_is_further_off_than_without_the_layer() {
    let mut counts = [0; 3];
    // One format for each number of components and each class, through every mapping.
    let shapes = [
        F::R8_UNORM,
        F::R8G8_UNORM,
        F::B5G6R5_UNORM_PACK16,
        F::B8G8R8A8_UNORM,
        F::A8_UNORM_KHR,
        F::R8_UINT,
        F::R8G8B8A8_SINT,
        F::D16_UNORM,
    ];
    for format in shapes {
        through(format, mappings(), &mut counts);
    }
    // Every other format through a few.
    for format in formats::known().filter(|format| !shapes.contains(format)) {
        through(format, mappings().step_by(101), &mut counts);
        through(format, std::iter::once([Swizzle::IDENTITY; 4]), &mut counts);
    }
    let [all, changed, left] = counts;
    println!("{all} border colours, {changed} changed, {left} left to the driver");
    assert!(changed * 20 > all && left * 400 > all, "{changed} and {left} of {all}");
}
