-- 3.3.2.8: a warehouse's year-to-date payments are the sum of its history.
select w_id, w_ytd, paid
from warehouse left join (select h_w_id, sum(h_amount) as paid from history group by h_w_id) h on h_w_id = w_id
where w_ytd is distinct from paid
