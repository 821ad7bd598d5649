//! What a value must hold to be one of a domain.

use super::{EvalContext, Expr, eval};
use crate::error::{SqlError, SqlState};
use crate::types::Datum;

/// A domain's constraints, its parents' included, bound.
#[derive(Clone, Debug)]
pub struct DomainChecks {
    /// Schema and name, for errors.
    pub schema: String,
    /// The name as messages show it.
    pub name: String,
    /// The name alone.
    pub bare: String,
    /// NOT NULL.
    pub not_null: bool,
    /// Names and predicates, in the order in which they are checked; slot 0 of their row is the value.
    pub checks: Vec<(String, Expr)>,
    /// The value is an array, and its elements are of the domain.
    pub of_elements: bool,
}

impl DomainChecks {
    /// Refuses a value (or an array with an element) that is none of the domain.
    pub fn check(&self, value: &Datum, ctx: &EvalContext<'_>) -> Result<(), SqlError> {
        match value {
            Datum::Array(array) if self.of_elements => array.elements.iter().try_for_each(|element| self.check_one(element, ctx)),
            Datum::Null if self.of_elements => Ok(()),
            value => self.check_one(value, ctx),
        }
    }

    fn check_one(&self, value: &Datum, ctx: &EvalContext<'_>) -> Result<(), SqlError> {
        if self.not_null && value.is_null() {
            let message = format!("domain {} does not allow null values", self.name);
            return Err(self.violated(SqlError::new(SqlState::NOT_NULL_VIOLATION, message)));
        }
        for (name, predicate) in &self.checks {
            // Unknown is no violation.
            if matches!(eval(predicate, std::slice::from_ref(value), ctx)?, Datum::Bool(false)) {
                let message = format!("value for domain {} violates check constraint \"{name}\"", self.name);
                let mut error = self.violated(SqlError::new(SqlState::CHECK_VIOLATION, message));
                error.fields_mut().constraint = Some(name.clone());
                return Err(error);
            }
        }
        Ok(())
    }

    fn violated(&self, mut error: SqlError) -> SqlError {
        let fields = error.fields_mut();
        (fields.schema, fields.data_type) = (Some(self.schema.clone()), Some(self.bare.clone()));
        error
    }
}
