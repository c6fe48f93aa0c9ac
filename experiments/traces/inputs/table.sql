-- 20,000 rows, an index, a join with groups, half of the rows deleted.
create table item(id integer primary key, name text, weight real);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000)
  insert into item select i, printf('%.*c', i * 7919 % 120, 'x') || (i * 31 % 997), i / 7.0 from n;
create index by_name on item(name);
select count(*), max(c) from (select a.name, count(*) c from item a join item b on a.id = b.id * 2 group by 1);
delete from item where id % 2 = 0;
select count(*), sum(length(name)) from item where name > 'xxxx';
