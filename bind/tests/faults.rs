//! Each test that `faults.md` names is there.

use std::path::Path;

#[test]
fn each_test_of_the_table_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let read = |path: &str| std::fs::read_to_string(root.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
    let table = read("bind/tests/faults.md");
    let mut seen = 0;
    for row in table.lines().filter(|line| line.starts_with("| ")) {
        let shown = row.split(" | ").nth(1).unwrap();
        let mut words = shown.split('`').skip(1).step_by(2);
        while let Some(file) = words.next() {
            let name = words.next().unwrap_or_else(|| panic!("{file}: no test"));
            assert!(read(file).contains(&format!("fn {name}(")), "{file}: no {name}");
            seen += 1;
        }
    }
    assert!(seen > 15, "{seen} tests");
}
