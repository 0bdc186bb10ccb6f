//! What a case comes to.

use serde::{Deserialize, Serialize};

use super::compared::{Compared, Difference};
use super::worker::Answer;
use crate::trace::record::RecordedChange;

/// What was measured of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) enum Verdict {
    /// It is legal, and the driver is wrong.
    #[serde(rename = "driver wrong")]
    DriverWrong,
    /// With the layer something else comes out than the repaired pair has to give.
    #[serde(rename = "repair does not hold")]
    RepairFails,
    /// Without the layer the driver misbehaves.
    #[serde(rename = "repair needed")]
    RepairNeeded,
    /// The driver does the same, or what was asked for, without the layer.
    #[serde(rename = "repair harmless")]
    RepairHarmless,
    /// It is legal, and the driver is right.
    #[serde(rename = "holds")]
    Holds,
    /// There is nothing to compare with.
    #[serde(rename = "no reference")]
    NoReference,
}

impl Verdict {
    /// All, in the order of weight.
    pub(super) const ALL: [Self; 6] = [
        Self::DriverWrong,
        Self::RepairFails,
        Self::RepairNeeded,
        Self::RepairHarmless,
        Self::Holds,
        Self::NoReference,
    ];

    /// Its words.
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::DriverWrong => "driver wrong",
            Self::RepairFails => "repair does not hold",
            Self::RepairNeeded => "repair needed",
            Self::RepairHarmless => "repair harmless",
            Self::Holds => "holds",
            Self::NoReference => "no reference",
        }
    }

    /// Whether it makes the command end with status 1.
    pub(super) const fn is_finding(self) -> bool {
        matches!(self, Self::DriverWrong | Self::RepairFails)
    }
}

/// A verdict and what it rests on.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Proof {
    pub verdict: Verdict,
    /// What the layer changed on this driver.
    pub changes: Vec<RecordedChange>,
    /// What was observed, in a sentence; empty where all is as it has to be.
    pub observed: String,
    /// The first point at which something differs.
    pub difference: Option<Difference>,
}

impl Proof {
    fn new(verdict: Verdict, changes: &[RecordedChange], observed: impl Into<String>) -> Self {
        Self { verdict, changes: changes.to_vec(), observed: observed.into(), difference: None }
    }

    /// With what differs.
    fn of(verdict: Verdict, changes: &[RecordedChange], who: &str, compared: &Compared) -> Self {
        let (observed, difference) = match compared {
            Compared::Same => (format!("{who} everything is as expected"), None),
            Compared::Differs(difference) => (format!("{who} {}", difference.sentence()), Some(difference.clone())),
            Compared::Failed(why) => (format!("{who}: {why}"), None),
            Compared::Unknown(why) => (why.clone(), None),
        };
        Self { difference, ..Self::new(verdict, changes, observed) }
    }

    /// The same, unless the recorded decision is another one than the rules make of it: what came out then is of the wrong sampler.
    pub(super) fn unless_decided(self, otherwise: Option<String>) -> Self {
        match otherwise {
            Some(observed) => Self { verdict: Verdict::RepairFails, observed, difference: None, ..self },
            None => self,
        }
    }

    /// What the answer about a format comes to.
    pub(super) fn stored(answer: &Answer) -> Self {
        let (with, without, is_converted) = match answer {
            Answer::Stored { with, without, is_converted } => (with, without, *is_converted),
            Answer::Crashed(how) => {
                return Self::new(Verdict::DriverWrong, &[], format!("{how}, with the layer or without"));
            }
            _ => return Self::new(Verdict::NoReference, &[], "the worker did not answer"),
        };
        match (with, without) {
            (Compared::Unknown(why), _) => Self::new(Verdict::NoReference, &[], why.clone()),
            (Compared::Same, Compared::Same) if is_converted => {
                Self::new(Verdict::RepairHarmless, &[], "the driver stores and reads the same by itself")
            }
            (Compared::Same, Compared::Same) => Self::new(Verdict::Holds, &[], ""),
            (Compared::Same, wrong) => Self::of(Verdict::RepairNeeded, &[], "without the layer", wrong),
            (wrong, _) if is_converted => Self::of(Verdict::RepairFails, &[], "with the layer", wrong),
            (wrong, _) => Self::of(Verdict::DriverWrong, &[], "without a conversion", wrong),
        }
    }

