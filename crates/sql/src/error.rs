//! Errors with PostgreSQL's SQLSTATEs, messages and fields: everything a client may see of a failure.

use std::borrow::Cow;

/// A five-character SQLSTATE.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SqlState(pub &'static str);

/// What a client is told when a statement fails. Boxed, because the happy path should not carry its size.
#[derive(Clone, Debug)]
pub struct SqlError(Box<ErrorFields>);

/// The fields of an ErrorResponse that we fill.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct ErrorFields {
    pub state: SqlState,
    pub message: Cow<'static, str>,
    pub detail: Option<String>,
    pub hint: Option<String>,
    /// 1-based character position in the statement text.
    pub position: Option<usize>,
    pub schema: Option<String>,
    pub table: Option<String>,
    pub column: Option<String>,
    pub constraint: Option<String>,
    pub data_type: Option<String>,
    /// The `W` field (COPY line, function context).
    pub context: Option<String>,
    /// The statement may be run again as if it had never started (serialization failure before any row was sent).
    pub retryable: bool,
}

macro_rules! states {
    ($($name:ident = $code:literal),* $(,)?) => {
        #[allow(missing_docs)] // PostgreSQL's condition names
        impl SqlState { $(pub const $name: SqlState = SqlState($code);)* }
    };
}

states! {
    NO_ACTIVE_SQL_TRANSACTION = "25P01",
    ACTIVE_SQL_TRANSACTION = "25001",
    IN_FAILED_SQL_TRANSACTION = "25P02",
    TRANSACTION_TIMEOUT = "25P04",
    READ_ONLY_SQL_TRANSACTION = "25006",
    FEATURE_NOT_SUPPORTED = "0A000",
    INVALID_TRANSACTION_INITIATION = "0B000",
    INVALID_SAVEPOINT_SPECIFICATION = "3B001",
    CARDINALITY_VIOLATION = "21000",
    STRING_DATA_RIGHT_TRUNCATION = "22001",
    NUMERIC_VALUE_OUT_OF_RANGE = "22003",
    NULL_VALUE_NOT_ALLOWED = "22004",
    INVALID_DATETIME_FORMAT = "22007",
    DATETIME_FIELD_OVERFLOW = "22008",
    INVALID_TIME_ZONE_DISPLACEMENT_VALUE = "22009",
    SUBSTRING_ERROR = "22011",
    INTERVAL_FIELD_OVERFLOW = "22015",
    DIVISION_BY_ZERO = "22012",
    INVALID_ESCAPE_SEQUENCE = "22025",
    INVALID_ESCAPE_CHARACTER = "22019",
    CHARACTER_NOT_IN_REPERTOIRE = "22021",
    INVALID_PARAMETER_VALUE = "22023",
    INVALID_TEXT_REPRESENTATION = "22P02",
    INVALID_BINARY_REPRESENTATION = "22P03",
    BAD_COPY_FILE_FORMAT = "22P04",
    ARRAY_SUBSCRIPT_ERROR = "2202E",
    INVALID_ROW_COUNT_IN_LIMIT_CLAUSE = "2201W",
    INVALID_ROW_COUNT_IN_OFFSET_CLAUSE = "2201X",
    INVALID_REGULAR_EXPRESSION = "2201B",
    INVALID_ARGUMENT_FOR_LOGARITHM = "2201E",
    INVALID_ARGUMENT_FOR_POWER_FUNCTION = "2201F",
    SEQUENCE_GENERATOR_LIMIT_EXCEEDED = "2200H",
    NOT_NULL_VIOLATION = "23502",
    FOREIGN_KEY_VIOLATION = "23503",
    UNIQUE_VIOLATION = "23505",
    CHECK_VIOLATION = "23514",
    RESTRICT_VIOLATION = "23001",
    INVALID_CATALOG_NAME = "3D000",
    INVALID_SCHEMA_NAME = "3F000",
    DUPLICATE_DATABASE = "42P04",
    TOO_MANY_CONNECTIONS = "53300",
    INVALID_GRANT_OPERATION = "0LP01",
    SERIALIZATION_FAILURE = "40001",
    STATEMENT_COMPLETION_UNKNOWN = "40003",
    DEADLOCK_DETECTED = "40P01",
    SYNTAX_ERROR = "42601",
    INSUFFICIENT_PRIVILEGE = "42501",
    CANNOT_COERCE = "42846",
    GROUPING_ERROR = "42803",
    WINDOWING_ERROR = "42P20",
    INVALID_RECURSION = "42P19",
    INVALID_FOREIGN_KEY = "42830",
    INVALID_NAME = "42602",
    NAME_TOO_LONG = "42622",
    RESERVED_NAME = "42939",
    DATATYPE_MISMATCH = "42804",
    INDETERMINATE_DATATYPE = "42P18",
    COLLATION_MISMATCH = "42P21",
    WRONG_OBJECT_TYPE = "42809",
    GENERATED_ALWAYS = "428C9",
    UNDEFINED_COLUMN = "42703",
    UNDEFINED_FUNCTION = "42883",
    UNDEFINED_TABLE = "42P01",
    UNDEFINED_PARAMETER = "42P02",
    UNDEFINED_OBJECT = "42704",
    DUPLICATE_COLUMN = "42701",
    DUPLICATE_CURSOR = "42P03",
    DUPLICATE_PREPARED_STATEMENT = "42P05",
    DUPLICATE_SCHEMA = "42P06",
    DUPLICATE_TABLE = "42P07",
    DUPLICATE_ALIAS = "42712",
    DUPLICATE_OBJECT = "42710",
    AMBIGUOUS_COLUMN = "42702",
    AMBIGUOUS_FUNCTION = "42725",
    INVALID_COLUMN_REFERENCE = "42P10",
    INVALID_COLUMN_DEFINITION = "42611",
    INVALID_FUNCTION_DEFINITION = "42P13",
    DUPLICATE_FUNCTION = "42723",
    INVALID_TABLE_DEFINITION = "42P16",
    INVALID_OBJECT_DEFINITION = "42P17",
    WITH_CHECK_OPTION_VIOLATION = "44000",
    DEPENDENT_OBJECTS_STILL_EXIST = "2BP01",
    OBJECT_NOT_IN_PREREQUISITE_STATE = "55000",
    OBJECT_IN_USE = "55006",
    CANT_CHANGE_RUNTIME_PARAM = "55P02",
    LOCK_NOT_AVAILABLE = "55P03",
    QUERY_CANCELED = "57014",
    ADMIN_SHUTDOWN = "57P01",
    CANNOT_CONNECT_NOW = "57P03",
    PROTOCOL_VIOLATION = "08P01",
    PROGRAM_LIMIT_EXCEEDED = "54000",
    STATEMENT_TOO_COMPLEX = "54001",
    TOO_MANY_COLUMNS = "54011",
    TOO_MANY_ARGUMENTS = "54023",
    WARNING = "01000",
    OUT_OF_MEMORY = "53200",
    DISK_FULL = "53100",
    CONFIGURATION_LIMIT_EXCEEDED = "53400",
    SNAPSHOT_TOO_OLD = "72000",
    INVALID_SQL_STATEMENT_NAME = "26000",
    INVALID_CURSOR_NAME = "34000",
    INVALID_CURSOR_STATE = "24000",
    IO_ERROR = "58030",
    INTERNAL_ERROR = "XX000",
    DATA_CORRUPTED = "XX001",
}

