"""The pages of the service: what is going on, for people, rendered on the server.

A page is HTML that works by itself: links and forms. htmx puts parts of one page into another where
that is nicer, and asks for whole pages to take them from; so there is one way to render anything.
"""
