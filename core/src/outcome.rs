//! What creating a sampler comes to, and what it comes to that a sampler meets a view.
//!
//! Joins what [`decide`] has to say with the setting `mode`, the user's overrides and the places of the limits. The layer does what
//! an outcome says and the tool predicts it, so that neither has rules of its own. Makes no sampler and counts no place: both are
//! asked for through a closure. Does not know how a pair was met, by which path or in which shader.

use alloc::vec::Vec;

use crate::budget::{BorderPlace, BorderWish};
use crate::decide::{
    self, Catalog, Change, Changes, Context, Decision, DeviceCaps, Exempt, Field, Guards, Policy, Rule, SamplerState,
    ShaderCompare, StateKey, Value, ViewTraits, Wish,
};
use crate::left::{Cause, Clause};

/// What outcomes on one device depend on.
#[derive(Clone, Copy, Debug)]
pub struct Terms<'a> {
    /// What the device can do.
    pub caps: &'a DeviceCaps,
    /// Settings that decisions depend on.
    pub policy: &'a Policy,
    /// The setting `mode` is `audit`: decisions are only written down.
    pub audit: bool,
}

impl Terms<'_> {
    /// Whether another sampler may stand in for one of this state. In audit mode only the modes that no driver knows are replaced.
    fn may_replace(&self, given: &SamplerState) -> bool {
        !self.audit || given.address_mode.iter().any(|mode| decide::is_gl(*mode))
    }
}

/// What `vkCreateSampler` comes to.
#[derive(Clone, Debug)]
pub struct Creation {
    /// What the application may have.
    pub decision: Decision,
    /// Whether the decision reaches the driver instead of what was given.
    pub rewrite: bool,
    /// What the sampler has of `maxCustomBorderColorSamplers`.
    pub border: BorderPlace,
    /// There was no place for its custom border colour, which therefore stays given up, with every view.
    pub is_refused: bool,
    /// What would have been changed, had the user not switched it off.
    pub exempted: Vec<Change>,
}

impl Creation {
    /// What is kept of the sampler for the views that it meets.
    pub fn kept(&self, given: &SamplerState) -> Kept {
        let base = if self.rewrite { self.decision.state } else { *given };
        let original = if self.is_refused {
            SamplerState { border_color: base.border_color, custom_border: None, ..*given }
        } else {
            *given
        };
        Kept { original, base }
    }
}

/// What meetings of a sampler are decided from.
#[derive(Clone, Copy, Debug)]
pub struct Kept {
    /// What the application asked for, so that what creation had to drop for want of a view can come back.
    pub original: SamplerState,
    /// What the driver's sampler was created with.
    pub base: SamplerState,
}

/// Whether a custom border colour is there because the user wants no repair of it, where `full` is the decision with every repair. Then
/// no limit takes it away.
fn leaves_border(off: Exempt, full: &Decision) -> bool {
    off.contains(Catalog::A35) || !decide::is_custom(full.state.border_color)
}

/// Decides at `vkCreateSampler`, but for the rules that are switched off for the sampler. `border` gives what the sampler has of `maxCustomBorderColorSamplers`, and is asked if that
/// concerns it.
pub fn creation(
    given: &SamplerState,
    exempt: Exempt,
    terms: &Terms<'_>,
    border: impl FnOnce(BorderWish) -> BorderPlace,
) -> Creation {
    let mut decision = decide::create_except(given, exempt, terms.caps, terms.policy);
    let mut exempted = Vec::new();
    let mut is_left = false;
    if !exempt.is_empty() {
        let full = decide::create(given, terms.caps, terms.policy);
        exempted = decide::new_changes(&full.changes, &decision.changes);
        is_left = leaves_border(exempt, &full);
    }
    let mut rewrite = !decision.changes.is_empty() && terms.may_replace(given);
    let mut is_refused = false;
    let down = if rewrite { &decision.state } else { given };
    let border = if decide::is_custom(down.border_color) {
        let must = terms.audit || decide::replays(given, terms.caps) || is_left;
        let place = border(BorderWish::Take { must });
        if place != BorderPlace::Held {
            let (state, change) = decide::without_custom_border(&decision.state, None, terms.caps, terms.policy);
            decision.replace_border(state, change);
            (rewrite, is_refused) = (true, true);
        }
        place
    } else if decide::is_custom(given.border_color) {
        border(BorderWish::GiveUp)
    } else {
        BorderPlace::None
    };
    Creation { decision, rewrite, border, is_refused, exempted }
}

