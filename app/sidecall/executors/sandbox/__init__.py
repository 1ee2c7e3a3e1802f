"""Programs that reach no file, no process and no network but their own."""
