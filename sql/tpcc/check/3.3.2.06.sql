-- 3.3.2.6: each order has as many lines as it says.
(select o_w_id, o_d_id, o_id, cast(o_ol_cnt as bigint) from orders
 except all select ol_w_id, ol_d_id, ol_o_id, count(*) from order_line group by ol_w_id, ol_d_id, ol_o_id)
union all
(select ol_w_id, ol_d_id, ol_o_id, count(*) from order_line group by ol_w_id, ol_d_id, ol_o_id
 except all select o_w_id, o_d_id, o_id, cast(o_ol_cnt as bigint) from orders)
