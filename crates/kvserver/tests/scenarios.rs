//! Every scenario has a file whose name begins with its number, and the table in README.md names every such file.

use std::path::Path;

/// B1-B18, C1-C12 and D1-D5; C8 is SQL's.
fn scenarios() -> impl Iterator<Item = String> {
    let numbered = [("b", 1..=18), ("c", 1..=12), ("d", 1..=5)];
    let names = numbered.into_iter().flat_map(|(letter, numbers)| numbers.map(move |number| format!("{letter}{number:02}_")));
    names.filter(|name| name != "c08_")
}

fn files() -> Vec<String> {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let in_folder = |folder: &str| std::fs::read_dir(tests.join(folder)).expect("a folder of scripts");
    let entries = in_folder("batcher").chain(in_folder("transaction_scripts"));
    entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn every_scenario_has_a_file() {
    let files = files();
    for scenario in scenarios() {
        assert!(files.iter().any(|file| file.starts_with(&scenario)), "no file for {scenario}");
    }
}

#[test]
fn the_table_names_every_file_of_a_scenario() {
    let table = include_str!("README.md");
    let scenarios: Vec<String> = scenarios().collect();
    for file in files().iter().filter(|file| scenarios.iter().any(|scenario| file.starts_with(scenario))) {
        assert!(table.contains(file.as_str()), "README.md does not name {file}");
    }
}
