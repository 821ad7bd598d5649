//! The rules of the house, as tests: arrows between crates, libraries that only one crate may name, stories at the head of files.

use std::collections::BTreeMap;
use std::fs;
use tidelock_testkit::{rust_files, workspace_root};

/// Who may import whom (DESIGN: the two floors meet only in `kvapi`).
fn allowed() -> BTreeMap<&'static str, Vec<&'static str>> {
    BTreeMap::from([
        ("base", vec![]),
        ("kvapi", vec!["base"]),
        ("storage", vec!["base"]),
        ("kvserver", vec!["base", "kvapi", "storage"]),
        ("kvclient", vec!["base", "kvapi"]),
        ("sql", vec!["base", "kvapi", "kvclient"]),
        ("wire", vec!["base", "sql"]),
        ("server", vec!["base", "kvapi", "storage", "kvserver", "kvclient", "sql", "wire", "workload", "testkit"]),
        ("workload", vec![]),
        ("testkit", vec!["base", "kvapi", "storage", "kvserver", "kvclient"]),
    ])
}

#[test]
fn arrows_between_crates_point_the_right_way() {
    for (name, allowed) in allowed() {
        let manifest = workspace_root().join("crates").join(name).join("Cargo.toml");
        let text = fs::read_to_string(&manifest).expect("every crate has a manifest");
        let dependencies = text.split("[dependencies]").nth(1).expect("a list of dependencies");
        let dependencies = dependencies.split("\n[").next().unwrap_or(dependencies);
        for line in dependencies.lines() {
            let Some(rest) = line.strip_prefix("tidelock-") else { continue };
            let other = rest.split([' ', '=']).next().unwrap_or(rest);
            assert!(allowed.contains(&other), "{name} must not import {other}");
        }
    }
}

#[test]
fn libraries_stay_where_they_belong() {
    let owners = [("pgwire", "crates/wire/"), ("sqlparser", "crates/sql/src/parse/"), ("redb", "crates/storage/")];
    for file in sources() {
        let text = fs::read_to_string(&file).expect("a source file");
        let path = file.strip_prefix(workspace_root()).expect("inside the workspace").to_string_lossy().into_owned();
        for (library, owner) in owners {
            let names_it = text.lines().any(|line| {
                let code = line.trim_start();
                !code.starts_with("//") && (code.contains(&format!("use {library}")) || code.contains(&format!("{library}::")))
            });
            assert!(!names_it || path.starts_with(owner), "{path} names {library}, which belongs to {owner}");
        }
    }
}

#[test]
fn every_file_opens_with_its_story() {
    for file in sources() {
        let text = fs::read_to_string(&file).expect("a source file");
        assert!(text.starts_with("//!"), "{} does not say what it is", file.display());
    }
}

#[test]
fn nothing_is_unsafe_or_left_to_do() {
    for file in sources().into_iter().filter(|file| !file.ends_with("tests/house.rs")) {
        let text = fs::read_to_string(&file).expect("a source file");
        for word in ["todo!(", "unimplemented!(", "unsafe {", "unsafe fn", "dbg!("] {
            assert!(!text.contains(word), "{} contains {word}", file.display());
        }
    }
}

fn sources() -> Vec<std::path::PathBuf> {
    let files = rust_files(&workspace_root().join("crates")).expect("the sources can be listed");
    assert!(files.len() > 100, "the sources are gone");
    files
}
