-- 3.3.2.12: a customer's balance and payments together are what was delivered to it.
select c_w_id, c_d_id, c_id, c_balance + c_ytd_payment as total, delivered
from customer
     left join (select o_w_id, o_d_id, o_c_id, sum(ol_amount) as delivered
                from orders join order_line on ol_w_id = o_w_id and ol_d_id = o_d_id and ol_o_id = o_id
                where ol_delivery_d is not null
                group by o_w_id, o_d_id, o_c_id) d on o_w_id = c_w_id and o_d_id = c_d_id and o_c_id = c_id
where c_balance + c_ytd_payment <> coalesce(delivered, 0)
