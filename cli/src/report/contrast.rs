//! The contrast of the style sheet's colours (WCAG 2.2, 1.4.3 and 1.4.11): 4.5 for text, 3 for every other graphic that says something,
//! in both schemes. A declaration that the tests do not know is a failure.

use std::collections::BTreeMap;

use super::STYLE;

type Colors = BTreeMap<String, [u8; 3]>;

/// What may lie behind text and graphics.
const GROUNDS: [&str; 3] = ["page", "panel", "track"];

/// What only decorates: separators and grounds, on which the words that they separate stand alone as well.
const DECORATION: [&str; 1] = ["line"];

/// The rules of the sheet: selectors and declarations, without those of `@media` around them.
fn rules() -> Vec<(String, String)> {
    let innermost = STYLE.split('}').filter_map(|part| part.rsplit_once('{'));
    innermost
        .map(|(head, body)| {
            let selectors = head.rsplit(['{', '}']).next().unwrap().trim();
            (selectors.to_owned(), body.trim().to_owned())
        })
        .collect()
}

fn declarations(body: &str) -> impl Iterator<Item = (&str, &str)> {
    body.split(';').filter_map(|declaration| declaration.split_once(':')).map(|(key, value)| (key.trim(), value.trim()))
}

/// The colours of each scheme, by name.
fn schemes() -> [Colors; 3] {
    let of = |selectors: &str| {
        let (_, body) =
            rules().into_iter().find(|(found, _)| found == selectors).unwrap_or_else(|| panic!("{selectors}"));
        declarations(&body)
            .filter_map(|(key, value)| Some((key.strip_prefix("--")?.to_owned(), value.strip_prefix('#')?.to_owned())))
            .map(|(key, hex)| {
                let part = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
                (key, [part(0), part(2), part(4)])
            })
            .collect()
    };
    [":root", ":root:not([data-theme=\"light\"])", ":root[data-theme=\"dark\"]"].map(of)
}

fn luminance(color: [u8; 3]) -> f64 {
    let [r, g, b] = color.map(f64::from).map(|part| part / 255.0).map(|part| match part {
        part if part <= 0.04045 => part / 12.92,
        part => ((part + 0.055) / 1.055).powf(2.4),
    });
    0.2126 * r + 0.7152 * g + 0.0722 * b
}

fn ratio(a: [u8; 3], b: [u8; 3]) -> f64 {
    let [a, b] = [a, b].map(|color| luminance(color) + 0.05);
    a.max(b) / a.min(b)
}

/// The name in `var(--name)`.
fn names(value: &str) -> Vec<&str> {
    value.split("var(--").skip(1).filter_map(|rest| rest.split_once(')')).map(|(name, _)| name).collect()
}

/// The declared colours: selectors, property, name, and the least ratio that they need.
fn used() -> Vec<(String, String, String, f64)> {
    let mut found = Vec::new();
    for (selectors, body) in rules() {
        for (key, value) in declarations(&body) {
            let least = match key {
                "fill" if selectors.contains("text") || selectors.contains(".axis") => 4.5,
                "color" => 4.5,
                "fill" | "stroke" | "outline" | "border-color" | "border-left-color" => 3.0,
                "border" | "border-left" | "border-top" | "border-bottom" | "box-shadow" => 3.0,
                _ if key.starts_with("--") || key == "background" => continue,
                _ if value.contains("var(--") => panic!("{selectors}: {key}: {value} is not judged"),
                _ => continue,
            };
            found.extend(
                names(value).into_iter().map(|name| (selectors.clone(), key.to_owned(), name.to_owned(), least)),
            );
        }
    }
    found
}

#[test]
fn the_ratio_is_that_of_the_standard() {
    assert_eq!(ratio([0; 3], [255; 3]), 21.0);
    assert!((ratio([0x76; 3], [255; 3]) - 4.54).abs() < 0.01);
}

#[test]
fn both_dark_schemes_are_one() {
    let [light, system, chosen] = schemes();
    assert_eq!(system, chosen);
    assert!(light.keys().eq(system.keys()) && light.len() > 15, "{light:?}");
}

#[test]
fn text_and_graphics_stand_out() {
    let used = used();
    assert!(used.len() > 50, "{}", used.len());
    let mut faint = Vec::new();
    for (scheme, colors) in ["light", "dark"].into_iter().zip(schemes()) {
        for (selectors, key, name, least) in &used {
            // The track of a bar is a ground of its own, and has an edge.
            if DECORATION.contains(&name.as_str()) || (key.as_str(), name.as_str()) == ("fill", "track") {
                continue;
            }
            for ground in GROUNDS {
                let is = ratio(colors[name], colors[ground]);
                if is < *least {
                    faint.push(format!("{scheme}: {selectors} {{ {key}: {name} }} on {ground}: {is:.2} of {least}"));
                }
            }
        }
        // Text on grounds that only it has.
        for (text, ground) in [("ink", "tag"), ("muted", "tag"), ("ink", "track"), ("accent", "track")] {
            let is = ratio(colors[text], colors[ground]);
            if is < 4.5 {
                faint.push(format!("{scheme}: {text} on {ground}: {is:.2}"));
            }
        }
    }
    assert_eq!(faint, Vec::<String>::new());
}

/// Transparent things have another colour than the sheet says.
#[test]
fn only_the_area_under_a_line_is_transparent() {
    for (selectors, body) in rules() {
        for (key, value) in declarations(&body) {
            assert!(key != "opacity" || value == "1" || selectors == "svg .area", "{selectors}: {key}: {value}");
        }
    }
}

/// What the reader must see has an edge: controls, keys, axes and tracks.
#[test]
fn separators_alone_are_faint() {
    let faint: Vec<String> =
        used().into_iter().filter(|(.., name, _)| name == "line").map(|(selectors, ..)| selectors).collect();
    for meaning in ["button", "input", "select", "kbd", "svg", "summary", ":focus", "sort"] {
        assert!(!faint.iter().any(|selectors| selectors.contains(meaning)), "{meaning}: {faint:?}");
    }
}