    /// What the two answers about a case come to.
    ///
    /// `recorded`: the changes that the trace has, for a layer that did not live to say its own. `one_aspect`: the layer has the descriptor
    /// show one aspect of a view that has both, which no change of the pair says.
    pub(super) fn from(with: &Answer, without: &Answer, recorded: &[RecordedChange], one_aspect: bool) -> Self {
        let (changes, left, repaired) = match with {
            Answer::Repaired { changes, left, repaired } => (changes.as_slice(), left.as_slice(), repaired.clone()),
            Answer::Crashed(how) => (recorded, &[][..], Compared::Failed(how.clone())),
            _ => (&[][..], &[][..], Compared::Unknown("the worker did not answer".to_owned())),
        };
        let (asked, without_repair) = match without {
            Answer::Asked { asked, repaired } => (asked.clone(), repaired.clone()),
            Answer::Crashed(how) => (Compared::Failed(how.clone()), Compared::Failed(how.clone())),
            _ => (Compared::Unknown("the worker did not answer".to_owned()), Compared::Same),
        };
        if let Compared::Unknown(why) = &repaired {
            return Self::new(Verdict::NoReference, changes, why.clone());
        }
        let is_repaired = one_aspect || changes.iter().any(|change| !change.is_held());
        if !left.is_empty() && (!is_repaired || repaired != Compared::Same) {
            // The layer names it and leaves it: what the driver makes of it is all that can be said.
            let left = left.join(", ");
            return match &asked {
                Compared::Same => {
                    Self::new(Verdict::RepairHarmless, changes, format!("left alone ({left}), and as asked for"))
                }
                Compared::Unknown(why) => Self::new(Verdict::NoReference, changes, why.clone()),
                wrong => Self::of(Verdict::RepairNeeded, changes, &format!("left alone ({left}):"), wrong),
            };
        }
        if !is_repaired {
            return match (&asked, &repaired) {
                (Compared::Same, Compared::Same) => Self::new(Verdict::Holds, changes, ""),
                // What the layer does not touch it must not change.
                (Compared::Same, wrong) => Self::of(Verdict::RepairFails, changes, "only with the layer", wrong),
                (Compared::Unknown(why), _) => Self::new(Verdict::NoReference, changes, why.clone()),
                (wrong, _) => Self::of(Verdict::DriverWrong, changes, "without the layer", wrong),
            };
        }
        if repaired != Compared::Same {
            return Self::of(Verdict::RepairFails, changes, "with the layer", &repaired);
        }
        match (&without_repair, &asked) {
            (Compared::Same, _) => Self::new(Verdict::RepairHarmless, changes, "the driver does the same by itself"),
            (_, Compared::Same) => {
                Self::new(Verdict::RepairHarmless, changes, "the driver does what the application asks for by itself")
            }
            (Compared::Unknown(why), _) => Self::new(Verdict::NoReference, changes, why.clone()),
            (wrong, _) => Self::of(Verdict::RepairNeeded, changes, "without the layer", wrong),
        }
    }
}

impl Difference {
    /// `11 of 245 points differ, first (0.29, 0.57) at level 0: 0.2 instead of 0.1`.
    fn sentence(&self) -> String {
        let list = |values: &[f64]| values.iter().map(|value| number(*value)).collect::<Vec<_>>().join(", ");
        let coord: Vec<f64> = self.coord.iter().take(3).map(|value| f64::from(*value)).collect();
        format!(
            "{} of {} points differ, first ({}) at level {}: ({}) instead of ({})",
            self.points.0,
            self.points.1,
            list(&coord),
            self.lod,
            list(&self.got),
            list(&self.expected),
        )
    }
}

