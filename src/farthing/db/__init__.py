"""PostgreSQL: the pool, the embedded server, the migrations and the one commit path."""
