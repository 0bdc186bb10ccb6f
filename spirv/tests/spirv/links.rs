//! Links against the tables in the shaders, which were written by hand.

use samplin_spirv::Module;

use crate::corpus::{shaders, text};

#[test]
fn links_are_those_of_the_tables() {
    let (mut tables, mut links) = (0, 0);
    let mut wrong = String::new();
    for shader in shaders() {
        let module = Module::read(&shader.words).unwrap_or_else(|error| panic!("{}: {error}", shader.file));
        for table in &shader.tables {
            let found = table.specialized(|values| module.links(&table.name, table.model, values));
            let mut found: Vec<String> = found.expect("links").iter().map(text).collect();
            found.sort();
            if found != table.links {
                wrong += &format!("{} {}:\n  {found:#?}\n  instead of {:#?}\n", shader.file, table.name, table.links);
            }
            tables += 1;
            links += found.len();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    println!("{} shaders, {tables} tables, {links} links", shaders().len());
    assert!(shaders().len() >= 40, "only {} shaders", shaders().len());
}
