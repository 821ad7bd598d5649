//! What tests need that no crate owns.
//!
//! - [`sim`]: a store, its clients and its disk in one deterministic simulation (`tidelock sim`);
//! - [`history`]: does a history keep the promises of its isolation level?
//! - checks of the house itself, in `tests/house.rs`: which crate may import which, who may name which library, whether files tell their story.
//!   What they need to find their way about the workspace is here.

#![forbid(unsafe_code)]

pub mod history;
pub mod random;
pub mod sim;

use std::path::{Path, PathBuf};

/// The workspace's root folder.
pub fn workspace_root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_path_buf()
}

/// Every Rust source file below a folder, sorted.
pub fn rust_files(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}
