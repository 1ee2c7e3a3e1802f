"""The kernel: schemas, pipeline, executors and HTTP, without any feature."""
