//! The five transactions, one file each: what is read and written, in which order, and why that order.
//!
//! Rows that many transactions want are locked early and in one order everywhere (warehouse, district, customer, stock by
//! item), so that deadlocks are rare.

mod delivery;
mod new_order;
mod order_status;
mod payment;
mod stock_level;

use super::DISTRICTS;
use crate::random::Random;
use crate::{Connection, Value, WorkloadError};

/// Which transaction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    /// Enters an order of 5 to 15 lines.
    NewOrder,
    /// Takes a customer's money.
    Payment,
    /// Asks for a customer's last order.
    OrderStatus,
    /// Delivers the oldest order of each district.
    Delivery,
    /// Counts recently sold items that run low.
    StockLevel,
}

impl Kind {
    /// All five.
    pub const ALL: [Kind; 5] = [Kind::NewOrder, Kind::Payment, Kind::OrderStatus, Kind::Delivery, Kind::StockLevel];

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Kind::NewOrder => "new_order",
            Kind::Payment => "payment",
            Kind::OrderStatus => "order_status",
            Kind::Delivery => "delivery",
            Kind::StockLevel => "stock_level",
        }
    }

    /// Writes nothing?
    pub fn is_read_only(self) -> bool {
        matches!(self, Kind::OrderStatus | Kind::StockLevel)
    }

    /// Keying and thinking time in seconds (clause 5.2.5.7).
    pub(crate) fn pause_seconds(self) -> (f64, f64) {
        match self {
            Kind::NewOrder => (18.0, 12.0),
            Kind::Payment => (3.0, 12.0),
            Kind::OrderStatus => (2.0, 10.0),
            Kind::Delivery => (2.0, 5.0),
            Kind::StockLevel => (2.0, 5.0),
        }
    }
}

/// A terminal's place in the business.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Home {
    pub(crate) warehouse: u32,
    pub(crate) district: u32,
    pub(crate) warehouses: u32,
}

impl Home {
    /// Another warehouse than this, if there is one.
    fn other_warehouse(&self, random: &mut Random) -> u32 {
        if self.warehouses == 1 {
            return self.warehouse;
        }
        let other = random.range(1, self.warehouses - 1);
        if other >= self.warehouse { other + 1 } else { other }
    }
}

/// A transaction with all its choices made: run again after a conflict, it does the same.
#[derive(Clone, Debug)]
pub(crate) enum Input {
    NewOrder(new_order::Input),
    Payment(payment::Input),
    OrderStatus(order_status::Input),
    Delivery(delivery::Input),
    StockLevel(stock_level::Input),
}

impl Input {
    pub(crate) fn choose(kind: Kind, home: Home, random: &mut Random) -> Input {
        match kind {
            Kind::NewOrder => Input::NewOrder(new_order::Input::choose(home, random)),
            Kind::Payment => Input::Payment(payment::Input::choose(home, random)),
            Kind::OrderStatus => Input::OrderStatus(order_status::Input::choose(home, random)),
            Kind::Delivery => Input::Delivery(delivery::Input::choose(home, random)),
            Kind::StockLevel => Input::StockLevel(stock_level::Input::choose(home, random)),
        }
    }

    /// Runs the body, between BEGIN and COMMIT. `Ok(false)`: the user changed his mind, roll back.
    pub(crate) async fn run(&self, connection: &mut Connection) -> Result<bool, WorkloadError> {
        match self {
            Input::NewOrder(input) => return input.run(connection).await,
            Input::Payment(input) => input.run(connection).await?,
            Input::OrderStatus(input) => input.run(connection).await?,
            Input::Delivery(input) => input.run(connection).await?,
            Input::StockLevel(input) => input.run(connection).await?,
        }
        Ok(true)
    }
}

/// How a customer is named: 60 % by last name.
#[derive(Clone, Debug)]
enum Customer {
    Id(u32),
    Name(String),
}

impl Customer {
    fn choose(random: &mut Random) -> Customer {
        if random.percent(60) { Customer::Name(random.last_name()) } else { Customer::Id(random.customer_id()) }
    }

    /// The id; of those with the same name, the one in the middle by first name.
    async fn find(&self, connection: &mut Connection, w: u32, d: u32) -> Result<u32, WorkloadError> {
        let name = match self {
            Customer::Id(id) => return Ok(*id),
            Customer::Name(name) => name.clone(),
        };
        let sql = "select c_id from customer where c_w_id = $1 and c_d_id = $2 and c_last = $3 order by c_first";
        let rows = connection.query(sql, &[w.into(), d.into(), Value::Text(name.clone())]).await?;
        let middle = rows.get(rows.len().saturating_sub(1) / 2);
        let row = middle.ok_or_else(|| WorkloadError::Unexpected(format!("no customer is named {name}")))?;
        Ok(row.int(0)? as u32)
    }
}
