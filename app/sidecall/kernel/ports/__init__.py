"""What features give to tools and to the pipeline, as protocols and the types of parameters."""
