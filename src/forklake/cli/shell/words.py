"""SQL keywords and functions that the shell completes."""

from __future__ import annotations

KEYWORDS = tuple(
    """
    ADD ALL ALTER ANALYZE AND AS ASC AT ATTACH BEGIN BETWEEN BY CALL CASE CAST CATALOG CHECKPOINT
    COLUMN COMMENT COMMIT CREATE CREATE_IF_NOT_EXISTS CROSS DATA_PATH DATABASES DEFAULT DELETE DESC
    DESCRIBE DETACH DISTINCT DROP ELSE END EXCEPT EXCLUDE EXISTS EXPLAIN FALSE FILTER FROM FULL
    GROUP HAVING IF ILIKE IN INNER INSERT INTERSECT INTERVAL INTO IS JOIN LATERAL LEFT LIKE LIMIT
    MACRO MATCHED MERGE NAME NOT NULL NULLS OFFSET ON OR ORDER OUTER OVER PARTITION PARTITIONED
    PIVOT QUALIFY RECURSIVE RENAME REPLACE RIGHT ROLLBACK SAMPLE SCHEMA SELECT SEMI SET SHOW
    SNAPSHOT SUMMARIZE TABLE TABLES THEN TIMESTAMP TO TRANSACTION TRUE TRUNCATE TYPE UNION UNNEST
    UNPIVOT UPDATE USE USING VALUES VERSION VIEW WHEN WHERE WINDOW WITH
    """.split()
)

FUNCTIONS = tuple(
    """
    abs array_agg avg bool_and bool_or ceil coalesce concat concat_ws contains corr count
    current_date current_timestamp date_diff date_part date_trunc dense_rank epoch exp first
    first_value floor generate_series greatest hash if ifnull lag last last_value lead least left
    length list list_aggregate list_contains list_filter list_sort list_transform ln log lower
    lpad ltrim map max md5 median min mode now ntile nullif percent_rank quantile_cont random
    range rank read_csv read_json read_parquet regexp_extract regexp_matches regexp_replace repeat
    replace reverse right round row_number rpad rtrim sign split_part sqrt starts_with stddev
    strftime string_agg strip_accents strptime struct_pack substring sum trim trunc unnest upper
    uuid variance
    """.split()
)
