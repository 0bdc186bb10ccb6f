//! The word that was probably meant.

/// The candidate that differs least from `word` in inserted, removed, replaced or swapped characters, whatever the case;
/// `None` if all differ too much to be a slip: by more than a third of the word, or more than three characters.
pub fn nearest<'a>(word: &str, candidates: &[&'a str]) -> Option<&'a str> {
    let word: String = word.to_lowercase().chars().take(64).collect();
    candidates
        .iter()
        .map(|&candidate| {
            let other = candidate.to_lowercase();
            let longest = word.chars().count().max(other.chars().count());
            (strsim::osa_distance(&word, &other), (longest / 3).clamp(1, 3), candidate)
        })
        .filter(|(distance, allowed, candidate)| distance <= allowed && *distance < candidate.len())
        .min_by_key(|(distance, ..)| *distance)
        .map(|(.., candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    const WORDS: [&str; 4] = ["legalize", "audit", "off", "trace_level"];

    #[test]
    fn finds_slips() {
        assert_eq!(nearest("legalise", &WORDS), Some("legalize"));
        assert_eq!(nearest("AUDTI", &WORDS), Some("audit"));
        assert_eq!(nearest("of", &WORDS), Some("off"));
        assert_eq!(nearest("tracelevel", &WORDS), Some("trace_level"));
        assert_eq!(nearest("trace-level", &WORDS), Some("trace_level"));
    }

    #[test]
    fn does_not_guess_wildly() {
        for word in ["", "x", "colour", "on", "éé", &"a".repeat(10_000)] {
            assert_eq!(nearest(word, &["legalize", "audit"]), None, "{word}");
        }
    }

    #[test]
    fn an_exact_word_is_nearest() {
        for word in WORDS {
            assert_eq!(nearest(word, &WORDS), Some(word));
        }
    }
}
