"""The study's database: rows in, domain objects out. Functions take a connection first."""
