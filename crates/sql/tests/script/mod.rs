//! Runs a script of blocks: input lines, `----`, expected lines, a blank line.

use std::fmt::Write;

/// Compares each block's result with what is written, or writes it when `REGENERATE` is set.
pub(crate) fn run(path: &str, mut outcome: impl FnMut(&str) -> String) {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    let text = std::fs::read_to_string(&path).expect("the script exists");
    let (mut written, mut differences) = (String::new(), 0);
    let mut lines = text.lines().peekable();
    while lines.peek().is_some() {
        let input: Vec<&str> = lines.by_ref().take_while(|line| *line != "----").collect();
        let expected: Vec<&str> = lines.by_ref().take_while(|line| !line.is_empty()).collect();
        let comment = input.iter().take_while(|l| l.starts_with("# ") || l.is_empty()).count();
        let sql = input[comment..].join("\n");
        if sql.trim().is_empty() {
            continue;
        }
        let result = outcome(&sql);
        if result != expected.join("\n") {
            differences += 1;
            println!("{sql}\n  expected: {}\n  found:    {result}\n", expected.join("\n"));
        }
        for line in input[..comment].iter().filter(|line| !line.is_empty()) {
            writeln!(written, "{line}").expect("writing to a string");
        }
        writeln!(written, "{sql}\n----\n{result}\n").expect("writing to a string");
    }
    if std::env::var_os("REGENERATE").is_some() {
        std::fs::write(&path, written).expect("the script can be written");
    } else {
        assert_eq!(differences, 0, "blocks that differ in {}", path.display());
    }
}
