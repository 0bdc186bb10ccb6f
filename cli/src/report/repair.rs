//! How to repair in the application what was found: the rules' pages, and the table of what is left, as HTML.

use std::collections::BTreeSet;

use samplin_core::decide::Rule;
use serde::Serialize;

use super::charts::escape;
use crate::explain::{Line, Page, lines};
use crate::trace::analysis::Analysis;

/// The heading of a rule's page under which the repair stands.
const SECTION: &str = "In the application";

/// What a rule's page says.
#[derive(Debug, Serialize)]
pub(super) struct Repair {
    pub(super) rule: &'static str,
    summary: String,
    text: String,
}

/// The repairs of all rules that the traces name, each once.
pub(super) fn all(analysis: &Analysis) -> Vec<Repair> {
    let changed = analysis.decisions.iter().flat_map(|decision| decision.changes.iter().map(|change| &change.rule));
    let left = analysis.unresolved.iter().filter_map(|item| item.rule.as_ref());
    let names: BTreeSet<&str> = changed.chain(left).map(String::as_str).collect();
    names.into_iter().filter_map(of).collect()
}

fn of(name: &str) -> Option<Repair> {
    let page = Page::of(*Rule::ALL.iter().find(|rule| rule.name() == name)?);
    Some(Repair { rule: page.rule, summary: words(page.summary), text: html(page.section(SECTION)?) })
}

/// The Markdown that the pages use, as HTML: paragraphs, lists, fences with code, and code in lines.
fn html(markdown: &str) -> String {
    let mut out = String::new();
    // What the lines so far have opened.
    let mut open = "";
    let mut turn = |out: &mut String, to: &'static str| {
        if open != to {
            let end = if open.is_empty() { String::new() } else { format!("</{open}>") };
            let start = if to.is_empty() { String::new() } else { format!("<{to}>") };
            *out += &(end + &start);
            open = to;
        }
    };
    for line in lines(markdown) {
        let (block, text) = match line {
            Line::Text(text) => ("p", words(text) + "\n"),
            Line::Item(text) => ("ul", format!("<li>{}</li>", words(text))),
            Line::Code(text) => ("pre", escape(text) + "\n"),
            Line::Blank => ("", String::new()),
        };
        turn(&mut out, block);
        out += &text;
    }
    turn(&mut out, "");
    out
}

/// A line in which code stands between grave accents.
pub(super) fn words(line: &str) -> String {
    let part = |(index, part): (usize, &str)| match index % 2 {
        0 => escape(part),
        _ => format!("<code>{}</code>", escape(part)),
    };
    line.split('`').enumerate().map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_becomes_html() {
        let made = html("Ask `a<b>` first:\n\n```c\nint x = y & 1;\n\nz();\n```\nThen:\n- one\n- `two`\n");
        assert_eq!(
            made,
            "<p>Ask <code>a&lt;b&gt;</code> first:\n</p><pre>int x = y &amp; 1;\n\nz();\n</pre><p>Then:\n</p><ul><li>one</li><li><code>two</code></li></ul>"
        );
    }

    /// No mark of Markdown that is not known here may reach the page as it is.
    #[test]
    fn every_rule_has_a_repair_without_marks() {
        for rule in Rule::ALL {
            let repair = of(rule.name()).unwrap_or_else(|| panic!("{}", rule.name()));
            assert!(!repair.text.is_empty(), "{}", repair.rule);
            let mut is_code = false;
            for part in repair.text.split_inclusive('>') {
                is_code &= !part.ends_with("</pre>") && !part.ends_with("</code>");
                let marks = ["`", "**", "](", "\n#", "\n* "];
                assert!(is_code || !marks.iter().any(|mark| part.contains(mark)), "{}: {part}", repair.rule);
                is_code |= part.ends_with("<pre>") || part.ends_with("<code>");
            }
            assert_eq!(repair.text.matches("<p>").count(), repair.text.matches("</p>").count());
            assert_eq!(repair.text.matches("<pre>").count(), repair.text.matches("</pre>").count());
        }
        assert!(of("no-such-rule").is_none());
    }
}
