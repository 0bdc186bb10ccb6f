//! What decisions come to: the mode, the user's overrides and the places of the limits, held against the decisions themselves.
//!
//! One row for each statement, with its twin: the same sampler and view with the one thing changed that the statement hangs on.

use samplin_checker::draw::{self, Case};
use samplin_core::budget::{BorderPlace, BorderPlaces, BorderWish};
use samplin_core::decide::{Compare, Context, Exempt, Guard, Guards, Rule, Wish};
use samplin_core::left::Cause;
use samplin_core::outcome::{self, Chosen, Kept, Off, Refusal, Terms, Unresolved, Wanted, Wished};

use crate::properties::for_all;
use crate::setting::*;

const RGBA: vk::Format = F::R8G8B8A8_UNORM;
/// The same values in another order.
const BGRA: vk::Format = F::B8G8R8A8_UNORM;
/// Neither of the predefined colours.
const TEAL: [f32; 4] = [0.0, 0.5, 0.5, 1.0];

/// What a row starts from.
struct Scene {
    t: Setting,
    audit: bool,
    /// Places of `maxCustomBorderColorSamplers`.
    borders: u32,
    /// Places for variants: of samplers, those that overrides may have, and of custom border colours.
    variants: u32,
    overridden: u32,
    border_variants: u32,
    wishes: Vec<(&'static str, Wish, Guards)>,
    /// Repairs that are switched off.
    off: Off,
}

impl Scene {
    fn new() -> Self {
        let t = Setting::new();
        let [borders, variants, overridden, border_variants] = [32; 4];
        Self { t, audit: false, borders, variants, overridden, border_variants, wishes: Vec::new(), off: Off::NONE }
    }

    fn terms(&self) -> Terms<'_> {
        Terms { caps: &self.t.caps, policy: &self.t.policy, audit: self.audit }
    }

    fn context(&self) -> Context<'_> {
        Context { view: self.t.view.as_ref(), ..Context::new(&self.t.caps) }
    }

    fn wish(&mut self, name: &'static str, wish: Wish) {
        self.wishes.push((name, wish, Guards::NONE));
    }

    fn aniso(&mut self, degree: f32) {
        (self.t.s.anisotropy_enable, self.t.s.max_anisotropy) = (true, degree);
    }

    /// Creates the sampler. Also says what was wanted of the places for custom border colours.
    fn create(&self) -> (outcome::Creation, Option<BorderWish>) {
        let mut places = BorderPlaces::new(self.borders);
        let mut wanted = None;
        let creation = outcome::creation(&self.t.s, self.off.created, &self.terms(), |wish| {
            wanted = Some(wish);
            places.ask(wish).0
        });
        (creation, wanted)
    }

    /// Creates the sampler and lets it meet the view. Also says which states were asked for, and with which budget.
    fn meet(&self) -> (Kept, outcome::Meeting<'_, SamplerState>, Vec<&'static str>) {
        let kept = self.create().0.kept(&self.t.s);
        let (mut variants, mut overridden, mut borders) = (self.variants, self.overridden, self.border_variants);
        let mut asked = Vec::new();
        let overrides =
            self.wishes.iter().map(|(name, wish, guards_off)| Wished { name, wish, guards_off: *guards_off });
        let view = self.t.view.as_ref().expect("the row has a view");
        let meeting = outcome::meeting(&kept, view, overrides, self.off, &self.terms(), |wanted: &Wanted<'_>| {
            assert_eq!(wanted.key, wanted.state.key());
            asked.push(if wanted.custom_border { "sampler and border" } else { "sampler" });
            if wanted.custom_border {
                borders = borders.checked_sub(1).ok_or(Refusal::Border)?;
            }
            let none = || Refusal::Sampler(Rule::SamplerBudget, Cause::NoMemoryForSampler.into());
            if wanted.wished {
                overridden = overridden.checked_sub(1).ok_or_else(none)?;
            }
            variants = variants.checked_sub(1).ok_or_else(none)?;
            Ok(*wanted.state)
        });
        (kept, meeting, asked)
    }
}

