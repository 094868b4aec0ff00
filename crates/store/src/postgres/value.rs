//! Values on their way to PostgreSQL and back: four kinds, whatever width the server infers.

use std::error::Error;

use kernel::{
    Fault,
    tx::{Row, Sql, Val},
};
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, private::BytesMut};

/// A value as an argument.
#[derive(Debug)]
pub(super) struct Arg<'v>(pub(super) &'v Val);

impl ToSql for Arg<'_> {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match (self.0, ty) {
            (Val::Null, _) => Ok(IsNull::Yes),
            (Val::I64(number), &Type::INT8) => number.to_sql(ty, out),
            (Val::I64(number), &Type::INT4) => i32::try_from(*number)?.to_sql(ty, out),
            (Val::I64(number), &Type::INT2) => i16::try_from(*number)?.to_sql(ty, out),
            (Val::Text(text), &(Type::TEXT | Type::VARCHAR | Type::NAME | Type::UNKNOWN)) => {
                text.as_str().to_sql(ty, out)
            }
            (Val::Blob(bytes), &Type::BYTEA) => bytes.as_slice().to_sql(ty, out),
            _ => Err(format!("an argument's kind does not fit the type {ty}").into()),
        }
    }

    fn accepts(_: &Type) -> bool {
        // What fits is decided value by value.
        true
    }

    tokio_postgres::types::to_sql_checked!();
}

/// A column of any of the types that the portable subset can answer.
struct Column(Val);

impl<'r> FromSql<'r> for Column {
    fn from_sql(ty: &Type, raw: &'r [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self(match *ty {
            Type::INT8 => Val::I64(i64::from_sql(ty, raw)?),
            Type::INT4 => Val::I64(i32::from_sql(ty, raw)?.into()),
            Type::INT2 => Val::I64(i16::from_sql(ty, raw)?.into()),
            // SQLite answers a condition as 0 or 1.
            Type::BOOL => Val::I64(bool::from_sql(ty, raw)?.into()),
            Type::TEXT | Type::VARCHAR | Type::NAME | Type::BPCHAR => Val::Text(String::from_sql(ty, raw)?),
            Type::BYTEA => Val::Blob(raw.to_vec()),
            _ => return Err(format!("the type {ty} is outside the portable subset; cast it").into()),
        }))
    }

    fn from_sql_null(_: &Type) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self(Val::Null))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

pub(super) fn row(sql: &Sql, row: &tokio_postgres::Row) -> Result<Row, Fault> {
    let column = |index| match row.try_get::<_, Column>(index) {
        Ok(Column(value)) => Ok(value),
        Err(error) => {
            Err(Fault::internal(format_args!("{}: {}", sql.name, super::address::described(&error))))
        }
    };
    (0..row.len()).map(column).collect::<Result<_, _>>().map(Row)
}
