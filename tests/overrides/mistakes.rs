//! Mistakes in rules files, and what is said of them.

use super::*;
use samplin_testkit::folder;

/// The tests of this file.
pub(crate) fn trials() -> Vec<Trial> {
    run::trials(&[
        ("mistakes/messages", mistakes),
        ("mistakes/in-the-trace", mistakes_in_the_trace),
        ("mistakes/unreadable", unreadable),
    ])
}

/// The malformed files, each with what is expected beside it.
pub(crate) fn malformed() -> Vec<PathBuf> {
    folder::files(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/rules"), "toml")
}

/// What a file is expected to come to: `line:column: message` for each problem, then `rules: a, b` for those left in force.
fn expected(path: &Path) -> String {
    let path = path.with_extension("expected");
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Each malformed file says what is wrong and where, and the good rules in it stay in force.
fn mistakes() -> Outcome {
    let files = malformed();
    assert!(files.len() >= 30, "{} malformed files", files.len());
    let mut wrong = Vec::new();
    for path in &files {
        let text = std::fs::read_to_string(path).expect("a file");
        let (rules, problems) = Overrides::parse(path, &text);
        let mut lines: Vec<String> = problems
            .iter()
            .map(|p| format!("{}:{}: {}\n", p.line.unwrap_or(0), p.column.unwrap_or(0), p.message))
            .collect();
        let names: Vec<&str> = rules.iter().map(|rule| rule.name.as_str()).collect();
        lines.push(format!("rules: {}\n", names.join(", ")));
        assert!(!problems.is_empty(), "{} is not malformed", path.display());
        let file = path.to_str().expect("UTF-8");
        assert!(problems.iter().all(|problem| problem.file.as_deref() == Some(file)), "{problems:?}");
        if lines.concat() != expected(path) {
            wrong.push(format!("{}:\n{}instead of\n{}", path.display(), lines.concat(), expected(path)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    Ok(())
}

/// The same through the layer: problems become `settings` records, the application runs on under the rules that are good.
fn mistakes_in_the_trace() -> Outcome {
    for path in malformed() {
        let file = path.to_str().expect("UTF-8").to_owned();
        let folder = Folder::new();
        let trace = folder.join("trace.jsonl");
        let builder = Context::builder()
            .without_messenger()
            .samplin()
            .file("trace", &trace)
            .setting("config", &file)
            .setting("trace_level", "all");
        let context = build(&builder)?;
        let scene = Scene::colour(F::R8G8B8A8_UNORM);
        let image = scene.image(&context)?;
        let view = scene.view(&image);
        let sampler = SamplerDesc::nearest().create(&context);
        let pair = Pair::new(&view, &sampler);
        let layout = descriptor::SetLayout::new(&context, &[descriptor::Binding::combined(0, 1)]);
        let pool = descriptor::Pool::new(&context, &[&layout]);
        let set = pool.allocate(&layout);
        descriptor::write_combined(&context, set, (0, 0), &[pair]);
        drop((pool, layout, sampler, view, image));
        drop(context);
        let trace = run::read_trace(&trace);
        let mut lines: Vec<String> = trace
            .events("settings")
            .map(|p| {
                assert_eq!((p["level"].as_str(), p["key"].as_str()), (Some("error"), Some("config")), "{p:#}");
                assert_eq!(p["file"], file, "{p:#}");
                format!("{}:{}: {}\n", p["line"], p["column"], p["message"].as_str().expect("a text"))
            })
            .collect();
        let names = &trace.first("pair")["rules"];
        let names: Vec<&str> = names.as_array().into_iter().flatten().filter_map(Json::as_str).collect();
        lines.push(format!("rules: {}\n", names.join(", ")));
        assert_eq!(lines.concat(), expected(&path), "{file}");
    }
    Ok(())
}

/// A file that cannot be read is said so, once.
fn unreadable() -> Outcome {
    let folder = Folder::new();
    let path = folder.join("no such file.toml");
    let builder = Context::builder().file("config", &path);
    let ((), judged) = with_layer(builder, |_| Ok(()))?;
    let problem = judged.trace.first("settings");
    assert_eq!(judged.trace.events("settings").count(), 1);
    assert_eq!((&problem["level"], &problem["file"]), (&"error".into(), &path.to_str().into()), "{problem:#}");
    let message = problem["message"].as_str().expect("a text");
    assert!(message.starts_with("the rules file cannot be read: "), "{message}");
    Ok(())
}
