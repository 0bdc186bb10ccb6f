//! The word that was probably meant.

/// The candidate that differs least from `word` in inserted, removed, replaced or swapped characters, whatever the case;
/// `None` if all differ too much to be a slip: by more than a third of the word, or more than three characters.
pub fn nearest<'a>(word: &str, candidates: &[&'a str]) -> Option<&'a str> {
    let word: Vec<char> = word.to_lowercase().chars().take(64).collect();
    candidates
        .iter()
        .map(|&candidate| {
            let other: Vec<char> = candidate.to_lowercase().chars().collect();
            let allowed = (word.len().max(other.len()) / 3).clamp(1, 3);
            (distance(&word, &other), allowed, candidate)
        })
        .filter(|(distance, allowed, candidate)| distance <= allowed && *distance < candidate.len())
        .min_by_key(|(distance, ..)| *distance)
        .map(|(.., candidate)| candidate)
}

/// The number of single-character edits between two words, a swap of neighbours counting as one (optimal string alignment).
fn distance(left: &[char], right: &[char]) -> usize {
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=right.len()).collect();
    for (i, &a) in left.iter().enumerate() {
        let mut row = Vec::with_capacity(right.len() + 1);
        row.push(i + 1);
        for (j, &b) in right.iter().enumerate() {
            let replaced = last[j] + usize::from(a != b);
            let mut least = replaced.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a == right[j - 1] && left[i - 1] == b {
                least = least.min(before_last[j - 1] + 1);
            }
            row.push(least);
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last.last().copied().unwrap_or(0)
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
