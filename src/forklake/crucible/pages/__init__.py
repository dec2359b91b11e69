"""Web pages of the service, rendered on the server.

Pages are plain HTML with links and forms, and work without scripts. With htmx, parts of a page are
loaded into another page. htmx always requests whole pages and selects the part that it needs, so
there is only one way to render a page.
"""