/// What an override wants of a pair.
#[derive(Clone, Copy, Debug)]
pub struct Wished<'a> {
    /// Its name.
    pub name: &'a str,
    /// What it wishes.
    pub wish: &'a Wish,
    /// Guards that it switches off.
    pub guards_off: Guards,
}

/// Repairs that the user has switched off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Off {
    /// When the sampler was created, which no view had part in.
    pub created: Exempt,
    /// For the pair.
    pub pair: Exempt,
}

impl Off {
    /// Nothing.
    pub const NONE: Self = Self { created: Exempt::NONE, pair: Exempt::NONE };

    /// As far as it holds for a pair: a create info that breaks a rule by itself was either created so, or is never created.
    fn of_pair(self, is_wished: bool) -> Self {
        let created = if is_wished { Exempt::NONE } else { self.created };
        Self { created, pair: self.pair.of_views().union(created) }
    }

    fn is_empty(&self) -> bool {
        self.pair.is_empty()
    }

    /// Whether nothing that a view decides about is to be repaired: then the pair has the sampler that was created.
    fn leaves_alone(&self) -> bool {
        !self.is_empty() && self.pair.of_views() == Exempt::all().of_views()
    }

    fn decide(&self, state: &SamplerState, view: &ViewTraits, terms: &Terms<'_>) -> Decision {
        if self.leaves_alone() {
            return decide::create_except(state, self.created, terms.caps, terms.policy);
        }
        decide::pair_except(state, view, self.pair, terms.caps, terms.policy)
    }

    /// What would have been changed for the view's sake, had it not been switched off; `made`: what is changed.
    fn exempted(&self, state: &SamplerState, view: &ViewTraits, terms: &Terms<'_>, made: &Changes) -> Vec<Change> {
        if self.is_empty() {
            return Vec::new();
        }
        let full = decide::pair(state, view, terms.caps, terms.policy);
        let created = decide::create(state, terms.caps, terms.policy);
        let mut left = decide::new_changes(&full.changes, &created.changes);
        left.retain(|change| !made.iter().any(|made| (made.catalog, made.field) == (change.catalog, change.field)));
        left
    }
}

/// A sampler that a pair needs instead of the application's own.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// What it is created with.
    pub state: &'a SamplerState,
    /// The key of that.
    pub key: StateKey,
    /// It takes a place of `maxCustomBorderColorSamplers` as well as one of `maxSamplerAllocationCount`.
    pub custom_border: bool,
    /// Overrides have part in it: without it the pair has a repair, or its own sampler.
    pub wished: bool,
}

/// Why there is no variant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// No place for its custom border colour; without one it may be had.
    Border,
    /// None at all, by this rule and for this reason.
    Sampler(Rule, Clause),
}

/// Which sampler a pair gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Chosen<V> {
    /// The application's own.
    Own,
    /// This variant.
    Variant(V),
    /// The application's own, because the variant that it needs was refused by this rule and for this reason.
    Refused(Rule, Clause),
}

/// What the meeting of a sampler and a view comes to.
#[derive(Clone, Debug)]
pub struct Meeting<'a, V> {
    /// Which sampler the pair gets.
    pub chosen: Chosen<V>,
    /// What the pair may have.
    pub state: SamplerState,
    /// What records say: the changes that creation had not already made, and wishes that were held back. None where the variant was
    /// refused.
    pub changes: Vec<Change>,
    /// Each difference between what was asked for and the state, those that creation had already made included.
    pub decided: Changes,
    /// Axes (U, V, W) whose coordinates a shader would have to saturate for GL_CLAMP to be exact.
    pub saturate: [bool; 3],
    /// Of these, axes whose coordinates have to lose their sign before that.
    pub mirror: [bool; 3],
    /// LINEAR magnification, minification and mip levels that a shader could make of NEAREST.
    pub emulate: [bool; 3],
    /// LOD bias and limits that the pair asks for, of which the state may have less where a shader filters.
    pub lods: [f32; 3],
    /// The comparison that a shader does in the place of the sampler.
    pub compare: Option<ShaderCompare>,
    /// The overrides that took part, by name.
    pub by_overrides: Vec<&'a str>,
    /// What would have been changed, had the user not switched it off.
    pub exempted: Vec<Change>,
    /// A rule that is broken and that no other sampler can mend.
    unmendable: Option<Catalog>,
    /// Why the overrides took no part after all: there was no place for a sampler of their own.
    no_wish: Option<Clause>,
}

