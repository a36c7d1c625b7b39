-- 6,000 rows, more than its cache holds: made, changed, indexed, asked.
PRAGMA journal_mode = DELETE;
PRAGMA cache_size = 30;
CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT NOT NULL, amount REAL, kind INTEGER);
BEGIN;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 6000)
INSERT INTO item SELECT i, 'item ' || (i * 7919 % 100003), (i * 31 % 1000) / 8.0, i % 17 FROM n;
COMMIT;
CREATE INDEX by_name ON item (name);
CREATE INDEX by_kind ON item (kind, amount);
SELECT count(*), sum(amount), min(name), max(name) FROM item;
SELECT kind, count(*), round(avg(amount), 6) FROM item GROUP BY kind ORDER BY kind;
SELECT id, name FROM item WHERE name BETWEEN 'item 500' AND 'item 5004' ORDER BY name;
UPDATE item SET amount = amount + 1 WHERE kind = 3;
DELETE FROM item WHERE kind = 5 AND id % 2 = 0;
SELECT count(*), sum(amount) FROM item;
SELECT a.kind, count(*) FROM item a JOIN item b ON a.id = b.id + 1 WHERE a.amount > b.amount AND a.id < 2000 GROUP BY 1;
CREATE VIRTUAL TABLE words USING fts5(text);
INSERT INTO words SELECT name || ' of kind ' || kind FROM item WHERE id <= 500;
SELECT count(*) FROM words WHERE words MATCH 'kind AND 3';
PRAGMA integrity_check;