// --- creation ------------------------------------------------------------------------------------------------------

/// One statement about `vkCreateSampler`.
struct CreationRow {
    what: &'static str,
    given: fn(&mut Scene),
    /// Every change that is told.
    changes: &'static [&'static str],
    /// Whether another create info goes down.
    rewrite: bool,
    /// What is wanted of `maxCustomBorderColorSamplers`, and what is had.
    wanted: Option<BorderWish>,
    border: BorderPlace,
    /// On top of `given`: makes the sampler whose own create info goes down, and of which nothing is told.
    twin: fn(&mut Scene),
}

const TAKE: Option<BorderWish> = Some(BorderWish::Take { must: false });
const MUST: Option<BorderWish> = Some(BorderWish::Take { must: true });
const REFUSED: &[&str] = &["A-35 borderColor FLOAT_CUSTOM_EXT -> FLOAT_OPAQUE_WHITE"];

/// What is wrong and done to the scene for that; changes, whether another create info goes down, what is wanted and had; the twin.
macro_rules! creations {
    ($c:ident: $($what:literal $given:block => $changes:expr, $rewrite:literal, $wanted:expr, $border:expr; but $twin:block)*) => {
        &[$(CreationRow {
            what: $what,
            given: |$c| $given,
            changes: $changes,
            rewrite: $rewrite,
            wanted: $wanted,
            border: $border,
            twin: |$c| $twin,
        },)*]
    };
}

const CREATIONS: &[CreationRow] = creations! { c:
    "what is illegal goes down otherwise"
        { c.aniso(64.0); }
        => &["A-6 maxAnisotropy 64 -> 16"], true, None, BorderPlace::None;
        but { c.aniso(16.0); }
    "audit tells what it would do, and does not"
        { c.audit = true; c.aniso(64.0); }
        => &["A-6 maxAnisotropy 64 -> 16"], false, None, BorderPlace::None;
        but { c.aniso(16.0); }
    "audit replaces the modes that no driver knows"
        { (c.audit, c.t.caps.gl_address_modes) = (true, true); c.t.s.address_mode[1] = decide::GL_CLAMP; }
        => &["S-4 addressModeV 10496 -> CLAMP_TO_EDGE"], true, None, BorderPlace::None;
        but { c.t.s.address_mode[1] = Mode::CLAMP_TO_EDGE; }
    "a custom border colour beyond the application's own count becomes a predefined one"
        { c.t.float_border([0.9; 4], RGBA); c.borders = 0; }
        => REFUSED, true, TAKE, BorderPlace::Refused;
        but { c.borders = 1; }
    "a refused one is also told where something else had to change"
        { c.t.float_border([0.9; 4], RGBA); c.aniso(64.0); c.borders = 0; }
        => &["A-6 maxAnisotropy 64 -> 16", REFUSED[0]], true, TAKE, BorderPlace::Refused;
        but { c.aniso(2.0); c.borders = 1; }
    "one that cannot stay, for want of a format, leaves its place to variants"
        { c.t.float_border([0.9; 4], F::UNDEFINED); c.t.caps.custom_border_color_without_format = false; }
        => &["A-32 borderColor FLOAT_CUSTOM_EXT -> FLOAT_OPAQUE_WHITE"], true, Some(BorderWish::GiveUp), BorderPlace::GivenUp;
        but { c.t.caps.custom_border_color_without_format = true; }
    "one that the user wants no repair of is no matter of the limit"
        { c.t.float_border([0.9; 4], RGBA); (c.t.caps.custom_border_colors, c.borders) = (false, 0);
          c.off.created = Exempt::named("border-custom").unwrap(); }
        => &[], false, MUST, BorderPlace::Held;
        but { (c.t.caps.custom_border_colors, c.borders) = (true, 1); }
    "where the device has them, only the limit's own rule leaves it"
        { c.t.float_border([0.9; 4], RGBA); c.borders = 0; c.off.created = Exempt::named("border-custom").unwrap(); }
        => REFUSED, true, TAKE, BorderPlace::Refused;
        but { c.off.created = Exempt::named("border-budget").unwrap(); }
    "audit keeps it, and it must be created as it is"
        { c.t.float_border([0.9; 4], F::UNDEFINED); c.t.caps.custom_border_color_without_format = false;
          (c.audit, c.borders) = (true, 0); }
        => &["A-32 borderColor FLOAT_CUSTOM_EXT -> FLOAT_OPAQUE_WHITE"], false, MUST, BorderPlace::Held;
        but { c.t.s.custom_border.as_mut().expect("is custom").format = RGBA; }
};

