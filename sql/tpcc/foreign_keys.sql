-- The nine foreign keys of clause 1.3, optional in `tidelock tpcc load` (--foreign-keys).

alter table district add constraint district_warehouse foreign key (d_w_id) references warehouse (w_id);
alter table customer add constraint customer_district foreign key (c_w_id, c_d_id) references district (d_w_id, d_id);
alter table history add constraint history_customer foreign key (h_c_w_id, h_c_d_id, h_c_id) references customer (c_w_id, c_d_id, c_id);
alter table history add constraint history_district foreign key (h_w_id, h_d_id) references district (d_w_id, d_id);
alter table orders add constraint orders_customer_fk foreign key (o_w_id, o_d_id, o_c_id) references customer (c_w_id, c_d_id, c_id);
alter table new_order add constraint new_order_orders foreign key (no_w_id, no_d_id, no_o_id) references orders (o_w_id, o_d_id, o_id);
alter table stock add constraint stock_warehouse foreign key (s_w_id) references warehouse (w_id);
alter table stock add constraint stock_item foreign key (s_i_id) references item (i_id);
alter table order_line add constraint order_line_orders foreign key (ol_w_id, ol_d_id, ol_o_id) references orders (o_w_id, o_d_id, o_id);
alter table order_line add constraint order_line_stock foreign key (ol_supply_w_id, ol_i_id) references stock (s_w_id, s_i_id);
