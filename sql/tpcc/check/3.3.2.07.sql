-- 3.3.2.7: a line has a delivery date exactly when its order has a carrier.
select ol_w_id, ol_d_id, ol_o_id, ol_number
from order_line left join orders on o_w_id = ol_w_id and o_d_id = ol_d_id and o_id = ol_o_id
where o_id is null or (ol_delivery_d is null) <> (o_carrier_id is null)
