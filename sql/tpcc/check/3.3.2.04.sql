-- 3.3.2.4: the orders of a district count as many lines as there are.
select o_w_id, o_d_id, sum_ol_cnt, lines
from (select o_w_id, o_d_id, sum(o_ol_cnt) as sum_ol_cnt from orders group by o_w_id, o_d_id) o
     full join (select ol_w_id, ol_d_id, count(*) as lines from order_line group by ol_w_id, ol_d_id) l
            on o_w_id = ol_w_id and o_d_id = ol_d_id
where sum_ol_cnt is distinct from lines
