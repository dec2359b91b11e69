"""The service: catalogs, sessions and pages for many people and agents over HTTP."""
