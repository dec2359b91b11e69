"""Operations on catalogs that need no data engine: create, fork, change, read history, drop."""