#[test]
fn what_creation_comes_to() {
    for CreationRow { what, given, changes, rewrite, wanted, border, twin } in CREATIONS {
        let mut scene = Scene::new();
        given(&mut scene);
        let (creation, asked) = scene.create();
        let lines: Vec<_> = creation.decision.changes.iter().map(line).collect();
        assert_eq!(lines, *changes, "{what}");
        assert_eq!((creation.rewrite, asked, creation.border), (*rewrite, *wanted, *border), "{what}");
        let kept = creation.kept(&scene.t.s);
        let base = if *rewrite { &creation.decision.state } else { &scene.t.s };
        assert!(untouched(base, &kept.base), "{what}: {:?}", kept.base);
        // What had no place stays given up; anything else may come back once the view is known.
        assert_eq!(creation.is_refused, *changes.last().unwrap_or(&"") == REFUSED[0], "{what}");
        assert_eq!(kept.original.key() != scene.t.s.key(), creation.is_refused, "{what}");
        assert!(!creation.is_refused || !decide::is_custom(kept.original.border_color), "{what}");

        twin(&mut scene);
        let (creation, _) = scene.create();
        assert!(!creation.rewrite && creation.decision.changes.is_empty(), "{what}: the twin was changed");
        let kept = creation.kept(&scene.t.s);
        for state in [&creation.decision.state, &kept.original, &kept.base] {
            assert!(untouched(&scene.t.s, state), "{what}: the twin was touched");
        }
        let holds = decide::is_custom(scene.t.s.border_color);
        assert_eq!(creation.border, if holds { BorderPlace::Held } else { BorderPlace::None }, "{what}");
    }
}

/// Samplers for capture and replay keep their bits, whatever the limit says; the flag alone makes the difference.
#[test]
fn what_was_captured_is_not_refused() {
    let mut scene = Scene::new();
    scene.t.float_border([0.9; 4], RGBA);
    (scene.t.s.flags, scene.borders) = (REPLAY, 0);
    let (creation, wanted) = scene.create();
    assert_eq!((wanted, creation.rewrite, creation.border), (MUST, false, BorderPlace::Held));
    scene.t.s.flags = vk::SamplerCreateFlags::empty();
    let (creation, wanted) = scene.create();
    assert_eq!((wanted, creation.rewrite, creation.border), (TAKE, true, BorderPlace::Refused));
}

/// A pair that needs another filter keeps the colour that the user wants no repair of, in a variant that no limit refuses.
#[test]
fn a_colour_that_is_left_alone_stays_in_variants() {
    for (rule, is_there, stays) in [
        ("border-custom", false, true),
        ("border-budget", true, true),
        ("border-custom", true, false),
        ("anisotropy", true, false),
    ] {
        let mut scene = Scene::new();
        scene.t.float_border([0.9; 4], F::UNDEFINED);
        scene.t.filters(LINEAR);
        (scene.t.caps.custom_border_colors, scene.t.caps.custom_border_color_without_format) = (is_there, true);
        scene.t.sees(RGBA, NONE);
        scene.off.created = Exempt::named(rule).unwrap();
        scene.off.pair = scene.off.created;
        (scene.border_variants, scene.borders) = (0, u32::from(is_there));
        let (_, meeting, asked) = scene.meet();
        assert!(matches!(meeting.chosen, Chosen::Variant(_)), "{rule} {is_there}: {meeting:?}");
        assert_eq!(meeting.state.mag_filter, vk::Filter::NEAREST, "{rule} {is_there}");
        assert_eq!(decide::is_custom(meeting.state.border_color), stays, "{rule} {is_there}: {asked:?}");
        assert!(!meeting.changes.iter().any(|change| change.catalog.rule() == Rule::BorderBudget) || !stays);
    }
}

