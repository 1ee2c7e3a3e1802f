"""File tools of models: view, edit and search the files of a workspace."""