/// Something that is passed through although it may be wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unresolved {
    /// The rule that is broken, or that forbids the repair.
    pub rule: Rule,
    /// Its valid-usage id.
    pub vuid: Option<&'static str>,
    /// Why it stays.
    pub why: Clause,
}

impl Unresolved {
    /// A rule that is broken and that no other sampler mends, in the words of `context`.
    pub fn of(catalog: Catalog, context: &Context<'_>) -> Self {
        Self { rule: catalog.rule(), vuid: catalog.vuid(), why: why_unmendable(catalog, context) }
    }

    /// An instruction compares, and the sampler does not.
    pub fn uncompared() -> Self {
        Self { rule: Rule::Compare, vuid: None, why: Cause::Uncompared.into() }
    }

    /// Whether it is that an instruction may compare where the view cannot be compared.
    pub fn is_comparison(&self) -> bool {
        self.rule == Rule::Compare
    }
}

impl<V> Meeting<'_, V> {
    /// Whether magnification and minification are LINEAR, on a device whose shaders filter or not.
    pub fn linear(&self, emulates: bool) -> [bool; 2] {
        let filters = [self.state.mag_filter, self.state.min_filter];
        core::array::from_fn(|n| {
            filters.get(n) == Some(&ash::vk::Filter::LINEAR) || emulates && self.emulate.get(n) == Some(&true)
        })
    }

    /// Whether there was no place for the sampler that the pair asks for, or that overrides ask for.
    pub fn is_refused(&self) -> bool {
        self.no_wish.is_some() || matches!(self.chosen, Chosen::Refused(..))
    }

    /// What stays wrong, in the words of `context`.
    pub fn unresolved(&self, context: &Context<'_>) -> impl Iterator<Item = Unresolved> {
        let broken = self.unmendable.map(|catalog| Unresolved::of(catalog, context));
        let refused = match &self.chosen {
            Chosen::Refused(rule, why) => Some((*rule, why)),
            Chosen::Own | Chosen::Variant(_) => self.no_wish.as_ref().map(|why| (Rule::SamplerBudget, why)),
        };
        let refused = refused.map(|(rule, why)| Unresolved { rule, vuid: None, why: why.clone() });
        broken.into_iter().chain(refused)
    }
}

/// Why a rule that no other sampler mends is broken.
pub fn why_unmendable(catalog: Catalog, context: &Context<'_>) -> Clause {
    let change = Change { catalog, field: Field::Flags, from: Value::Absent, to: Value::Absent };
    Clause::new(decide::because(&change, context))
}