// --- meetings ------------------------------------------------------------------------------------------------------

/// One statement about a sampler and a view.
struct MeetingRow {
    what: &'static str,
    given: fn(&mut Scene),
    /// What is asked for, in order.
    asked: &'static [&'static str],
    chosen: Kind,
    /// Every change that is told.
    changes: &'static [&'static str],
    by_overrides: &'static [&'static str],
    /// Rules and valid-usage ids of what stays wrong.
    unresolved: &'static [(Rule, Option<&'static str>)],
    /// On top of `given`: makes the pair that keeps its sampler, asks for nothing and has nothing told.
    twin: fn(&mut Scene),
}

/// A sampler of which kind a pair gets.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Own,
    Variant,
    Refused,
}

fn nearest() -> Wish {
    Wish { mag_filter: Some(NEAREST), ..Wish::default() }
}

fn mirrored() -> Wish {
    Wish { address_mode: [Some(Mode::MIRRORED_REPEAT), None, None], ..Wish::default() }
}

/// A LINEAR sampler, and a view that cannot be filtered.
fn unfiltered(c: &mut Scene) {
    c.t.filters(LINEAR);
    c.t.sees(F::R32_SFLOAT, NONE);
}

fn filters(c: &mut Scene) {
    c.t.sees(RGBA, FILTERS);
}

/// A custom border colour that creation drops for want of a format, and a view that has one.
fn formatless(c: &mut Scene) {
    c.t.float_border(TEAL, F::UNDEFINED);
    c.t.caps.custom_border_color_without_format = false;
    filters(c);
}

const DEMOTED: &[&str] = &["B-1 magFilter LINEAR -> NEAREST", "B-1 minFilter LINEAR -> NEAREST"];

/// What is wrong and done to the scene for that; kind, what is asked for, changes, overrides and what stays wrong; the twin.
macro_rules! meetings {
    ($c:ident: $($what:literal $given:block
        => $chosen:expr, $asked:expr, $changes:expr $(, by [$($by:expr),*] leaves [$($wrong:expr),*])?; but $twin:block)*) => {
        &[$(MeetingRow {
            what: $what,
            given: |$c| $given,
            asked: $asked,
            chosen: $chosen,
            changes: $changes,
            twin: |$c| $twin,
            by_overrides: &[$($($by),*)?],
            unresolved: &[$($($wrong),*)?],
        },)*]
    };
}

