"""Built-in SQL functions and tables of Forklake: the registry and the implementations."""
