//! The `%` marks in the path of a trace.

use samplin_platform as platform;

/// What the marks stand for.
pub struct Values {
    executable: String,
    process: u32,
    date: String,
    home: Option<String>,
}

/// The longest executable name that is used, in bytes: with the rest of the file name it must fit what file systems allow.
const LONGEST: usize = 200;

impl Values {
    /// The values of this process at this moment.
    pub fn current() -> Values {
        let mut executable = platform::executable_name();
        let end = (0..=LONGEST.min(executable.len())).rev().find(|&end| executable.is_char_boundary(end));
        executable.truncate(end.unwrap_or(0));
        Values {
            executable,
            process: platform::process_id(),
            date: platform::date(),
            home: platform::home_folder().and_then(|home| home.to_str().map(str::to_owned)),
        }
    }

    /// Replaces the marks in `text`. A mark that is not known stays as it is.
    pub fn expand(&self, text: &str) -> String {
        let mut expanded = String::with_capacity(text.len() + 32);
        let rest = match (text.strip_prefix("~/"), &self.home) {
            (Some(rest), Some(home)) => {
                expanded.push_str(home);
                expanded.push('/');
                rest
            }
            _ => text,
        };
        let mut characters = rest.chars();
        while let Some(character) = characters.next() {
            if character != '%' {
                expanded.push(character);
                continue;
            }
            match characters.next() {
                Some('e') => expanded.push_str(&self.executable),
                Some('p') => expanded.push_str(&self.process.to_string()),
                Some('d') => expanded.push_str(&self.date),
                Some('%') => expanded.push('%'),
                Some(other) => expanded.extend(['%', other]),
                None => expanded.push('%'),
            }
        }
        expanded
    }
}

/// What is suspicious about the marks in `text`, for a warning; `None` if nothing is.
pub fn doubt(text: &str) -> Option<String> {
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        if character != '%' {
            continue;
        }
        let mark = match characters.next() {
            Some('e' | 'p' | 'd' | '%') => continue,
            Some(other) => format!("%{other}"),
            None => "%".to_owned(),
        };
        return Some(format!(
            "\"{mark}\" stays as it is: the marks are %e (executable), %p (process id), %d (date) and %%"
        ));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{Values, doubt};

    fn values() -> Values {
        Values {
            executable: "game".to_owned(),
            process: 42,
            date: "2026-01-31".to_owned(),
            home: Some("/home/me".to_owned()),
        }
    }

    #[test]
    fn expands_each_mark() {
        let expanded = values().expand("/t/%e-%p-%d-100%%.jsonl");
        assert_eq!(expanded, "/t/game-42-2026-01-31-100%.jsonl");
        assert_eq!(values().expand("%e%e%%e"), "gamegame%e");
        assert_eq!(values().expand(""), "");
        assert_eq!(values().expand("/straße/%e"), "/straße/game");
    }

    #[test]
    fn leaves_what_it_does_not_know() {
        assert_eq!(values().expand("/t/%x%é%"), "/t/%x%é%");
    }

    #[test]
    fn expands_the_home_folder_only_in_front() {
        assert_eq!(values().expand("~/t"), "/home/me/t");
        assert_eq!(values().expand("/~/t"), "/~/t");
        assert_eq!(values().expand("~other/t"), "~other/t");
        let homeless = Values { home: None, ..values() };
        assert_eq!(homeless.expand("~/t"), "~/t");
    }

    #[test]
    fn an_executable_with_a_mark_in_its_name_is_not_expanded_again() {
        let odd = Values { executable: "%p".to_owned(), ..values() };
        assert_eq!(odd.expand("%e"), "%p");
    }

    #[test]
    fn doubts_unknown_marks() {
        for fine in ["", "/t/%e-%p-%d", "100%%"] {
            assert_eq!(doubt(fine), None, "{fine}");
        }
        for (odd, mark) in [("/t/%x", "\"%x\""), ("100%", "\"%\""), ("%%%E", "\"%E\"")] {
            let message = doubt(odd).unwrap_or_default();
            assert!(message.starts_with(mark), "{odd}: {message}");
        }
    }

    #[test]
    fn the_current_values_make_a_file_name() {
        let name = Values::current().expand("%e-%p.jsonl");
        assert!(name.len() < 255 && !name.contains(['/', '%']), "{name}");
    }
}