/// Decides for a sampler that meets a view for the first time by their state and class. `overrides` are those that match
/// the pair, in order, and `off` what others switch off for it; `variant` gives the sampler that is wanted instead of the application's own, and is asked again for another
/// one if it has no place for a custom border colour.
pub fn meeting<'a, V>(
    kept: &Kept,
    view: &ViewTraits,
    overrides: impl IntoIterator<Item = Wished<'a>>,
    off: Off,
    terms: &Terms<'_>,
    mut variant: impl FnMut(&Wanted<'_>) -> Result<V, Refusal>,
) -> Meeting<'a, V> {
    let policy = if view.by_itself { terms.policy.by_itself() } else { *terms.policy };
    let terms = &Terms { policy: &policy, ..*terms };
    let mut wished = kept.original;
    let mut wishes = Changes::new();
    let mut by_overrides = Vec::new();
    // No wish is worth the bits that were captured.
    if !decide::replays(&kept.original, terms.caps) {
        for wanted in overrides {
            wished = decide::apply(&wished, Some(view), wanted.wish, wanted.guards_off, &mut wishes);
            by_overrides.push(wanted.name);
        }
    }
    let off = off.of_pair(!wishes.is_empty());
    let pair = |state: &SamplerState| off.decide(state, view, terms);
    let base = kept.base.key();
    // `None` where the application's own sampler will do.
    // With a place for its custom border colour, or without one.
    let mut ask = |state: &SamplerState, custom_border: bool, wished: bool| {
        let key = state.key();
        if key == base {
            return Ok(None);
        }
        variant(&Wanted { state, key, custom_border, wished }).map(Some)
    };

    let mut decision = pair(&wished);
    // What the pair gets without overrides, where that is another sampler.
    let mut unwished = (!wishes.is_empty()).then(|| pair(&kept.original));
    unwished.take_if(|unwished| unwished.state.key() == decision.state.key());
    let mut over_budget = false;
    let mut found = if terms.may_replace(&kept.original) {
        ask(&decision.state, decide::is_custom(decision.state.border_color), unwished.is_some())
    } else {
        Ok(None)
    };
    // No wish is worth a repair.
    let mut no_wish = None;
    if let Err(Refusal::Sampler(Rule::SamplerBudget, why)) = &found
        && let Some(unwished) = unwished.take()
    {
        no_wish = Some(why.clone());
        wishes = Changes::new();
        decision = unwished;
        found = ask(&decision.state, decide::is_custom(decision.state.border_color), false);
    }
    if matches!(found, Err(Refusal::Border))
        && !off.is_empty()
        && leaves_border(off.pair, &decide::pair(&wished, view, terms.caps, terms.policy))
    {
        // As the sampler itself, which was created whatever the limit says.
        found = ask(&decision.state, false, unwished.is_some());
    }
    if matches!(found, Err(Refusal::Border))
        && !by_overrides.is_empty()
        && decide::is_custom(kept.original.border_color)
    {
        // No wish is worth the colour that the application has.
        wishes = Changes::new();
        unwished = None;
        decision = pair(&kept.original);
        found = match ask(&decision.state, decide::is_custom(decision.state.border_color), false) {
            Ok(None) => Err(Refusal::Sampler(Rule::BorderBudget, decide::no_border_share(terms.caps))),
            other => other,
        };
    }
    if matches!(found, Err(Refusal::Border)) {
        let (state, change) = decide::without_custom_border(&decision.state, Some(view), terms.caps, terms.policy);
        decision.replace_border(state, change);
        over_budget = true;
        found = ask(&decision.state, false, unwished.is_some());
    }
    let chosen = match found {
        Ok(Some(variant)) => Chosen::Variant(variant),
        Ok(None) | Err(Refusal::Border) => Chosen::Own,
        Err(Refusal::Sampler(rule, why)) => Chosen::Refused(rule, why),
    };
    let mut changes = Vec::new();
    // Where the state is what creation made of it, the record of creation has every change, by whichever rule. Two things are news all
    // the same: a wish, with its reason even where a guard held it back or nothing came of it, and a colour that the view would have
    // brought back and that has no place.
    let is_news = decision.state.key() != base || !wishes.is_empty() || over_budget;
    if is_news && !matches!(chosen, Chosen::Refused(..)) {
        let made = decide::create_except(&kept.original, off.created, terms.caps, terms.policy);
        changes.extend(wishes.iter());
        changes.extend(decide::new_changes(&decision.changes, &made.changes));
    }
    let exempted = off.exempted(&kept.original, view, terms, &decision.changes);
    let Decision { state, changes: decided, saturate, mirror, emulate, lods, compare, unresolved: unmendable } =
        decision;
    Meeting {
        chosen,
        state,
        changes,
        decided,
        saturate,
        mirror,
        emulate,
        lods,
        compare,
        by_overrides,
        exempted,
        unmendable,
        no_wish,
    }
}

/// Where the custom border colour of a sampler is that is described where it is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// Registered, at the index that is chained to the create info.
    Registered,
    /// Nowhere: no index is chained, or it is none.
    Missing,
    /// Nowhere: a shader that embeds the sampler has no place for one.
    Embedded,
}

