"""The way of a call: schemas, pipeline, executors and HTTP, without any feature."""
