//! COPY, being wired.
use super::Session;
use super::client::Client;
use crate::ast::Copy;
use crate::error::SqlError;
impl Session {
    pub(super) async fn copy(&mut self, _copy: &Copy, _client: &mut dyn Client) -> Result<String, SqlError> {
        Err(SqlError::unsupported("COPY"))
    }
}
