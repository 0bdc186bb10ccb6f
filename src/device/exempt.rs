//! Repairs that a rules file switches off: which, and what is written down of them.

use ash::vk;
use samplin_hot::memory;
use samplin_wire::kinds::{self, Exempted};
use samplin_wire::text::handle;
use serde_json::json;

use super::classes::ViewClass;
use super::journal::{Journal, PairParts};
use super::wishes::Wishes;
use crate::counters::Path;
use crate::decide::{BlitSource, Change, Context, Exempt, SamplerState, ViewTraits};
use crate::names;
use crate::outcome::Off;
use crate::overrides::{Override, Overrides};
use crate::record;

/// A change that was not made, of whom, and what keeps its record from being written twice.
struct Spared<'a> {
    what: Exempted,
    key: (u64, u64),
    changes: &'a [Change],
    context: Context<'a>,
}

impl Wishes {
    /// What is switched off for samplers that these overrides match: when one was created, and with a view of this class.
    pub(super) fn off(&self, overrides: u64, class: Option<&ViewClass>) -> Off {
        if overrides == 0 {
            return Off::NONE;
        }
        self.rules().off(overrides, class.map(|class| &class.traits))
    }

    /// What is switched off for blits from images, and conversions, of a format.
    pub fn off_for_format(&self, format: vk::Format) -> Exempt {
        let of = Self::any_view(format);
        self.rules().exempting_format(&of).fold(Exempt::NONE, |all, one| all.union(one.exempt))
    }

    /// What rules look at of a format.
    fn any_view(format: vk::Format) -> ViewTraits {
        ViewTraits::new_2d(format, vk::FormatFeatureFlags2::empty())
    }

    /// Writes the record of a sampler that was not changed when it was created.
    pub(super) fn exempt_sampler(
        &self,
        journal: &Journal,
        sampler: u64,
        state: &SamplerState,
        overrides: u64,
        changes: &[Change],
    ) {
        if changes.is_empty() {
            return;
        }
        let fingerprint = state.fingerprint();
        let about = json!({
            "sampler": handle(sampler),
            "name": journal.name(vk::ObjectType::SAMPLER, sampler),
            "fingerprint": format!("{fingerprint:016x}"),
            "state": record::state(state),
        });
        let rules = self.rules();
        let by = rules.exempting(overrides, None);
        self.exempt(
            journal,
            &rules,
            by,
            about,
            Spared { what: Exempted::Sampler, key: (fingerprint, 0), changes, context: journal.context(None) },
        );
    }

    /// Writes the record of a pair that was not changed; `what` is a pair or an immutable sampler.
    pub(super) fn exempt_pair(
        &self,
        journal: &Journal,
        what: Exempted,
        parts: PairParts<'_>,
        path: Option<Path>,
        changes: &[Change],
    ) {
        let PairParts { pair, shared, class } = parts;
        if changes.is_empty() {
            return;
        }
        let members = record::view(&class.traits);
        let about = json!({
            "sampler": handle(pair.sampler),
            "view": handle(pair.view),
            "names": journal.names(pair),
            "fingerprint": format!("{:016x}", shared.fingerprint()),
            "format": members.format,
            "aspect": members.aspect,
            "view_type": members.view_type,
            "path": path.map(Path::name),
        });
        let rules = self.rules();
        let by = rules.exempting(shared.overrides, Some(&class.traits));
        let key = (shared.fingerprint(), u64::from(pair.class));
        self.exempt(journal, &rules, by, about, Spared { what, key, changes, context: journal.context(Some(class)) });
    }

    /// Writes the record of a blit that was not changed.
    pub fn exempt_blit(&self, journal: &Journal, source: &BlitSource, changes: &[Change], filter: vk::Filter) {
        self.exempt_format(journal, Exempted::Blit, source.format, changes, filter.as_raw() as u64);
    }

    /// Writes the record of a blit or a conversion that was not changed.
    pub(super) fn exempt_format(
        &self,
        journal: &Journal,
        what: Exempted,
        format: vk::Format,
        changes: &[Change],
        key: u64,
    ) {
        if changes.is_empty() {
            return;
        }
        let of = Self::any_view(format);
        let context = Context { source: Some(format), ..journal.context(None) };
        let about = json!({ "format": names::format(format) });
        let rules = self.rules();
        let by = rules.exempting_format(&of);
        let key = (format.as_raw() as u64, key);
        self.exempt(journal, &rules, by, about, Spared { what, key, changes, context });
    }

    #[cold]
    fn exempt<'a>(
        &self,
        journal: &Journal,
        rules: &Overrides,
        by: impl Iterator<Item = &'a Override>,
        about: serde_json::Value,
        spared: Spared<'_>,
    ) {
        let Spared { what, key: (state, class), changes, context } = spared;
        if !journal.records_decisions() || !journal.is_news_of_exempt(what, state, class) {
            return;
        }
        let file = rules.path.as_deref().map_or_else(String::new, |path| path.to_string_lossy().into_owned());
        let by: Vec<&Override> = memory::collect(by);
        let is_meant = |one: &&&Override| changes.iter().any(|change| one.exempt.contains(change.catalog));
        // One that leaves a pair alone altogether also keeps an address mode of OpenGL from being more than translated.
        let is_any = by.iter().any(|one| is_meant(&one));
        let by = by.iter().filter(|one| !is_any || is_meant(one));
        let at = |one: &&Override| kinds::RuleAt { name: one.name.clone(), file: file.clone(), line: one.line };
        let rules = memory::collect(by.map(at));
        let serde_json::Value::Object(about) = about else { return };
        let changes = record::changes(changes.iter(), &context);
        journal.trace().emit("exempt", &kinds::Exempt { what: what.name().to_owned(), rules, about, changes });
    }
}
