"""What models do with the files of a workspace: look at them, change them, search them."""
