//! Plain English, as far as a program can judge it: words of a private dialect, sentences that are too long, lines that are too long.

use std::fmt;

/// Words that only this project would use so, and what to write instead.
pub(super) const DIALECT: &[(&str, &str)] = &[
    ("told", "recorded, printed"),
    ("telling", "recording, printing"),
    ("hush", "update quietly"),
    ("hushed", "quiet"),
    ("loud", "recorded"),
    ("wish", "override, request"),
    ("wishes", "overrides"),
    ("wished", "overridden"),
    ("anew", "again"),
    ("nobody", "say who does it"),
    ("goes down", "reaches the driver"),
    ("go down", "reach the driver"),
    ("went down", "reached the driver"),
    ("going down", "reaching the driver"),
    ("hands down", "forwards"),
    ("hand down", "forward"),
    ("handed down", "forwarded"),
    ("comes to", "results in, reaches"),
    ("came to", "resulted in"),
    ("come of", "result from"),
    ("comes of", "results from"),
    ("made again", "compiled again, created again"),
    ("make again", "compile again, create again"),
    ("for want of", "because there is no"),
    ("declared for nothing", "declared and not needed"),
    ("gives way", "is replaced"),
    ("gave way", "was replaced"),
    ("as ever", "as before"),
    ("is asked", "say who calls or queries what"),
    ("are asked", "say who calls or queries what"),
    ("was asked for", "was requested"),
    ("stands there", "is there"),
    ("who asks", "the caller"),
    ("talkative", "verbose"),
    ("beside it", "with it"),
    ("in its stead", "instead"),
    ("in the place of", "instead of"),
    ("takes part", "say what it does"),
    ("at hand", "available"),
];

/// How many words the sentences of a document may have on average.
const MEAN: f64 = 20.0;
/// How many words one sentence may have.
const LONGEST: usize = 35;
/// How many characters a line of text may have, and a row of a table.
const LINE: usize = 400;
const ROW: usize = 600;

/// What is counted of a document.
#[derive(Default)]
pub(super) struct Measure {
    words: usize,
    sentences: usize,
    line: usize,
    longest: usize,
}

impl Measure {
    pub(super) fn add(&mut self, other: &Self) {
        self.words += other.words;
        self.sentences += other.sentences;
        self.line = self.line.max(other.line);
        self.longest = self.longest.max(other.longest);
    }

    fn mean(&self) -> f64 {
        self.words as f64 / self.sentences.max(1) as f64
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} | {} | {:.1} | {}", self.words, self.line, self.mean(), self.longest)
    }
}

/// Lines that are text: no code, no comments, no rulers of tables.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut is_code = false;
    text.lines().filter(move |line| {
        let trimmed = line.trim_start();
        if trimmed.starts_with("```") {
            is_code = !is_code;
            return false;
        }
        !is_code && !trimmed.starts_with("<!--") && !trimmed.starts_with("|--") && !trimmed.starts_with("| --")
    })
}

/// A text without its marks: a link is its text, code in a line is one word.
fn plain(text: &str) -> String {
    let mut out = String::new();
    for (index, part) in text.split('`').enumerate() {
        out.push_str(if index % 2 == 0 { part } else { "x" });
    }
    let mut rest = out.as_str();
    let mut text = String::new();
    while let Some((before, after)) = rest.split_once("](") {
        text.push_str(before);
        rest = after.split_once(')').map_or("", |(_, rest)| rest);
    }
    text.push_str(rest);
    text.replace(['[', '*', '!', '_'], "").replace("<br>", ". ")
}

/// Paragraphs, items and cells.
fn blocks(text: &str) -> Vec<String> {
    let mut blocks: Vec<String> = Vec::new();
    let mut is_open = false;
    for line in lines(text) {
        let line = line.trim();
        if line.starts_with('|') {
            // A bar inside of a cell is escaped.
            let row = line.trim_matches('|').replace("\\|", "/");
            blocks.extend(row.split('|').map(|cell| plain(cell.trim())));
            is_open = false;
        } else if line.is_empty() || line.starts_with('#') {
            is_open = false;
        } else {
            let item = line.trim_start_matches(|c: char| c.is_ascii_digit()).strip_prefix(". ");
            let item = item.or(line.strip_prefix("- ")).or(line.strip_prefix("* "));
            match blocks.last_mut().filter(|_| is_open && item.is_none()) {
                Some(block) => *block = format!("{block} {}", plain(line)),
                None => blocks.push(plain(item.unwrap_or(line))),
            }
            is_open = true;
        }
    }
    blocks.retain(|block| !block.is_empty());
    blocks
}

/// The sentences of a block.
fn sentences(block: &str) -> impl Iterator<Item = &str> {
    let is_end = |at: usize| {
        let (before, after) = block.split_at(at);
        before.ends_with(['.', '?', '!']) && after.starts_with(char::is_whitespace)
    };
    let ends = block.char_indices().map(|(at, _)| at).filter(move |at| is_end(*at)).chain([block.len()]);
    let mut start = 0;
    ends.map(move |end| {
        let sentence = block[start..end].trim();
        start = end;
        sentence
    })
    .filter(|sentence| words(sentence) > 0)
}

fn words(text: &str) -> usize {
    text.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)).count()
}

