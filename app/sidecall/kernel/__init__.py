"""The kernel: schemas, pipeline and executors, without HTTP and without any feature."""
