"""Files that programs have sent, searched by words and by meaning."""
