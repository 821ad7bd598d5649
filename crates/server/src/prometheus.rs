//! Counters in Prometheus's text format.

use std::fmt::Write as _;

/// `kv.requests.get` becomes `tidelock_kv_requests_get`. Without a TYPE line Prometheus takes a metric as untyped, which is
/// right for a list that mixes counters and gauges.
pub(crate) fn render(metrics: &[(String, f64)]) -> String {
    let mut page = String::with_capacity(metrics.len() * 48);
    for (name, value) in metrics {
        page.push_str("tidelock_");
        page.extend(name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }));
        // Writing to a string cannot fail.
        let _ = writeln!(page, " {value}");
    }
    page
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_become_prometheus_names() {
        let page = super::render(&[("kv.requests.get".into(), 3.0), ("storage.commits_per_sync".into(), 1.5)]);
        assert_eq!(page, "tidelock_kv_requests_get 3\ntidelock_storage_commits_per_sync 1.5\n");
    }
}
