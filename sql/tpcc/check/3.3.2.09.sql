-- 3.3.2.9: a district's year-to-date payments are the sum of its history.
select d_w_id, d_id, d_ytd, paid
from district left join (select h_w_id, h_d_id, sum(h_amount) as paid from history group by h_w_id, h_d_id) h
              on h_w_id = d_w_id and h_d_id = d_id
where d_ytd is distinct from paid
