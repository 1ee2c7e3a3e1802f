INSERT INTO history_counts (
    tenant, part, unit, period, value, span, errors, c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13,
    c14, c15
)
VALUES (
    $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23
)
ON CONFLICT (tenant, part, unit, period, value, span) DO UPDATE SET
    errors = history_counts.errors + excluded.errors, c0 = history_counts.c0 + excluded.c0,
    c1 = history_counts.c1 + excluded.c1, c2 = history_counts.c2 + excluded.c2,
    c3 = history_counts.c3 + excluded.c3, c4 = history_counts.c4 + excluded.c4,
    c5 = history_counts.c5 + excluded.c5, c6 = history_counts.c6 + excluded.c6,
    c7 = history_counts.c7 + excluded.c7, c8 = history_counts.c8 + excluded.c8,
    c9 = history_counts.c9 + excluded.c9, c10 = history_counts.c10 + excluded.c10,
    c11 = history_counts.c11 + excluded.c11, c12 = history_counts.c12 + excluded.c12,
    c13 = history_counts.c13 + excluded.c13, c14 = history_counts.c14 + excluded.c14,
    c15 = history_counts.c15 + excluded.c15
