//! Order-Status (clause 2.6): a customer's last order, read-only.

use super::{Customer, DISTRICTS, Home};
use crate::random::Random;
use crate::{Connection, Value, WorkloadError};

#[derive(Clone, Debug)]
pub(crate) struct Input {
    warehouse: u32,
    district: u32,
    customer: Customer,
}

impl Input {
    pub(super) fn choose(home: Home, random: &mut Random) -> Input {
        Input { warehouse: home.warehouse, district: random.range(1, DISTRICTS), customer: Customer::choose(random) }
    }

    pub(super) async fn run(&self, connection: &mut Connection) -> Result<(), WorkloadError> {
        let c = self.customer.find(connection, self.warehouse, self.district).await?;
        let (w, d, c): (Value, Value, Value) = (self.warehouse.into(), self.district.into(), c.into());
        connection
            .query_one(
                "select c_balance, c_first, c_middle, c_last from customer where c_w_id = $1 and c_d_id = $2 and c_id = $3",
                &[w.clone(), d.clone(), c.clone()],
            )
            .await?;
        let orders = connection
            .query(
                "select o_id, o_entry_d, o_carrier_id from orders where o_w_id = $1 and o_d_id = $2 and o_c_id = $3 order by o_id desc limit 1",
                &[w.clone(), d.clone(), c],
            )
            .await?;
        let Some(order) = orders.first() else { return Ok(()) };
        connection
            .query(
                "select ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d from order_line \
                 where ol_w_id = $1 and ol_d_id = $2 and ol_o_id = $3",
                &[w, d, order.int(0)?.into()],
            )
            .await?;
        Ok(())
    }
}
