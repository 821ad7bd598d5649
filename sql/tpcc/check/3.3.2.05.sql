-- 3.3.2.5: an order has no carrier exactly when it is still a new order.
(select o_w_id, o_d_id, o_id from orders where o_carrier_id is null
 except all select no_w_id, no_d_id, no_o_id from new_order)
union all
(select no_w_id, no_d_id, no_o_id from new_order
 except all select o_w_id, o_d_id, o_id from orders where o_carrier_id is null)
