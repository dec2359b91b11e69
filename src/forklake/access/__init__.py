"""Access control: principals, their keys, their rights on catalogs, quotas and the audit log."""