const MEETINGS: &[MeetingRow] = meetings! { c:
    "no guard holds back that anisotropy is off, though all are against it"
        { c.aniso(16.0); (c.t.s.compare_enable, c.t.caps.mutable_comparison_samplers) = (true, true);
          let view = c.t.sees(F::D16_UNORM, COMPARES);
          (view.attachment, view.single_level, view.view_type) = (true, true, vk::ImageViewType::TYPE_1D);
          c.wish("off", Wish { max_anisotropy: Some(1.0), ..Wish::default() }); }
        => Kind::Variant, &["sampler"], &["O-1 anisotropyEnable true -> false"], by ["off"] leaves [];
        but { c.t.s.anisotropy_enable = false; }
    "nor where the degree is 1 already"
        { c.aniso(1.0); filters(c); c.wish("off", Wish { max_anisotropy: Some(1.0), ..Wish::default() }); }
        => Kind::Variant, &["sampler"], &["O-1 anisotropyEnable true -> false"], by ["off"] leaves [];
        but { c.wishes.clear(); }
    "more anisotropy is held back there"
        { c.aniso(2.0); filters(c); c.wish("more", Wish { max_anisotropy: Some(16.0), ..Wish::default() }); }
        => Kind::Own, &[], &["O-2 maxAnisotropy 16 -> 2"], by ["more"] leaves [];
        but { c.wishes.clear(); }
    "aniso_nearest=off goes for both filters, and creation has told it"
        { (c.t.policy.flat_nearest, c.variants) = (true, 0); c.aniso(16.0); unfiltered(c); c.t.filters(NEAREST); }
        => Kind::Own, &[], &[];
        but { c.t.policy.flat_nearest = false; }
    "an illegal pair gets a variant"
        { unfiltered(c); }
        => Kind::Variant, &["sampler"], DEMOTED;
        but { filters(c); }
    "what creation told is not told again"
        { unfiltered(c); c.t.s.mip_lod_bias = 20.0; }
        => Kind::Variant, &["sampler"], DEMOTED;
        but { filters(c); }
    "audit tells, and asks for nothing"
        { unfiltered(c); c.audit = true; }
        => Kind::Own, &[], DEMOTED;
        but { filters(c); }
    "audit replaces the modes that no driver knows"
        { (c.audit, c.t.caps.gl_address_modes) = (true, true); c.t.filters(LINEAR);
          c.t.s.address_mode[0] = decide::GL_CLAMP; filters(c); }
        => Kind::Variant, &["sampler"], &["S-4 addressModeU 10496 -> CLAMP_TO_BORDER"];
        // The edge is what creation took.
        but { c.t.filters(NEAREST); }
    "without a place the pair keeps its sampler, and nothing counts as changed"
        { unfiltered(c); c.variants = 0; }
        => Kind::Refused, &["sampler"], &[], by [] leaves [(Rule::SamplerBudget, None)];
        but { filters(c); }
    "a border colour that creation dropped comes back with the view's format"
        { formatless(c); }
        => Kind::Variant, &["sampler and border"], &["A-32 format UNDEFINED -> R8G8B8A8_UNORM"];
        but { c.t.caps.custom_border_color_without_format = true; }
    "without a place for it the colour that creation took stays, and that is told"
        { formatless(c); c.border_variants = 0; }
        => Kind::Own, &["sampler and border"], &["A-32 format UNDEFINED -> R8G8B8A8_UNORM",
           "A-35 borderColor FLOAT_CUSTOM_EXT -> FLOAT_OPAQUE_BLACK"];
        but { c.t.caps.custom_border_color_without_format = true; }
    "without a place for it a sampler is asked for that needs none"
        { formatless(c); c.t.filters(LINEAR); c.border_variants = 0; c.t.sees(RGBA, NONE); }
        => Kind::Variant, &["sampler and border", "sampler"], &[DEMOTED[0], DEMOTED[1],
           "A-32 format UNDEFINED -> R8G8B8A8_UNORM", "A-35 borderColor FLOAT_CUSTOM_EXT -> FLOAT_OPAQUE_BLACK"];
        but { c.t.filters(NEAREST); c.t.caps.custom_border_color_without_format = true; }
    "a colour that creation was refused does not come back"
        { c.t.float_border(TEAL, RGBA); c.t.filters(LINEAR); c.borders = 0; c.t.sees(RGBA, NONE); }
        => Kind::Variant, &["sampler"], DEMOTED;
        but { filters(c); }
    "a wish is granted and told with its rule"
        { c.t.filters(LINEAR); filters(c); c.wish("blocky", nearest()); }
        => Kind::Variant, &["sampler"], &["O-1 magFilter LINEAR -> NEAREST"], by ["blocky"] leaves [];
        but { c.wishes.clear(); }
    "a later rule has the last word, and what comes of both is made legal"
        { c.t.s.compare_enable = true; c.t.sees(F::D16_UNORM, COMPARES); let mut off = Guards::NONE;
          off.insert(Guard::Compare);
          c.wishes.push(("smooth", Wish { mag_filter: Some(LINEAR), ..Wish::default() }, off));
          c.wishes.push(("flat", Wish { compare: Some(Compare::Off), ..Wish::default() }, off)); }
        => Kind::Variant, &["sampler"], &["O-1 magFilter NEAREST -> LINEAR", "O-1 compareEnable true -> false",
           "B-1 magFilter LINEAR -> NEAREST"], by ["smooth", "flat"] leaves [];
        but { c.wishes.clear(); }
    "a wish that is held back is told and asks for nothing"
        { c.t.filters(LINEAR); filters(c); c.t.seen().attachment = true; c.wish("blocky", nearest()); }
        => Kind::Own, &[], &["O-2 magFilter NEAREST -> LINEAR"], by ["blocky"] leaves [];
        but { c.wishes.clear(); }
    "no wish is worth the bits that were captured"
        { c.t.filters(LINEAR); filters(c); c.wish("blocky", nearest()); }
        => Kind::Variant, &["sampler"], &["O-1 magFilter LINEAR -> NEAREST"], by ["blocky"] leaves [];
        but { c.t.s.flags = REPLAY; }
    "no wish is worth a repair"
        { unfiltered(c); c.overridden = 0; c.wish("mirror", mirrored()); }
        => Kind::Variant, &["sampler", "sampler"], DEMOTED, by ["mirror"] leaves [(Rule::SamplerBudget, None)];
        but { c.wishes.clear(); filters(c); }
    "nor the place of one that is to come"
        { c.t.filters(LINEAR); filters(c); c.overridden = 0; c.wish("mirror", mirrored()); }
        => Kind::Own, &["sampler"], &[], by ["mirror"] leaves [(Rule::SamplerBudget, None)];
        but { c.wishes.clear(); }
    "a wish that is the repair takes the place of one"
        { unfiltered(c); c.overridden = 0; c.wish("blocky", nearest()); }
        => Kind::Variant, &["sampler"], &["O-1 magFilter LINEAR -> NEAREST", DEMOTED[1]], by ["blocky"] leaves [];
        but { c.wishes.clear(); filters(c); }
    "no wish is worth the colour that the application has"
        { c.t.filters(LINEAR); c.t.float_border(TEAL, RGBA); filters(c); c.border_variants = 0;
          c.wish("blocky", nearest()); }
        => Kind::Refused, &["sampler and border"], &[], by ["blocky"] leaves [(Rule::BorderBudget, None)];
        but { c.wishes.clear(); }
    "without the wish the pair may still need another colour, and then one without a place"
        { c.t.filters(LINEAR); c.t.float_border(TEAL, RGBA); c.t.sees(BGRA, FILTERS); c.border_variants = 0;
          c.wish("blocky", nearest()); }
        => Kind::Variant, &["sampler and border", "sampler and border", "sampler"],
           &["B-57 format R8G8B8A8_UNORM -> B8G8R8A8_UNORM",
           "A-35 borderColor FLOAT_CUSTOM_EXT -> FLOAT_OPAQUE_BLACK"], by ["blocky"] leaves [];
        but { c.wishes.clear(); filters(c); }
    "what only another view could mend is passed through and said"
        { c.t.texels(); c.t.sees(RGBA, NONE).view_type = vk::ImageViewType::TYPE_3D;
          c.t.seen().reads = Reads::Plain; }
        => Kind::Own, &[], &[], by [] leaves [(Rule::Unnormalized, Catalog::B40.vuid())];
        but { filters(c); }
    "what cannot be mended and what may not be are both said, in this order"
        { c.t.texels(); c.t.filters(LINEAR); c.t.sees(RGBA, NONE).view_type = vk::ImageViewType::TYPE_3D;
          c.t.seen().reads = Reads::Plain; c.variants = 0; }
        => Kind::Refused, &["sampler"], &[],
           by [] leaves [(Rule::Unnormalized, Catalog::B40.vuid()), (Rule::SamplerBudget, None)];
        but { filters(c); }
};

