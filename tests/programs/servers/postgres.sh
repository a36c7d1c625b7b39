# PostgreSQL: initdb, the server, createdb, psql, pgbench with two clients.
# shellcheck shell=sh
port=25432
# Without the views of information_schema and the dictionaries of all languages, which take initdb a third of its time.
whole=$(command -v initdb | sed 's,/lib/\(postgresql/[0-9]*\)/bin/initdb,/share/\1,')
mkdir share
ln -s "$whole"/* share
rm share/information_schema.sql share/snowball_create.sql
: >share/snowball_create.sql
sed -n '/^CREATE SCHEMA/,/^SET/p; /^CREATE DOMAIN/,/;$/p; /^CREATE TABLE sql_features/,/;$/p
    /^CREATE TABLE sql_implementation_info/,/;$/p' "$whole/information_schema.sql" >share/information_schema.sql
initdb -L "$PWD/share" -D data -A trust -N --no-locale -E UTF8 -U tester >initdb.log 2>&1
echo "initdb: $?"
postgres -D data -p $port -k "$PWD" -c shared_buffers=16MB -c max_connections=20 -c fsync=off -c jit=off >server.log 2>&1 &
server=$!
for _ in $(seq 100); do
    pg_isready -q -h "$PWD" -p $port && break
    sleep 0.2
done
createdb -h 127.0.0.1 -p $port -U tester bench
echo "createdb: $?"
psql -X -q -h "$PWD" -p $port -U tester bench <<'COMMANDS'
create table numbers (n integer primary key, name text);
insert into numbers select i, 'number ' || i from generate_series(1, 2000) i;
select count(*), sum(n), min(name), max(name) from numbers;
select n % 7 as rest, count(*) from numbers group by rest order by rest;
begin; delete from numbers where n > 1000; rollback;
select count(*) from numbers;
select * from numbers where name like '%99' order by n limit 3;
insert into numbers values (1, 'twice');
COMMANDS
pgbench -i -q -I dtp -h 127.0.0.1 -p $port -U tester bench >pgbench.log 2>&1
echo "pgbench -i: $?"
seq 100001 110000 | sed 's/^1\(.*\)/\1	1	0	account/' >accounts
psql -X -h 127.0.0.1 -p $port -U tester bench <<'COMMANDS'
insert into pgbench_branches values (1, 0);
insert into pgbench_tellers select i, 1, 0 from generate_series(1, 10) i;
\copy pgbench_accounts from accounts
COMMANDS
pgbench -n -c 2 -t 20 -h 127.0.0.1 -p $port -U tester bench 2>&1 | grep 'actually processed\|failed'
kill -INT $server
wait $server
echo "server: status $?"
