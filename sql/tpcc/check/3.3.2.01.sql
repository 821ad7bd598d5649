-- 3.3.2.1: a warehouse's year-to-date payments are the sum of its districts'.
select w_id, w_ytd, sum_d_ytd
from warehouse left join (select d_w_id, sum(d_ytd) as sum_d_ytd from district group by d_w_id) d on d_w_id = w_id
where w_ytd is distinct from sum_d_ytd
