"""The numbered steps of the database, a module for each stretch of them; `migrations` joins them in their order."""
