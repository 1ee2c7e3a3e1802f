"""What a server keeps, joined: the stores of features, in memory or in the tables of one database."""