/// Counts a document. Cells of tables with fewer than five words are no sentences.
pub(super) fn measure(text: &str) -> Measure {
    let line = lines(text).map(|line| line.chars().count()).max().unwrap_or(0);
    let mut measure = Measure { line, ..Measure::default() };
    for block in blocks(text) {
        for count in sentences(&block).map(words).filter(|count| *count > 4) {
            measure.words += count;
            measure.sentences += 1;
            measure.longest = measure.longest.max(count);
        }
    }
    measure
}

/// The words of the dialect in a text, with what to write instead.
pub(super) fn dialect(text: &str) -> impl Iterator<Item = String> + use<> {
    let words: Vec<String> =
        text.split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '-').map(str::to_lowercase).collect();
    let spaced = format!(" {} ", words.join(" "));
    DIALECT
        .iter()
        .filter(move |(word, _)| spaced.contains(&format!(" {word} ")))
        .map(|(word, instead)| format!("\"{word}\" (write: {instead})"))
}

/// What is wrong with a document.
pub(super) fn judge(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for block in blocks(text) {
        for sentence in sentences(&block) {
            found.extend(dialect(sentence).map(|word| format!("{word}: {sentence}")));
            let count = words(sentence);
            if count > LONGEST {
                found.push(format!("a sentence of {count} words: {sentence}"));
            }
        }
    }
    for line in lines(text) {
        let (count, most) = (line.chars().count(), if line.starts_with('|') { ROW } else { LINE });
        if count > most {
            found.push(format!("a line of {count} characters: {}…", line.chars().take(60).collect::<String>()));
        }
    }
    let measure = measure(text);
    if measure.mean() > MEAN {
        found.push(format!("{:.1} words a sentence", measure.mean()));
    }
    found
}

/// The string literals of a source that are texts: with a blank, and not in a comment.
pub(super) fn literals(source: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = source;
    while let Some(at) = rest.find(['"', '/', '\'']) {
        let before = &rest[..at];
        rest = &rest[at..];
        if rest.starts_with("//") {
            rest = rest.find('\n').map_or("", |end| &rest[end..]);
        } else if let Some(after) = rest.strip_prefix('\'') {
            // A character; a lifetime has no second mark so near.
            let end = after.char_indices().skip(1).take(3).find(|(_, c)| *c == '\'');
            rest = end.map_or(after, |(end, _)| &after[end + 1..]);
        } else if let Some(after) = rest.strip_prefix('"') {
            let marks = before.len() - before.trim_end_matches('#').len();
            let is_raw = before.trim_end_matches('#').ends_with('r');
            let close = if is_raw { format!("\"{}", "#".repeat(marks)) } else { "\"".to_owned() };
            let mut end = 0;
            while let Some(found) = after[end..].find(&close) {
                end += found;
                let slashes = after[..end].len() - after[..end].trim_end_matches('\\').len();
                if is_raw || slashes % 2 == 0 {
                    break;
                }
                end += 1;
            }
            let text = &after[..end];
            // What is put in is not the text's.
            let text: String =
                text.split('{').map(|part| part.split_once('}').map_or(part, |(_, after)| after)).collect();
            if text.contains(' ') {
                found.push(text.replace("\\\n", " ").split_whitespace().collect::<Vec<_>>().join(" "));
            }
            rest = &after[end + close.len()..];
        } else {
            rest = &rest[1..];
        }
    }
    found
}

#[test]
fn each_rule_of_prose_finds_something() {
    for (word, _) in DIALECT {
        assert_eq!(judge(&format!("This {word} that.")).len(), 1, "{word}");
        assert!(judge(&format!("This `{word}` that.\n\n```\n{word}\n```\n")).is_empty(), "{word}");
    }
    let sentence = |count: usize| format!("{}.", vec!["word"; count].join(" "));
    assert!(judge(&sentence(20)).is_empty());
    assert_eq!(judge(&sentence(21)), ["21.0 words a sentence"]);
    let long = format!("{} {}", sentence(36), sentence(5));
    assert!(judge(&format!("{long} {0} {0} {0}", sentence(5)))[0].starts_with("a sentence of 36 words"));
    assert!(judge(&format!("{} `{}`.", sentence(5), "x".repeat(400)))[0].starts_with("a line of 4"));
    assert!(judge(&format!("| `{}` |", "x".repeat(590))).is_empty());
    assert_eq!(judge(&format!("| `{}` |", "x".repeat(600))).len(), 1);
    assert!(judge("Untold stories.").is_empty());
}

#[test]
fn text_is_taken_apart() {
    let text = "# Not this one\nOne two three four five. Six.\nSeven [eight](nine.md).\n- an item\n- another\n\n| a | b \\| c |\n|---|---|\n";
    assert_eq!(blocks(text), ["One two three four five. Six. Seven eight.", "an item", "another", "a", "b / c"]);
    let measure = measure(text);
    assert_eq!((measure.words, measure.sentences, measure.longest), (5, 1, 5));
    let source = "fn a<'a>() { b('\"', \"one two\", r#\"three \"four\" five\"#); } // \"six seven\"\n\"eight \\\"nine\\\" \\\n   ten\"";
    assert_eq!(literals(source), ["one two", "three \"four\" five", "eight \\\"nine\\\" ten"]);
}
