//! New-Order (clause 2.4): the mid-weight read-write transaction that is counted as tpmC.
//!
//! The district's row is locked first: its counter gives the order number, and everybody who orders in the district queues
//! there. Stock is then updated in the order of item numbers.

use super::{DISTRICTS, Home};
use crate::random::Random;
use crate::{Connection, Decimal, Value, WorkloadError};

/// An item number that does not exist: 1 % of orders are rolled back over it.
const UNUSED_ITEM: u32 = 999_999;

#[derive(Clone, Debug)]
pub(crate) struct Input {
    warehouse: u32,
    district: u32,
    customer: u32,
    lines: Vec<Line>,
}

#[derive(Clone, Debug)]
struct Line {
    item: u32,
    supplier: u32,
    quantity: u32,
}

impl Input {
    pub(super) fn choose(home: Home, random: &mut Random) -> Input {
        let count = random.range(5, 15);
        let mut lines: Vec<Line> = (0..count)
            .map(|_| Line {
                item: random.item_id(),
                supplier: if random.percent(1) { home.other_warehouse(random) } else { home.warehouse },
                quantity: random.range(1, 10),
            })
            .collect();
        lines.sort_by_key(|line| (line.supplier, line.item));
        // Two lines for one item are one order of both.
        lines.dedup_by(|later, first| later.item == first.item && later.supplier == first.supplier);
        if random.percent(1)
            && let Some(last) = lines.last_mut()
        {
            last.item = UNUSED_ITEM;
        }
        Input { warehouse: home.warehouse, district: random.range(1, DISTRICTS), customer: random.customer_id(), lines }
    }

    pub(super) async fn run(&self, connection: &mut Connection) -> Result<bool, WorkloadError> {
        let (w, d, c): (Value, Value, Value) = (self.warehouse.into(), self.district.into(), self.customer.into());
        let district = connection
            .query_one(
                "update district set d_next_o_id = d_next_o_id + 1 where d_w_id = $1 and d_id = $2 returning d_next_o_id - 1, d_tax",
                &[w.clone(), d.clone()],
            )
            .await?;
        let (order, _d_tax) = (district.int(0)?, district.decimal(1)?);
        let _w_tax = connection.query_one("select w_tax from warehouse where w_id = $1", std::slice::from_ref(&w)).await?;
        let _customer = connection
            .query_one(
                "select c_discount, c_last, c_credit from customer where c_w_id = $1 and c_d_id = $2 and c_id = $3",
                &[w.clone(), d.clone(), c.clone()],
            )
            .await?;
        let all_local = i32::from(self.lines.iter().all(|line| line.supplier == self.warehouse));
        connection
            .execute(
                "insert into orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local) values ($1, $2, $3, $4, localtimestamp, $5, $6)",
                &[order.into(), d.clone(), w.clone(), c, (self.lines.len() as u32).into(), all_local.into()],
            )
            .await?;
        connection
            .execute("insert into new_order (no_o_id, no_d_id, no_w_id) values ($1, $2, $3)", &[order.into(), d.clone(), w.clone()])
            .await?;
        for (number, line) in (1u32..).zip(&self.lines) {
            if !self.order_line(connection, order, number, line).await? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    async fn order_line(&self, connection: &mut Connection, order: i32, number: u32, line: &Line) -> Result<bool, WorkloadError> {
        let items = connection.query("select i_price, i_name, i_data from item where i_id = $1", &[line.item.into()]).await?;
        let Some(item) = items.first() else { return Ok(false) };
        let price = item.decimal(0)?;
        let remote = i32::from(line.supplier != self.warehouse);
        let stock = connection
            .query_one(update_stock(self.district), &[line.quantity.into(), remote.into(), line.supplier.into(), line.item.into()])
            .await?;
        let info = stock.text(1)?;
        let amount = Decimal::cents(price.with_scale(2).units * i64::from(line.quantity));
        connection
            .execute(
                "insert into order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_dist_info) \
                 values ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
                &[
                    order.into(),
                    self.district.into(),
                    self.warehouse.into(),
                    number.into(),
                    line.item.into(),
                    line.supplier.into(),
                    line.quantity.into(),
                    amount.into(),
                    info.into(),
                ],
            )
            .await?;
        Ok(true)
    }
}

macro_rules! stock_statements {
    ($($dist:literal),*) => {
        [$(concat!(
            "update stock set s_quantity = case when s_quantity >= $1 + 10 then s_quantity - $1 else s_quantity - $1 + 91 end, ",
            "s_ytd = s_ytd + $1, s_order_cnt = s_order_cnt + 1, s_remote_cnt = s_remote_cnt + $2 ",
            "where s_w_id = $3 and s_i_id = $4 returning s_quantity, s_dist_", $dist, ", s_data"
        )),*]
    };
}

/// The statement names the column that belongs to the district.
fn update_stock(district: u32) -> &'static str {
    const STATEMENTS: [&str; 10] = stock_statements!("01", "02", "03", "04", "05", "06", "07", "08", "09", "10");
    STATEMENTS[(district - 1) as usize % STATEMENTS.len()]
}