impl SqlError {
    /// An error with a state and a message, nothing else yet.
    pub fn new(state: SqlState, message: impl Into<Cow<'static, str>>) -> SqlError {
        SqlError(Box::new(ErrorFields {
            state,
            message: message.into(),
            detail: None,
            hint: None,
            position: None,
            schema: None,
            table: None,
            column: None,
            constraint: None,
            data_type: None,
            context: None,
            retryable: false,
        }))
    }

    /// `0A000`: refused by name rather than accepted and ignored.
    pub fn unsupported(feature: impl std::fmt::Display) -> SqlError {
        SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, format!("{feature} is not supported"))
    }

    /// `22003`: `integer out of range`.
    pub fn out_of_range(type_name: impl std::fmt::Display) -> SqlError {
        SqlError::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, format!("{type_name} out of range"))
    }

    /// `22P02`: `invalid input syntax for type integer: "x"`.
    pub fn invalid_input(type_name: impl std::fmt::Display, text: &str) -> SqlError {
        SqlError::new(SqlState::INVALID_TEXT_REPRESENTATION, format!("invalid input syntax for type {type_name}: \"{text}\""))
    }

    /// `0A000`: `cannot convert NaN to integer`.
    pub fn unsupported_conversion(value: &str, type_name: &str) -> SqlError {
        SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, format!("cannot convert {value} to {type_name}"))
    }

    /// The fields, to read.
    pub fn fields(&self) -> &ErrorFields {
        &self.0
    }

    /// The fields, to fill in more.
    pub fn fields_mut(&mut self) -> &mut ErrorFields {
        &mut self.0
    }

    /// The SQLSTATE.
    pub fn state(&self) -> SqlState {
        self.0.state
    }

    /// Adds DETAIL.
    pub fn detail(mut self, detail: impl Into<String>) -> SqlError {
        self.0.detail = Some(detail.into());
        self
    }

    /// Adds HINT.
    pub fn hint(mut self, hint: impl Into<String>) -> SqlError {
        self.0.hint = Some(hint.into());
        self
    }

    /// Takes the position away.
    pub fn nowhere(mut self) -> SqlError {
        self.0.position = None;
        self
    }

    /// Adds the 1-based character position, unless a deeper one is already there.
    pub fn at(mut self, position: usize) -> SqlError {
        // 0 is a place that is not known.
        if position > 0 {
            self.0.position.get_or_insert(position);
        }
        self
    }
}

impl std::fmt::Display for SqlError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.0.state.0, self.0.message)
    }
}

impl std::error::Error for SqlError {}
