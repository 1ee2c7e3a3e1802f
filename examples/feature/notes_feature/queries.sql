-- name: notes_add
INSERT INTO notes_counts (tool, calls) VALUES ($1, 1)
ON CONFLICT (tool) DO UPDATE SET calls = notes_counts.calls + 1

-- name: notes_list
SELECT tool, calls FROM notes_counts ORDER BY tool