#[test]
fn what_a_meeting_comes_to() {
    for MeetingRow { what, given, asked, chosen, changes, by_overrides, unresolved, twin } in MEETINGS {
        let mut scene = Scene::new();
        given(&mut scene);
        let (kept, meeting, wanted) = scene.meet();
        assert_eq!(wanted, *asked, "{what}");
        let kind = match &meeting.chosen {
            Chosen::Own => Kind::Own,
            Chosen::Variant(made) => {
                assert!(untouched(&meeting.state, made), "{what}: {made:?}");
                assert_ne!(made.key(), kept.base.key(), "{what}: the application's own would have done");
                Kind::Variant
            }
            Chosen::Refused(..) => Kind::Refused,
        };
        assert_eq!(kind, *chosen, "{what}");
        assert_eq!(meeting.changes.iter().map(line).collect::<Vec<_>>(), *changes, "{what}");
        assert_eq!(meeting.by_overrides, *by_overrides, "{what}");
        let said: Vec<Unresolved> = meeting.unresolved(&scene.context()).collect();
        assert_eq!(said.iter().map(|said| (said.rule, said.vuid)).collect::<Vec<_>>(), *unresolved, "{what}");
        assert!(said.iter().all(|said| !said.why.is_empty()), "{what}: {said:?}");

        twin(&mut scene);
        let (kept, meeting, wanted) = scene.meet();
        assert!(wanted.is_empty() && matches!(meeting.chosen, Chosen::Own), "{what}: the twin asks for {wanted:?}");
        assert_eq!(meeting.changes, [], "{what}: the twin was changed");
        assert_eq!(meeting.unresolved(&scene.context()).count(), 0, "{what}: something is said of the twin");
        assert_eq!(meeting.state.key(), kept.base.key(), "{what}: the twin was touched");
    }
}

