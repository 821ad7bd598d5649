//! Stock-Level (clause 2.8): recently sold items that run low, read-only; a join over some two hundred order lines.

use super::Home;
use crate::random::Random;
use crate::{Connection, Value, WorkloadError};

#[derive(Clone, Debug)]
pub(crate) struct Input {
    warehouse: u32,
    district: u32,
    threshold: u32,
}

impl Input {
    pub(super) fn choose(home: Home, random: &mut Random) -> Input {
        Input { warehouse: home.warehouse, district: home.district, threshold: random.range(10, 20) }
    }

    pub(super) async fn run(&self, connection: &mut Connection) -> Result<(), WorkloadError> {
        let (w, d): (Value, Value) = (self.warehouse.into(), self.district.into());
        let next = connection
            .query_one("select d_next_o_id from district where d_w_id = $1 and d_id = $2", &[w.clone(), d.clone()])
            .await?
            .int(0)?;
        connection
            .query_one(
                "select count(distinct s_i_id) from order_line join stock on s_w_id = ol_w_id and s_i_id = ol_i_id \
                 where ol_w_id = $1 and ol_d_id = $2 and ol_o_id >= $3 and ol_o_id < $4 and s_quantity < $5",
                &[w, d, (next - 20).into(), next.into(), self.threshold.into()],
            )
            .await?;
        Ok(())
    }
}
