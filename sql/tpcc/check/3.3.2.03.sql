-- 3.3.2.3: undelivered orders of a district have consecutive ids.
select no_w_id, no_d_id, max(no_o_id) - min(no_o_id) + 1 as expected, count(*) as found
from new_order
group by no_w_id, no_d_id
having max(no_o_id) - min(no_o_id) + 1 <> count(*)
