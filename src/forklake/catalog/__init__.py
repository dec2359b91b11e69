"""What users do to catalogs without touching data: create, fork, change, look back, drop."""
