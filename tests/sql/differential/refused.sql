-- What cannot be carried over: each statement with the word that its error must name.
-- POSITIONAL JOIN
SELECT * FROM items POSITIONAL JOIN sales;
-- ASOF JOIN
SELECT * FROM items ASOF JOIN sales ON items.day >= sales.day;
-- PIVOT
PIVOT sales ON region USING sum(amount);
-- UNPIVOT
UNPIVOT sales ON sale, item INTO NAME n VALUE v;
-- SAMPLE
SELECT * FROM items USING SAMPLE 10%;
-- SAMPLE
SELECT * FROM items TABLESAMPLE 10 ROWS;
-- LIMIT with a percentage
SELECT * FROM items LIMIT 10%;
-- EXCLUDE in a window
SELECT sum(id) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING EXCLUDE CURRENT ROW) FROM items;
-- DISTINCT in the function sum with OVER
SELECT sum(DISTINCT id) OVER () FROM items;
-- The function no_such_function
SELECT no_such_function(1);
-- The function format
SELECT format('{}', 1);
-- The function printf
SELECT printf('%d', 1);
-- The function hash
SELECT hash(1);
-- The function age
SELECT age(DATE '2020-01-01');
-- The function skewness
SELECT skewness(id) FROM items;
-- The function kurtosis
SELECT kurtosis(id) FROM items;
-- The function entropy
SELECT entropy(id) FROM items;
-- The function row_number without OVER
SELECT row_number() FROM items;
-- The table function glob
SELECT * FROM glob('*');
-- A slice with a step
SELECT [1, 2, 3][1:3:2];
-- INTERVAL
SELECT '1 day'::INTERVAL IS NULL, day::VARCHAR::INTERVAL FROM items;
-- TIMESTAMP_NS
SELECT '2020-01-01'::TIMESTAMP_NS;
-- BIT
SELECT '101'::BIT;
-- ENUM
SELECT 'a'::ENUM('a', 'b');
-- The operator ->
SELECT name -> '$.a' FROM items;
-- The operator ->>
SELECT name ->> '$.a' FROM items;
-- COLLATE
SELECT name COLLATE NOCASE FROM items;
-- ANY or ALL of a query
SELECT id FROM items WHERE id > ANY (SELECT item FROM sales);
-- date_trunc of the part decade
SELECT date_trunc('decade', day) FROM items;
-- not constant
SELECT date_part(name, day) FROM items;
-- unnest with options
SELECT unnest([[1]], recursive := true);
-- COLUMNS
SELECT COLUMNS(c -> c LIKE 'i%') FROM items;
-- EXCLUDE of a.id, which is a column of USING
SELECT * EXCLUDE (a.id) FROM items AS a JOIN items AS b USING (id);
-- which may be NULL
SELECT (id, kind) IN (SELECT id, kind FROM items) FROM items;
-- list_aggregate
SELECT list_aggregate([1], 'kurtosis');
-- FILTER in the function list with OVER
SELECT list(id) FILTER (WHERE id > 1) OVER () FROM items;
-- GROUPS
SELECT sum(id) OVER (ORDER BY id GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM items;
-- The function try
SELECT try(1);
-- does not take
SELECT length(id) FROM items;
-- does not take
SELECT st[1] FROM nested;
-- does not take
SELECT sum(name) FROM items;
-- several lists
SELECT * FROM unnest([1], [2]);
-- does not take
SELECT [1] || 2;
-- fraction
SELECT DATE '2020-01-01' + INTERVAL '1.5' DAY;
-- The function time_bucket
SELECT time_bucket(INTERVAL 1 DAY, day) FROM items;
-- The function json_extract
SELECT json_extract(name, '$.a') FROM items;
-- The interval 'garbage 27 days'
SELECT INTERVAL 'garbage 27 days';
-- The interval '1 day foo'
SELECT day + INTERVAL '1 day foo' FROM items;
-- with 3 arguments
SELECT upper(name, name, name) FROM items;
-- The function list with 0 arguments
SELECT list(ORDER BY id) FROM items;
-- The function row_number with 1 arguments
SELECT row_number(1) OVER () FROM items;
-- The function corr with 1 arguments
SELECT corr(id) FROM items;
