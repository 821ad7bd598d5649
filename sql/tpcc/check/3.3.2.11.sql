-- 3.3.2.11, right after the load only: each district has 2100 orders that are no new orders.
-- After a run it is asked of what a run keeps: new orders are a part of the orders.
select d_w_id, d_id, o.orders, n.new_orders
from district
     left join (select o_w_id, o_d_id, count(*) as orders from orders group by o_w_id, o_d_id) o on o_w_id = d_w_id and o_d_id = d_id
     left join (select no_w_id, no_d_id, count(*) as new_orders from new_order group by no_w_id, no_d_id) n
            on no_w_id = d_w_id and no_d_id = d_id
where coalesce(o.orders, 0) - coalesce(n.new_orders, 0) < 2100
