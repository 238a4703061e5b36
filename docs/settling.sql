-- Settling: what stands in several sessions, or on several machines, counts once.
--
-- Register the tables as they were written by the names all_sessions, all_messages, all_requests, all_calls,
-- all_changes and all_problems, the table forgotten by the name all_forgotten (docs/tables.md says how in
-- DuckDB), and run this. Then sessions, messages, requests, calls, changes and problems
-- add up to what `geminids stats` says. DuckDB runs it as it stands. Spark and Sail have no temporary tables:
-- write what each of the first steps selects to Parquet files or a table, and use it by the name of the step,
-- as `geminids.settled(spark, …)` does; planned as one, they take too long. All else runs unchanged.

CREATE OR REPLACE TEMPORARY MACRO sha2(text, bits) AS sha256(text);

CREATE OR REPLACE TEMPORARY TABLE copies_of_sessions AS
    SELECT id, machine,
        CASE WHEN problems > 0 AND max(is_whole) OVER (PARTITION BY id) = 1 THEN 1 ELSE 0 END
            AS is_doubtful,
        row_number() OVER (
            PARTITION BY id
            ORDER BY is_whole DESC, requests DESC, total DESC, problems, messages DESC,
                CASE WHEN problems > 0 THEN -calls ELSE own END, last_at DESC, machine
        ) AS place
    FROM (
        SELECT *, CASE
            WHEN problems = 0 AND last_at >= max(last_at) OVER (PARTITION BY id) - INTERVAL '1' SECOND
            THEN 1 ELSE 0 END AS is_whole
        FROM (
            SELECT id, machine, sum(requests) AS requests, sum(coalesce(total, 0)) AS total,
                sum(coalesce(problems, 0)) AS problems, sum(messages) AS messages,
                sum(tool_calls) AS calls, sum(prompts + replies + tool_calls) AS own,
                max(coalesce(ended_at, started_at, TIMESTAMP '1970-01-01 00:00:00')) AS last_at
            FROM all_sessions
            WHERE sha2(id, 256) NOT IN (SELECT session FROM all_forgotten)
            GROUP BY id, machine
        ) AS summed
    ) AS copies;

CREATE OR REPLACE TEMPORARY TABLE counted_sessions AS
    SELECT s.key AS session_key, s.id, c.place, CASE WHEN s.kind = 'main' THEN 0 ELSE 1 END AS is_led,
        CASE WHEN s.started_at IS NULL THEN 1 ELSE 0 END AS has_no_beginning,
        coalesce(s.started_at, TIMESTAMP '1970-01-01 00:00:00') AS began
    FROM all_sessions s JOIN copies_of_sessions c ON c.id = s.id AND c.machine = s.machine
    WHERE c.place = 1 OR EXISTS (
        SELECT 1 FROM (
            SELECT r.session_id, h.place, h.is_doubtful,
                min(h.place) OVER (PARTITION BY r.session_id, r.request_id) AS fullest,
                least(
                    min(h.place) OVER (PARTITION BY r.session_id, r.message_id),
                    min(h.place) OVER (PARTITION BY r.session_id, date_trunc('second', r.at)),
                    min(h.place) OVER (PARTITION BY r.session_id, r.input, r.output, r.total)
                ) AS fullest_alike
            FROM all_requests r
            JOIN copies_of_sessions h ON h.id = r.session_id AND h.machine = r.machine
            WHERE r.request_id <> ''
                AND r.session_id IN (SELECT id FROM copies_of_sessions WHERE place > 1)
        ) AS held
        WHERE held.session_id = s.id AND held.place = c.place AND held.fullest = c.place
            AND (held.is_doubtful = 0 OR held.fullest_alike = c.place)
    );

CREATE OR REPLACE TEMPORARY TABLE copied_requests AS
    SELECT session_key, message_number FROM (
        SELECT r.session_key, r.message_number, first_value(r.session_key) OVER (
            PARTITION BY r.request_id
            ORDER BY coalesce(r.total, 0) DESC, s.is_led, s.has_no_beginning, s.began, s.id, s.place,
                r.session_key
        ) AS owner_key
        FROM all_requests r JOIN counted_sessions s ON s.session_key = r.session_key
        WHERE r.request_id <> '' AND NOT r.imported
    ) AS held
    WHERE owner_key <> session_key;

