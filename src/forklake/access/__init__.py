"""Who may do what: principals, their keys, their rights on catalogs, quotas and the audit."""
