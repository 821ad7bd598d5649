//! Payment (clause 2.5): light, and hot: each one rewrites its warehouse's and its district's row.

use super::{Customer, DISTRICTS, Home};
use crate::random::Random;
use crate::{Connection, Decimal, Value, WorkloadError};

#[derive(Clone, Debug)]
pub(crate) struct Input {
    warehouse: u32,
    district: u32,
    customer_warehouse: u32,
    customer_district: u32,
    customer: Customer,
    amount: Decimal,
}

impl Input {
    pub(super) fn choose(home: Home, random: &mut Random) -> Input {
        let district = random.range(1, DISTRICTS);
        // 15 % of the customers live elsewhere.
        let remote = home.warehouses > 1 && random.percent(15);
        Input {
            warehouse: home.warehouse,
            district,
            customer_warehouse: if remote { home.other_warehouse(random) } else { home.warehouse },
            customer_district: if remote { random.range(1, DISTRICTS) } else { district },
            customer: Customer::choose(random),
            amount: Decimal::cents(i64::from(random.range(100, 500_000))),
        }
    }

    pub(super) async fn run(&self, connection: &mut Connection) -> Result<(), WorkloadError> {
        let (w, d): (Value, Value) = (self.warehouse.into(), self.district.into());
        let amount: Value = self.amount.into();
        let warehouse = connection
            .query_one(
                "update warehouse set w_ytd = w_ytd + $1 where w_id = $2 \
                 returning w_name, w_street_1, w_street_2, w_city, w_state, w_zip",
                &[amount.clone(), w.clone()],
            )
            .await?;
        let district = connection
            .query_one(
                "update district set d_ytd = d_ytd + $1 where d_w_id = $2 and d_id = $3 \
                 returning d_name, d_street_1, d_street_2, d_city, d_state, d_zip",
                &[amount.clone(), w.clone(), d.clone()],
            )
            .await?;
        let id = self.customer.find(connection, self.customer_warehouse, self.customer_district).await?;
        let (c_w, c_d, c): (Value, Value, Value) = (self.customer_warehouse.into(), self.customer_district.into(), id.into());
        let customer = connection
            .query_one(
                "update customer set c_balance = c_balance - $1, c_ytd_payment = c_ytd_payment + $1, c_payment_cnt = c_payment_cnt + 1 \
                 where c_w_id = $2 and c_d_id = $3 and c_id = $4 \
                 returning c_first, c_middle, c_last, c_credit, c_credit_lim, c_discount, c_balance",
                &[amount.clone(), c_w.clone(), c_d.clone(), c.clone()],
            )
            .await?;
        if customer.text(3)? == "BC" {
            let numbers = [id, self.customer_district, self.customer_warehouse, self.district, self.warehouse];
            let note = format!("{} {} ", numbers.map(|n| n.to_string()).join(" "), self.amount);
            connection
                .execute(
                    "update customer set c_data = substr($1 || c_data, 1, 500) where c_w_id = $2 and c_d_id = $3 and c_id = $4",
                    &[note.into(), c_w.clone(), c_d.clone(), c.clone()],
                )
                .await?;
        }
        let data = format!("{}    {}", warehouse.text(0)?, district.text(0)?);
        connection
            .execute(
                "insert into history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data) \
                 values ($1, $2, $3, $4, $5, localtimestamp, $6, $7)",
                &[c, c_d, c_w, d, w, amount, data.into()],
            )
            .await
    }
}