CREATE OR REPLACE TEMPORARY TABLE own_requests AS
    SELECT r.session_key, r.request_id, s.id, s.place, s.is_led, s.began
    FROM all_requests r JOIN counted_sessions s ON s.session_key = r.session_key
    WHERE r.request_id <> '' AND NOT r.imported AND NOT EXISTS (
        SELECT 1 FROM copied_requests c
        WHERE c.session_key = r.session_key AND c.message_number = r.message_number
    );

CREATE OR REPLACE TEMPORARY TABLE copied_messages AS
    SELECT session_key, message_number FROM copied_requests
    UNION ALL
    SELECT standing.session_key, standing.number
    FROM (
        SELECT m.session_key, m.number, m.id, m.imported, r.session_key IS NOT NULL AS has_tokens,
            -- Where the next request stands, times two; odd if that is a copy.
            min(CASE WHEN r.request_id <> '' AND NOT m.imported
                THEN 2 * m.number + CASE WHEN c.session_key IS NULL THEN 0 ELSE 1 END
            END) OVER (
                PARTITION BY m.session_key ORDER BY m.number DESC
                ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
            ) AS next_request
        FROM all_messages m
        LEFT JOIN all_requests r ON r.session_key = m.session_key AND r.message_number = m.number
        LEFT JOIN copied_requests c ON c.session_key = m.session_key AND c.message_number = m.number
        WHERE m.session_key IN (SELECT session_key FROM copied_requests)
    ) AS standing
    LEFT JOIN (
        SELECT DISTINCT holding.session_key, m.id
        FROM (
            SELECT DISTINCT s.session_key, theirs.session_key AS owner_key
            FROM counted_sessions s
            JOIN all_requests ours ON ours.session_key = s.session_key
            JOIN own_requests theirs ON theirs.request_id = ours.request_id
            WHERE s.session_key IN (SELECT session_key FROM copied_requests)
                AND (theirs.is_led < s.is_led OR (theirs.is_led = s.is_led AND (
                    theirs.began < s.began OR (theirs.began = s.began AND (
                        theirs.id < s.id OR (theirs.id = s.id AND theirs.place < s.place)
                    ))
                )))
        ) AS holding
        JOIN all_messages m ON m.session_key = holding.owner_key
    ) AS told_before ON told_before.session_key = standing.session_key AND told_before.id = standing.id
    WHERE NOT standing.imported AND NOT standing.has_tokens
        AND (coalesce(standing.next_request, 0) % 2 = 1 OR told_before.id IS NOT NULL);

CREATE OR REPLACE TEMPORARY VIEW messages AS
    SELECT * FROM all_messages AS t
    WHERE NOT t.imported
        AND EXISTS (SELECT 1 FROM counted_sessions s WHERE s.session_key = t.session_key)
        AND NOT EXISTS (
            SELECT 1 FROM copied_messages c
            WHERE c.session_key = t.session_key AND c.message_number = t.number
        );

CREATE OR REPLACE TEMPORARY VIEW requests AS
    SELECT * FROM all_requests AS t
    WHERE NOT t.imported
        AND EXISTS (SELECT 1 FROM counted_sessions s WHERE s.session_key = t.session_key)
        AND NOT EXISTS (
            SELECT 1 FROM copied_requests c
            WHERE c.session_key = t.session_key AND c.message_number = t.message_number
        );

CREATE OR REPLACE TEMPORARY VIEW calls AS
    SELECT * FROM all_calls AS t
    WHERE NOT t.imported
        AND EXISTS (SELECT 1 FROM counted_sessions s WHERE s.session_key = t.session_key)
        AND NOT EXISTS (
            SELECT 1 FROM copied_messages c
            WHERE c.session_key = t.session_key AND c.message_number = t.message_number
        );

