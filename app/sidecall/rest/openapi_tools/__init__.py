"""The tools as an OpenAPI service: a document with one operation for each, and the plain answers of those."""
