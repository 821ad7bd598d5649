//! stub
use super::ExecContext;
use crate::ast::Statement;
use crate::error::SqlError;
/// Runs a definition.
pub async fn run_ddl(statement: &Statement, _ctx: &mut ExecContext<'_>) -> Result<&'static str, SqlError> {
    Err(SqlError::unsupported(statement.tag()))
}
