"""What providers' models call beside functions: shells, patches, screens, texts."""
