-- Sessions of people who are logged in at the console.

-- name: console_begin_session
INSERT INTO console_sessions (id, sealed, begun_at, seen_at) VALUES ($1, $2, $3, $3)

-- name: console_find_session
SELECT sealed, begun_at, seen_at FROM console_sessions WHERE id = $1

-- name: console_see_session
UPDATE console_sessions SET seen_at = $2 WHERE id = $1

-- name: console_end_session
DELETE FROM console_sessions WHERE id = $1

-- name: console_forget_sessions
-- Unused since $1, or begun before $2.
DELETE FROM console_sessions WHERE seen_at < $1 OR begun_at < $2
