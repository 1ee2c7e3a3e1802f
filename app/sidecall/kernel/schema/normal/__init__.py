"""Read JSON Schemas of others, of any draft, as plain ones of draft 2020-12."""
