-- The tables that the queries are about: all types, with NULLs and values at the edges.
CREATE TABLE items AS
SELECT * FROM (VALUES
    (1, 'apple',  1.50::DECIMAL(10,2), 2.5::DOUBLE, DATE '2024-01-15', TIMESTAMP '2024-01-15 10:30:00', true,  'fruit'),
    (2, 'Banana', 0.75, -1.5, DATE '2024-02-29', TIMESTAMP '2024-02-29 23:59:59.123456', false, 'fruit'),
    (3, 'carrot', 12.00, 'NaN'::DOUBLE, DATE '2023-12-31', TIMESTAMP '2023-12-31 00:00:00', true, 'vegetable'),
    (4, NULL, NULL, NULL, NULL, NULL, NULL, 'vegetable'),
    (5, 'däta é€', -3.25, 'Infinity'::DOUBLE, DATE '1969-07-20', TIMESTAMP '1969-07-20 20:17:40.5', false, NULL),
    (6, '', 0.00, 0.0, DATE '1600-02-28', TIMESTAMP '1600-02-28 12:00:00', true, ''),
    (7, 'a_b%c\d', 99999999.99, 1e20, DATE '2024-03-10', TIMESTAMP '2024-03-10 02:30:00', false, 'other'),
    (8, 'apple', 1.50, 2.5, DATE '2024-01-16', TIMESTAMP '2024-01-16 10:30:00', NULL, 'fruit')
) AS t(id, name, price, weight, day, ts, ok, kind);
CREATE TABLE sales AS
SELECT * FROM (VALUES
    (1, 1, 10, DATE '2024-01-01', 'north'),
    (2, 1, 5, DATE '2024-01-02', 'south'),
    (3, 2, 7, DATE '2024-01-02', 'north'),
    (4, 3, NULL, DATE '2024-01-03', 'north'),
    (5, 9, 3, DATE '2024-01-05', NULL),
    (6, NULL, 8, DATE '2024-01-08', 'south'),
    (7, 2, 7, DATE '2024-02-01', 'east')
) AS t(sale, item, amount, day, region);
CREATE TABLE nested AS
SELECT * FROM (VALUES
    (1, [1, 2, 3], ['a', 'b'], {'x': 1, 'y': 'one'}, MAP {'k': 1, 'l': 2}, [[1], [2, 3]], [{'p': 1, 'q': 'u'}]),
    (2, [], [], {'x': NULL, 'y': 'two'}, MAP {'k': NULL}, [[]], []),
    (3, NULL, NULL, NULL, NULL, NULL, NULL),
    (4, [5, NULL, 1, 5], [NULL, 'z', 'a b'], {'x': -4, 'y': NULL}, MAP {'m': 9}, [NULL, [7]], [{'p': 2, 'q': NULL}, NULL])
) AS t(id, l, s, st, m, ll, ls);
CREATE TABLE types AS
SELECT * FROM (VALUES
    (1, 1::TINYINT, 2::SMALLINT, 3::INTEGER, 4::BIGINT, 5::DECIMAL(38,0), 1.5::FLOAT, 2.5::DOUBLE, 3.25::DECIMAL(6,2), 'text', 'ab'::BLOB, TIME '12:34:56.5', TIMESTAMPTZ '2024-05-06 07:08:09+00'),
    (2, -128, -32768, -2147483648, -9223372036854775808, -99999999999999999999999999999999999999, -0.1, 1e-7, -0.01, 'TEXT', '\x00\xFF'::BLOB, TIME '00:00:00', TIMESTAMPTZ '1970-01-01 00:00:00+00'),
    (3, 127, 32767, 2147483647, 9223372036854775807, 99999999999999999999999999999999999999, 3.4e38, 1.7e308, 9999.99, 'ünï', ''::BLOB, TIME '23:59:59.999999', TIMESTAMPTZ '2038-01-19 03:14:08.25+00'),
    (4, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
    (5, 0, 0, 0, 0, 0, 'NaN', '-Infinity', 0, 'x', 'x'::BLOB, TIME '06:00:00', TIMESTAMPTZ '1900-02-28 23:00:00+00')
) AS t(id, i8, i16, i32, i64, i128, f32, f64, dec, txt, bin, tim, tz);
CREATE TABLE inner_nulls AS SELECT * FROM (VALUES
    (1, {'a': 1, 'b': 2}, [1], [{'x': 1}], MAP {'k': 1}),
    (2, {'a': 1, 'b': NULL}, [1, NULL], [{'x': NULL}], MAP {'k': NULL}),
    (3, {'a': NULL, 'b': 2}, [1, 2], [NULL], MAP {'l': 0}),
    (4, NULL, [NULL], [], MAP {}),
    (5, {'a': NULL, 'b': NULL}, [], [{'x': 1}, {'x': 2}], NULL),
    (6, {'a': -1, 'b': 7}, NULL, NULL, MAP {'k': -1})
) AS v(number, st, li, deep, m);