/// A sampler that is described where it is used, in a heap or in a shader, and of which no view is known.
#[derive(Clone, Debug)]
pub struct Alone<'a> {
    /// What it may be.
    pub decision: Decision,
    /// Whether the decision reaches the driver instead of what was given.
    pub rewrite: bool,
    /// The overrides that took part, by name.
    pub by_overrides: Vec<&'a str>,
    /// What would have been changed, had the user not switched it off.
    pub exempted: Vec<Change>,
}

/// Decides for a sampler of which no view is known, but for the type by which shaders read it, if that is. `overrides` are those
/// that ask for no view, in order, and `off` is what others switch off.
pub fn alone<'a>(
    given: &SamplerState,
    ty: Option<&decide::ShaderType>,
    overrides: impl IntoIterator<Item = Wished<'a>>,
    off: Exempt,
    colour: Colour,
    terms: &Terms<'_>,
) -> Alone<'a> {
    // No shader makes up for what such a sampler loses.
    let policy = terms.policy.by_itself();
    let decide = |state: &SamplerState, off: Exempt| match ty {
        Some(ty) => decide::shader_type(state, ty, off, terms.caps, &policy),
        None => decide::create_except(state, off, terms.caps, &policy),
    };
    let (mut wished, mut wishes, mut by_overrides) = (*given, Changes::new(), Vec::new());
    // What is not known of its levels holds no wish back.
    let view = ty.map(|ty| ViewTraits { single_level: false, ..ty.view() });
    for wanted in overrides {
        wished = decide::apply(&wished, view.as_ref(), wanted.wish, wanted.guards_off, &mut wishes);
        by_overrides.push(wanted.name);
    }
    let mut decision = decide(&wished, off);
    let exempted = if off.is_empty() {
        Vec::new()
    } else {
        decide::new_changes(&decide(&wished, Exempt::NONE).changes, &decision.changes)
    };
    if decide::is_custom(decision.state.border_color) {
        if colour == Colour::Registered {
            // "The color registered with the index and the color specified in the sampler must be identically defined."
            decision.state.custom_border = given.custom_border;
            let of_colour = [Field::CustomBorderColor, Field::CustomBorderColorFormat];
            decision.changes.retain(|change| !of_colour.contains(&change.field));
        } else {
            let catalog = if colour == Colour::Embedded { Catalog::A37 } else { Catalog::A38 };
            let (state, change) = decide::without_custom_border(&decision.state, None, terms.caps, &policy);
            decision.replace_border(state, change.map(|change| Change { catalog, ..change }));
        }
    }
    decision.changes.iter().for_each(|change| wishes.push(*change));
    decision.changes = wishes;
    let is_changed = decision.changes.iter().any(|change| change.catalog.is_made());
    Alone { rewrite: is_changed && terms.may_replace(given), decision, by_overrides, exempted }
}

/// What is broken where a sampler that must stay what it is for every view meets this one: what [`meeting`] would have changed, or
/// could not have mended.
///
/// Also what would have been broken, had the user not switched it off.
pub fn immutable(
    kept: &Kept,
    view: &ViewTraits,
    off: Off,
    terms: &Terms<'_>,
    context: &Context<'_>,
) -> (Option<Unresolved>, Vec<Change>) {
    let off = off.of_pair(false);
    let decision = off.decide(&kept.original, view, terms);
    let created = decide::create_except(&kept.original, off.created, terms.caps, terms.policy);
    let change = decide::new_changes(&decision.changes, &created.changes).into_iter().next();
    let exempted = off.exempted(&kept.original, view, terms, &decision.changes);
    (
        change.map(|change| change.catalog).or(decision.unresolved).map(|catalog| stays(catalog, change, context)),
        exempted,
    )
}

/// What is broken and stays, because no other sampler can stand in.
fn stays(catalog: Catalog, change: Option<Change>, context: &Context<'_>) -> Unresolved {
    let why = match change {
        Some(change) => Cause::SameForAll.with(&[&decide::because(&change, context)]).why,
        None => why_unmendable(catalog, context),
    };
    Unresolved { rule: catalog.rule(), vuid: catalog.vuid(), why }
}
