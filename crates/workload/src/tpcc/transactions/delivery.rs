//! Delivery (clause 2.7): the oldest new order of each district, all ten in one transaction.
//!
//! `new_order` is a queue: two deliveries of one district meet at its first row, hence `FOR UPDATE`. Everything else that is
//! written is reached by key, the order lines by a prefix of theirs.

use super::{DISTRICTS, Home};
use crate::random::Random;
use crate::{Connection, Value, WorkloadError};

#[derive(Clone, Debug)]
pub(crate) struct Input {
    warehouse: u32,
    carrier: u32,
}

impl Input {
    pub(super) fn choose(home: Home, random: &mut Random) -> Input {
        Input { warehouse: home.warehouse, carrier: random.range(1, 10) }
    }

    pub(super) async fn run(&self, connection: &mut Connection) -> Result<(), WorkloadError> {
        for district in 1..=DISTRICTS {
            self.deliver(connection, district).await?;
        }
        Ok(())
    }

    async fn deliver(&self, connection: &mut Connection, district: u32) -> Result<(), WorkloadError> {
        let (w, d): (Value, Value) = (self.warehouse.into(), district.into());
        let oldest = connection
            .query(
                "select no_o_id from new_order where no_w_id = $1 and no_d_id = $2 order by no_o_id limit 1 for update",
                &[w.clone(), d.clone()],
            )
            .await?;
        let Some(order) = oldest.first() else { return Ok(()) };
        let o: Value = order.int(0)?.into();
        connection
            .execute("delete from new_order where no_w_id = $1 and no_d_id = $2 and no_o_id = $3", &[w.clone(), d.clone(), o.clone()])
            .await?;
        let customer = connection
            .query_one(
                "update orders set o_carrier_id = $1 where o_w_id = $2 and o_d_id = $3 and o_id = $4 returning o_c_id",
                &[self.carrier.into(), w.clone(), d.clone(), o.clone()],
            )
            .await?
            .int(0)?;
        connection
            .execute(
                "update order_line set ol_delivery_d = localtimestamp where ol_w_id = $1 and ol_d_id = $2 and ol_o_id = $3",
                &[w.clone(), d.clone(), o.clone()],
            )
            .await?;
        let total = connection
            .query_one(
                "select sum(ol_amount) from order_line where ol_w_id = $1 and ol_d_id = $2 and ol_o_id = $3",
                &[w.clone(), d.clone(), o],
            )
            .await?
            .decimal(0)?;
        connection
            .execute(
                "update customer set c_balance = c_balance + $1, c_delivery_cnt = c_delivery_cnt + 1 \
                 where c_w_id = $2 and c_d_id = $3 and c_id = $4",
                &[total.into(), w, d, customer.into()],
            )
            .await
    }
}
