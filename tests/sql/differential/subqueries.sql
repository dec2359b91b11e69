-- Whether IN of a query is false or NULL.
SELECT id, price IN (SELECT price FROM items WHERE kind = 'b') AS q FROM items ORDER BY id;
SELECT id, id IN (SELECT item FROM sales) AS q, id NOT IN (SELECT item FROM sales WHERE item > 1) AS r FROM items ORDER BY id;
SELECT id, price IN (SELECT price FROM items WHERE false) AS q, price NOT IN (SELECT price FROM items WHERE false) AS r FROM items ORDER BY id;
SELECT id FROM items WHERE (price IN (SELECT price FROM items WHERE id < 3)) IS NULL ORDER BY id;
SELECT id FROM items WHERE (id IN (SELECT nullif(item, 2) FROM sales)) IS NULL ORDER BY id;
SELECT id FROM items WHERE (id = ANY (SELECT nullif(item, 2) FROM sales)) IS NOT TRUE ORDER BY id;
SELECT id FROM items WHERE (id <> ALL (SELECT nullif(item, 2) FROM sales)) IS FALSE ORDER BY id;
SELECT id FROM items WHERE NOT (id IN (SELECT nullif(item, 2) FROM sales) AND id > 0) ORDER BY id;
SELECT id, CASE WHEN id IN (SELECT nullif(item, 2) FROM sales) THEN 'in' WHEN NOT (id IN (SELECT nullif(item, 2) FROM sales)) THEN 'out' ELSE '?' END AS c FROM items ORDER BY id;
SELECT kind FROM items GROUP BY kind HAVING (kind IN (SELECT nullif(region, 'x') FROM sales)) IS NULL ORDER BY kind;
SELECT count(*) FILTER (WHERE (id IN (SELECT nullif(item, 2) FROM sales)) IS NULL) AS n, bool_or(id IN (SELECT nullif(item, 2) FROM sales)) AS b FROM items;
SELECT a.id, b.id AS other FROM items AS a JOIN items AS b ON (a.id IN (SELECT nullif(item, 2) FROM sales)) IS NULL AND b.id = a.id ORDER BY ALL;
SELECT id, 3 IN (SELECT nullif(item, 2) FROM sales) AS a, NULL IN (SELECT item FROM sales) AS b FROM items ORDER BY id;
SELECT id, id IN (SELECT item FROM sales WHERE sales.item = items.id AND amount > 5) IS FALSE AS q FROM items ORDER BY id;
SELECT id FROM items WHERE id IN (1, 2) = true ORDER BY id;
SELECT id, id BETWEEN 1 AND 2 = (name LIKE 'a%') AS q FROM items ORDER BY id;
SELECT (SELECT count(*) FROM items) + (SELECT count(*) FROM sales) AS n;
SELECT (SELECT max(name) FROM items) || '!' AS n, -(SELECT max(id) FROM items) AS m, (SELECT list(id ORDER BY id) FROM items)[2] AS o;
SELECT range FROM range(10) WHERE range < 3 ORDER BY range;
SELECT id, (SELECT sum(amount) FROM sales WHERE items.id NOT IN (SELECT nullif(item, 1) FROM sales)) AS q FROM items ORDER BY id;
-- Totals over no rows.
SELECT kind, count(*) AS n, sum(id) AS s FROM items WHERE id > 1000 GROUP BY ROLLUP (kind);
SELECT kind, name, grouping(kind, name) AS g FROM items WHERE id > 1000 GROUP BY CUBE (kind, name) HAVING count(*) = 0;
SELECT kind, count(*) AS n FROM items WHERE id > 1000 GROUP BY GROUPING SETS ((kind), (), ()) ORDER BY n LIMIT 5;
SELECT kind AS c, count(*) AS n FROM items GROUP BY ROLLUP (kind) HAVING count(*) > 1 OR items.kind = 'a' ORDER BY ALL;
SELECT count(*) AS n FROM items GROUP BY ();
