"""Files that programs send, kept in stores in which their passages are found."""
