//! Planner scripts: a statement, then its plan as EXPLAIN prints it (or the error). See `tests/parse.rs` for the form and how to regenerate.
//!
//! A first line `-- off` plans with the implicit row lock off, `-- scans` without point gets.

use std::fmt::Write;
use tidelock_sql::error::SqlError;
use tidelock_sql::expr::EvalContext;
use tidelock_sql::parse::{LiftedLiteral, normalise, parse};
use tidelock_sql::plan::explain::{ExplainOptions, explain_text};
use tidelock_sql::plan::keys::concrete_spans;
use tidelock_sql::plan::{Plan, PlanNode, PlanSettings, Scan, plan_statement};
use tidelock_sql::types::{DataType, FormatSettings};

mod schema;
mod script;
mod validate;

fn shown(error: &SqlError) -> String {
    let fields = error.fields();
    let mut text = format!("error {}: {}", fields.state.0, fields.message);
    if let Some(position) = fields.position {
        write!(text, " @{position}").expect("writing to a string");
    }
    for (name, part) in [("detail", &fields.detail), ("hint", &fields.hint)] {
        if let Some(part) = part {
            write!(text, "\n{name}: {part}").expect("writing to a string");
        }
    }
    text
}

fn settings(sql: &str) -> PlanSettings {
    PlanSettings {
        implicit_select_for_update: !sql.starts_with("-- off"),
        point_gets: !sql.starts_with("-- scans"),
        ..PlanSettings::default()
    }
}

fn catalog() -> std::sync::Arc<tidelock_sql::catalog::Catalog> {
    let bare = schema::catalog(include_str!("plan/schema.sql"));
    let rows = [
        ("customer", 30_000.0),
        ("orders", 30_000.0),
        ("order_line", 300_000.0),
        ("stock", 100_000.0),
        ("district", 10.0),
        ("new_order", 9_000.0),
    ];
    schema::with_rows(&bare, &rows)
}

fn plan_text(sql: &str) -> Result<String, SqlError> {
    let catalog = catalog();
    let parsed = parse(sql)?;
    let plan = plan_statement(&parsed[0].statement, &catalog, &settings(sql), &[])?;
    validate::validate(&plan);
    Ok(explain_text(&plan, ExplainOptions { costs: false }, &|_| None).join("\n"))
}

#[test]
fn plans() {
    for path in
        ["tests/plan/access.txt", "tests/plan/joins.txt", "tests/plan/locks.txt", "tests/plan/shapes.txt", "tests/plan/accepted.txt"]
    {
        script::run(path, |sql| plan_text(sql).unwrap_or_else(|e| shown(&e)));
    }
}

/// Types of results and parameters, and what is refused.
#[test]
fn types() {
    let catalog = catalog();
    script::run("tests/plan/types.txt", |sql| {
        let described = parse(sql).and_then(|parsed| plan_statement(&parsed[0].statement, &catalog, &settings(sql), &[]));
        match described {
            Ok(plan) => {
                validate::validate(&plan);
                let params: Vec<String> = plan.param_types.iter().map(DataType::to_string).collect();
                let columns: Vec<String> = plan.output.iter().map(|c| format!("{} {} {}.{}", c.name, c.ty, c.table, c.attnum)).collect();
                format!("params: {}\ncolumns: {}", params.join(", "), columns.join(", "))
            }
            Err(error) => shown(&error),
        }
    });
}

/// The scan at the bottom of a plan.
fn scan(plan: &Plan) -> &Scan {
    match &plan.node {
        PlanNode::Scan(scan) => scan,
        PlanNode::Project { input, .. } | PlanNode::Limit { input, .. } | PlanNode::Filter { input, .. } => scan(input),
        other => panic!("no scan in {other:?}"),
    }
}

/// Key expressions become key bounds: what fits the column's type, what doesn't, NULLs, duplicates.
#[test]
fn spans() {
    let catalog = catalog();
    script::run("tests/plan/spans.txt", |sql| {
        let parsed = parse(sql).expect("it parses");
        let plan = plan_statement(&parsed[0].statement, &catalog, &PlanSettings::default(), &[]).expect("it plans");
        let settings = FormatSettings::default();
        match concrete_spans(scan(&plan.root), &EvalContext::bare(&settings)) {
            Ok(spans) if spans.is_empty() => "nothing".into(),
            Ok(spans) => spans.iter().map(|s| format!("{:?} {:?} {:?}", s.prefix, s.lower, s.upper)).collect::<Vec<_>>().join("\n"),
            Err(error) => shown(&error),
        }
    });
}

/// The deepest expressions that parse also plan, on a thread with the stack of a server's worker.
#[test]
fn bounds() {
    let run = || {
        let planned = |sql: &str| plan_text(sql).map_err(|e| shown(&e)).map(drop);
        assert_eq!(planned(&format!("SELECT a{} FROM t", " + a".repeat(490))), Ok(()));
        assert_eq!(planned(&format!("SELECT {}a{} FROM t", "(1 + ".repeat(290), ")".repeat(290))), Ok(()));
        assert_eq!(planned(&format!("SELECT * FROM t WHERE a = 0{}", " OR d = 1".repeat(20_000))), Ok(()));
        assert_eq!(planned(&format!("SELECT {}1{}", "(SELECT ".repeat(90), ")".repeat(90))), Ok(()));
        assert!(planned(&format!("SELECT {}1{}", "(SELECT ".repeat(290), ")".repeat(290))).is_err_and(|e| e.starts_with("error 54001")));
        assert_eq!(planned(&format!("SELECT 1{}", " UNION ALL SELECT 1".repeat(400))), Ok(()));
        let literal = "x".repeat(10 << 20);
        assert_eq!(planned(&format!("SELECT a FROM t WHERE b = '{literal}'")), Ok(()));
    };
    std::thread::Builder::new().stack_size(2 << 20).spawn(run).expect("a thread").join().expect("no panic");
}

/// A statement whose literals were lifted out means the same: it plans, and its result has the same columns.
#[test]
fn lifted() {
    let catalog = catalog();
    let mut seen = 0;
    for file in ["access", "joins", "locks", "shapes", "accepted", "types"] {
        let text = std::fs::read_to_string(format!("{}/tests/plan/{file}.txt", env!("CARGO_MANIFEST_DIR"))).expect("the script");
        for block in text.split("\n\n") {
            let sql = block.split("\n----\n").next().unwrap_or_default();
            let Some(lifted) = normalise(sql) else { continue };
            let described = |sql: &str, types: &[DataType]| {
                let parsed = parse(sql)?;
                let plan = plan_statement(&parsed[0].statement, &catalog, &PlanSettings::default(), types)?;
                Ok(plan.output.iter().map(|c| format!("{} {}", c.name, c.ty)).collect::<Vec<_>>())
            };
            let Ok(plain): Result<_, SqlError> = described(sql, &[]) else { continue };
            let types: Vec<DataType> = lifted
                .literals
                .iter()
                .map(|literal| match literal {
                    LiftedLiteral::Int4(_) => DataType::INT4,
                    LiftedLiteral::Int8(_) => DataType::INT8,
                    LiftedLiteral::Numeric(_) => DataType::NUMERIC,
                    LiftedLiteral::Unknown(_) => DataType::UNKNOWN,
                })
                .collect();
            match described(&lifted.text, &types) {
                Ok(columns) => assert_eq!(columns, plain, "{sql}"),
                Err(error) => panic!("{sql}\n{}\n{}", lifted.text, shown(&error)),
            }
            seen += 1;
        }
    }
    assert!(seen > 50, "only {seen} statements were lifted");
}
