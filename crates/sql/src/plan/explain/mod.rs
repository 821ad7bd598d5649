//! EXPLAIN: a plan as text, in PostgreSQL's style, or as JSON.
//!
//! Nodes that PostgreSQL does not have as such are shown as it would show their work: a projection is its input, a condition is a `Filter:` line of the node below it,
//! subqueries hang below the node they are computed for. A scan that locks says so on a line of its own, `locking strength: for no key update`; with the implicit lock off
//! that line is gone and nothing else changes.

mod expr;
mod nodes;

use super::{Estimate, Plan, StatementPlan};
use nodes::Describer;
use serde_json::{Map, Value, json};

/// What to show.
#[derive(Clone, Copy, Debug)]
pub struct ExplainOptions {
    /// Costs, rows and widths.
    pub costs: bool,
}

/// A node as shown.
#[derive(Debug, Default)]
struct Shown {
    /// `Index Scan using t_a on t`
    title: String,
    /// For JSON: `Index Scan`, and what it works on.
    kind: String,
    relation: Option<(String, String)>,
    index: Option<String>,
    /// `Filter`, `(a = 1)`
    lines: Vec<(String, String)>,
    estimate: Estimate,
    /// What the run adds to the title (ANALYZE).
    note: Option<String>,
    children: Vec<Shown>,
    /// `SubPlan 1`, with its plan.
    labelled: Vec<(String, Shown)>,
}

/// The plan as lines of text. `note` may add something to each node's first line (what EXPLAIN ANALYZE measured).
pub fn explain_text(plan: &StatementPlan, options: ExplainOptions, note: &dyn Fn(&Plan) -> Option<String>) -> Vec<String> {
    let mut lines = Vec::new();
    text(&shown(plan, note), 0, None, options, &mut lines);
    lines
}

/// The plan as JSON.
pub fn explain_json(plan: &StatementPlan, options: ExplainOptions, note: &dyn Fn(&Plan) -> Option<String>) -> Value {
    json!([{ "Plan": json_node(&shown(plan, note), options) }])
}

fn shown(plan: &StatementPlan, note: &dyn Fn(&Plan) -> Option<String>) -> Shown {
    let mut describer = Describer::new(plan, note);
    let mut root = describer.describe(&plan.root);
    root.labelled.extend(describer.ctes());
    root
}

/// `arrow` is the column of the node's arrow; the root has none.
fn text(node: &Shown, indent: usize, arrow: Option<usize>, options: ExplainOptions, out: &mut Vec<String>) {
    let mut first = match arrow {
        Some(at) => format!("{}->  {}", " ".repeat(at), node.title),
        None => node.title.clone(),
    };
    if options.costs {
        let e = &node.estimate;
        first.push_str(&format!("  (cost={:.2}..{:.2} rows={:.0} width={})", e.startup, e.total, e.rows, e.width));
    }
    if let Some(note) = &node.note {
        first.push_str(&format!(" {note}"));
    }
    out.push(first);
    let below = arrow.map_or(indent + 2, |at| at + 6);
    for (name, value) in &node.lines {
        out.push(format!("{}{name}: {value}", " ".repeat(below)));
    }
    for (label, child) in &node.labelled {
        out.push(format!("{}{label}", " ".repeat(below)));
        text(child, below, Some(below + 2), options, out);
    }
    for child in &node.children {
        text(child, below, Some(below), options, out);
    }
}

fn json_node(node: &Shown, options: ExplainOptions) -> Value {
    let mut map = Map::new();
    map.insert("Node Type".into(), json!(node.kind));
    if let Some((relation, alias)) = &node.relation {
        map.insert("Relation Name".into(), json!(relation));
        map.insert("Alias".into(), json!(alias));
    }
    if let Some(index) = &node.index {
        map.insert("Index Name".into(), json!(index));
    }
    if options.costs {
        let e = &node.estimate;
        let cents = |x: f64| (x * 100.0).round() / 100.0;
        map.insert("Startup Cost".into(), json!(cents(e.startup)));
        map.insert("Total Cost".into(), json!(cents(e.total)));
        map.insert("Plan Rows".into(), json!(e.rows.round() as i64));
        map.insert("Plan Width".into(), json!(e.width));
    }
    if let Some(note) = &node.note {
        map.insert("Measured".into(), json!(note));
    }
    for (name, value) in &node.lines {
        map.insert(name.clone(), json!(value));
    }
    let labelled = node.labelled.iter().map(|(label, child)| {
        let mut value = json_node(child, options);
        if let Value::Object(map) = &mut value {
            map.insert("Subplan Name".into(), json!(label));
        }
        value
    });
    let plans: Vec<Value> = labelled.chain(node.children.iter().map(|c| json_node(c, options))).collect();
    if !plans.is_empty() {
        map.insert("Plans".into(), Value::Array(plans));
    }
    Value::Object(map)
}
