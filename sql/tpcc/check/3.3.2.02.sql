-- 3.3.2.2: a district's next order id follows its newest order and its newest undelivered order.
select d_w_id, d_id, d_next_o_id, max_o_id, max_no_o_id
from district
     left join (select o_w_id, o_d_id, max(o_id) as max_o_id from orders group by o_w_id, o_d_id) o on o_w_id = d_w_id and o_d_id = d_id
     left join (select no_w_id, no_d_id, max(no_o_id) as max_no_o_id from new_order group by no_w_id, no_d_id) n
            on no_w_id = d_w_id and no_d_id = d_id
where d_next_o_id - 1 is distinct from max_o_id
   or (max_no_o_id is not null and d_next_o_id - 1 <> max_no_o_id)