/// A number with three places at most.
fn number(value: f64) -> String {
    let text = format!("{value:.3}");
    let short = text.trim_end_matches('0').trim_end_matches('.');
    if short.is_empty() || short == "-0" { "0".to_owned() } else { short.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn differs() -> Compared {
        let difference = Difference { coord: [0.0; 4], lod: 0.0, got: [0.0; 4], expected: [1.0; 4], points: (1, 2) };
        Compared::Differs(difference)
    }

    fn change(catalog: &str) -> RecordedChange {
        serde_json::from_value(serde_json::json!({ "rule": "linear-filter", "catalog": catalog, "field": "magFilter" }))
            .unwrap()
    }

    /// Each answer with the layer, beside each without.
    #[test]
    fn each_verdict_has_its_twin() {
        let same = || Compared::Same;
        let unknown = || Compared::Unknown("why".to_owned());
        let with = |changes: &[&str], left: &[&str], repaired| Answer::Repaired {
            changes: changes.iter().map(|catalog| change(catalog)).collect(),
            left: left.iter().map(|left| (*left).to_owned()).collect(),
            repaired,
        };
        let without = |asked, repaired| Answer::Asked { asked, repaired };
        let crash = || Answer::Crashed("signal: 11".to_owned());
        let rows = [
            // Legal pairs.
            (with(&[], &[], same()), without(same(), same()), Verdict::Holds),
            (with(&[], &[], same()), without(differs(), differs()), Verdict::DriverWrong),
            (with(&[], &[], same()), crash(), Verdict::DriverWrong),
            (with(&[], &[], differs()), without(same(), same()), Verdict::RepairFails),
            // A wish that a guard held back changes nothing.
            (with(&["O-2"], &[], same()), without(same(), same()), Verdict::Holds),
            // Repaired ones.
            (with(&["B-1"], &[], same()), without(unknown(), differs()), Verdict::RepairNeeded),
            (with(&["B-1"], &[], same()), crash(), Verdict::RepairNeeded),
            (with(&["B-1"], &[], same()), without(differs(), same()), Verdict::RepairHarmless),
            (with(&["B-1"], &[], same()), without(same(), differs()), Verdict::RepairHarmless),
            (with(&["B-1"], &[], differs()), without(same(), same()), Verdict::RepairFails),
            (with(&["B-1"], &[], unknown()), without(differs(), differs()), Verdict::NoReference),
            // What the layer leaves it does not call legal.
            (with(&[], &["pair"], differs()), without(differs(), differs()), Verdict::RepairNeeded),
            (with(&[], &["pair"], same()), without(same(), same()), Verdict::RepairHarmless),
        ];
        for (number, (with, without, verdict)) in rows.iter().enumerate() {
            assert_eq!(Proof::from(with, without, &[], false).verdict, *verdict, "row {number}");
        }
        // A layer that crashes where it repaired before, and a view of both aspects.
        let failed = without(differs(), differs());
        assert_eq!(Proof::from(&crash(), &failed, &[change("B-1")], false).verdict, Verdict::RepairFails);
        let aspect = Proof::from(&with(&[], &[], same()), &failed, &[], true);
        assert_eq!(aspect.verdict, Verdict::RepairNeeded);
        // Whatever came out, if it is not what the rules decide.
        for (with, without, verdict) in &rows {
            let proof = || Proof::from(with, without, &[], false);
            assert_eq!(proof().unless_decided(None).verdict, *verdict);
            assert_eq!(proof().unless_decided(Some("decided otherwise".to_owned())).verdict, Verdict::RepairFails);
        }
    }

    /// What the driver stores by itself is no repair.
    #[test]
    fn formats_are_repaired_only_where_they_are_converted() {
        let of = |with, without, is_converted| Proof::stored(&Answer::Stored { with, without, is_converted }).verdict;
        let same = || Compared::Same;
        assert_eq!(of(same(), differs(), true), Verdict::RepairNeeded);
        assert_eq!(of(same(), same(), true), Verdict::RepairHarmless);
        assert_eq!(of(same(), same(), false), Verdict::Holds);
        assert_eq!(of(differs(), differs(), true), Verdict::RepairFails);
        assert_eq!(of(differs(), differs(), false), Verdict::DriverWrong);
    }
}
