"""Sessions: attached catalogs, names, transactions, and changes of tables."""