#[test]
fn why_a_wish_has_no_place_is_said() {
    let mut scene = Scene::new();
    scene.t.filters(LINEAR);
    scene.t.float_border(TEAL, RGBA);
    filters(&mut scene);
    scene.border_variants = 0;
    scene.wish("blocky", nearest());
    let (_, meeting, _) = scene.meet();
    let said: Vec<Unresolved> = meeting.unresolved(&scene.context()).collect();
    let why = decide::no_border_share(&scene.t.caps);
    assert_eq!(said, [Unresolved { rule: Rule::BorderBudget, vuid: None, why }]);
}

#[test]
fn axes_to_saturate_are_those_of_the_pair() {
    let mut scene = Scene::new();
    scene.t.caps.gl_address_modes = true;
    scene.t.filters(LINEAR);
    scene.t.s.address_mode[0] = decide::GL_CLAMP;
    filters(&mut scene);
    assert_eq!(scene.meet().1.saturate, [true, false, false]);
    scene.t.filters(NEAREST);
    assert_eq!(scene.meet().1.saturate, [false; 3]);
}

/// An immutable sampler gets no variant, so what a meeting would change stays wrong.
#[test]
fn what_an_immutable_sampler_cannot_have() {
    let immutable = |scene: &Scene| {
        let kept = scene.create().0.kept(&scene.t.s);
        let view = scene.t.view.as_ref().expect("has a view");
        outcome::immutable(&kept, view, scene.off, &scene.terms(), &scene.context()).0
    };
    let mut scene = Scene::new();
    unfiltered(&mut scene);
    scene.aniso(64.0);
    for audit in [false, true] {
        scene.audit = audit;
        let said = immutable(&scene).expect("the view cannot be filtered");
        assert_eq!((said.rule, said.vuid), (Rule::LinearFilter, Catalog::B1.vuid()));
        assert!(said.why.contains("is immutable") && said.why.contains("R32_SFLOAT lacks"), "{}", said.why);
    }
    filters(&mut scene);
    assert_eq!(immutable(&scene), None, "creation told of the anisotropy");
    scene.t = Setting::new();
    scene.t.texels();
    scene.t.sees(RGBA, NONE).view_type = vk::ImageViewType::TYPE_3D;
    assert_eq!(immutable(&scene), None, "whether anything samples it is not known");
    scene.t.seen().reads = Reads::Plain;
    let said = immutable(&scene).expect("no sampler suits the view");
    assert_eq!((said.rule, said.vuid), (Rule::Unnormalized, Catalog::B40.vuid()));
    // That it is immutable is not why.
    assert_eq!(&*said.why, "the view is neither 1D nor 2D");
}

