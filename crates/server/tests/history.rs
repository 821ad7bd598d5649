//! The history checker and a real server: the promises are kept while both ends are killed, and a server that does not validate is found out.
//!
//! `cargo test -p tidelock --features break-validation --test history` builds the server that breaks its promise: then the same test expects an anomaly.

use std::process::{Command, Output};

/// Runs `tidelock history` with these arguments.
fn history(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tidelock"));
    command.arg("history").args(args).output().expect("it runs")
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[test]
#[cfg_attr(feature = "break-validation", ignore = "this server breaks its promise")]
fn promises_are_kept_while_server_and_clients_are_killed() {
    let output = history(&["--transactions", "4000", "--kill-every", "1", "--cut-one-in", "100"]);
    let text = text(&output);
    assert!(output.status.success(), "{text}");
    assert!(text.contains("no anomaly at Serializable"), "{text}");
    assert!(!text.contains("the server 0 times") && !text.contains("clients 0 times"), "nobody was killed: {text}");
}

#[test]
#[cfg_attr(feature = "break-validation", ignore = "this server breaks its promise")]
fn the_weaker_levels_keep_theirs() {
    for isolation in ["repeatable read", "read committed"] {
        let output = history(&["--transactions", "1000", "--kill-every", "0", "--isolation", isolation]);
        assert!(output.status.success(), "{isolation}: {}", text(&output));
    }
}

#[test]
#[cfg_attr(not(feature = "break-validation"), ignore = "needs the feature break-validation")]
fn a_server_that_does_not_validate_is_found_out() {
    let output = history(&["--transactions", "4000", "--kill-every", "0", "--cut-one-in", "0"]);
    let text = text(&output);
    assert!(!output.status.success(), "{text}");
    assert!(text.contains("FAILED: G2") || text.contains("FAILED: G-single") || text.contains("FAILED: real time"), "{text}");
}