CREATE OR REPLACE TEMPORARY VIEW changes AS
    SELECT * FROM all_changes AS t
    WHERE NOT t.imported
        AND EXISTS (SELECT 1 FROM counted_sessions s WHERE s.session_key = t.session_key)
        AND NOT EXISTS (
            SELECT 1 FROM copied_messages c
            WHERE c.session_key = t.session_key AND c.message_number = t.message_number
        );

CREATE OR REPLACE TEMPORARY VIEW problems AS
    SELECT * FROM all_problems;

CREATE OR REPLACE TEMPORARY VIEW sessions AS
    SELECT s.agent,
        s.month,
        s.machine,
        s.project,
        s.id,
        s.key,
        s.native_id,
        s.kind,
        s.parent_id,
        s.project_path,
        s.project_hash,
        s.project_slug,
        s.project_known_by,
        s.project_certain,
        s.title,
        s.summary,
        s.branch,
        s.started_at,
        s.ended_at,
        s.status,
        s.models,
        s.directories,
        s.messages,
        CASE WHEN holding.session_key IS NULL THEN s.prompts ELSE coalesce(said.prompts, 0) END AS prompts,
        CASE WHEN holding.session_key IS NULL THEN s.replies ELSE coalesce(said.replies, 0) END AS replies,
        CASE WHEN holding.session_key IS NULL THEN s.tool_calls ELSE coalesce(called.tool_calls, 0) END AS tool_calls,
        CASE WHEN holding.session_key IS NULL THEN s.tool_errors ELSE coalesce(called.tool_errors, 0) END AS tool_errors,
        CASE WHEN holding.session_key IS NULL THEN s.dropped ELSE coalesce(said.dropped, 0) END AS dropped,
        CASE WHEN holding.session_key IS NULL THEN s.requests ELSE coalesce(used.requests, 0) END AS requests,
        CASE WHEN holding.session_key IS NULL THEN s.input ELSE used.input END AS input,
        CASE WHEN holding.session_key IS NULL THEN s.cached ELSE used.cached END AS cached,
        CASE WHEN holding.session_key IS NULL THEN s.cache_write ELSE used.cache_write END AS cache_write,
        CASE WHEN holding.session_key IS NULL THEN s.cache_write_hour ELSE used.cache_write_hour END AS cache_write_hour,
        CASE WHEN holding.session_key IS NULL THEN s.output ELSE used.output END AS output,
        CASE WHEN holding.session_key IS NULL THEN s.thoughts ELSE used.thoughts END AS thoughts,
        CASE WHEN holding.session_key IS NULL THEN s.tool ELSE used.tool END AS tool,
        CASE WHEN holding.session_key IS NULL THEN s.total ELSE used.total END AS total,
        s.reported_total,
        s.unrecorded,
        s.incomplete,
        s.files,
        s.kept,
        s.problems,
        s.release,
        s.schema
    FROM all_sessions s
    LEFT JOIN (SELECT DISTINCT session_key FROM copied_messages) AS holding ON holding.session_key = s.key
    LEFT JOIN (SELECT session_key, count(CASE WHEN origin = 'human' THEN 1 END) AS prompts, count(CASE WHEN origin = 'model' AND says THEN 1 END) AS replies, count(CASE WHEN state NOT IN ('current', 'unrecorded') THEN 1 END) AS dropped FROM messages WHERE session_key IN (SELECT session_key FROM copied_messages) GROUP BY session_key) AS said ON said.session_key = s.key
    LEFT JOIN (SELECT session_key, count(*) AS tool_calls, count(CASE WHEN status = 'error' THEN 1 END) AS tool_errors FROM calls WHERE session_key IN (SELECT session_key FROM copied_messages) GROUP BY session_key) AS called ON called.session_key = s.key
    LEFT JOIN (SELECT session_key, sum(requests) AS requests, sum(input) AS input, sum(cached) AS cached, sum(cache_write) AS cache_write, sum(cache_write_hour) AS cache_write_hour, sum(output) AS output, sum(thoughts) AS thoughts, sum(tool) AS tool, sum(total) AS total FROM requests WHERE session_key IN (SELECT session_key FROM copied_messages) GROUP BY session_key) AS used ON used.session_key = s.key
    WHERE EXISTS (SELECT 1 FROM messages m WHERE m.session_key = s.key);