// --- properties ----------------------------------------------------------------------------------------------------

/// A pair that the gate lets pass comes to nothing; one that gets a variant has what was decided, and it is the pair's own fixed point.
#[test]
fn outcomes_agree_with_gate_and_decisions() {
    let counts = [const { std::cell::Cell::new(0_u32) }; 3];
    let count = |at: usize| counts[at].set(counts[at].get() + 1);
    for_all(draw::cases(), |case| {
        let Case { state, view, caps, policy } = &case;
        for audit in [false, true] {
            let terms = Terms { caps, policy, audit };
            let creation = outcome::creation(state, Exempt::NONE, &terms, |wish| BorderPlaces::new(1).ask(wish).0);
            let kept = creation.kept(state);
            let created = decide::create(state, caps, policy);
            let goes_down = if creation.rewrite { created.state } else { *state };
            proptest::prop_assert!(untouched(&goes_down, &kept.base) && untouched(state, &kept.original));
            proptest::prop_assert!(audit || creation.rewrite != created.changes.is_empty());
            let meeting = outcome::meeting(&kept, view, [], Off::NONE, &terms, |wanted| {
                Ok::<_, Refusal>((*wanted.state, wanted.custom_border))
            });
            let pair = decide::pair(state, view, caps, policy);
            proptest::prop_assert!(untouched(&pair.state, &meeting.state));
            let open = !audit && !decide::needs(state, &kept.base, caps, policy).conflicts(decide::lacks(view, caps));
            match &meeting.chosen {
                Chosen::Own => {
                    let as_it_is = meeting.state.key() == kept.base.key();
                    let gl = state.address_mode.iter().any(|mode| decide::is_gl(*mode));
                    proptest::prop_assert!(as_it_is || (audit && !gl));
                    proptest::prop_assert!(!as_it_is || meeting.changes.is_empty());
                    count(0);
                }
                Chosen::Variant((made, custom_border)) => {
                    proptest::prop_assert!(!open && made.key() != kept.base.key() && untouched(made, &pair.state));
                    proptest::prop_assert_eq!(*custom_border, decide::is_custom(made.border_color));
                    count(1);
                }
                Chosen::Refused(..) => proptest::prop_assert!(false, "nothing was refused"),
            }
            // A refusal leaves the application's sampler, and tells nothing as changed.
            let refused = outcome::meeting(&kept, view, [], Off::NONE, &terms, |_| {
                Err::<(), _>(Refusal::Sampler(Rule::Flags, Cause::PinnedSampler.into()))
            });
            if let Chosen::Refused(rule, why) = &refused.chosen {
                proptest::prop_assert!(matches!(meeting.chosen, Chosen::Variant(_)) && refused.changes.is_empty());
                proptest::prop_assert_eq!((*rule, &**why), (Rule::Flags, Cause::PinnedSampler.text()));
                count(2);
            } else {
                proptest::prop_assert_eq!(refused.chosen, Chosen::Own);
            }
            let context = Context { view: Some(view), ..Context::new(caps) };
            if open {
                proptest::prop_assert!(meeting.changes.is_empty() && meeting.unresolved(&context).next().is_none());
            }
        }
        Ok(())
    });
    let [own, variant, refused] = counts.map(|count| count.get());
    assert!(own > 1000 && variant > 1000 && refused == variant, "{own} kept, {variant} variants, {refused} refused");
}
