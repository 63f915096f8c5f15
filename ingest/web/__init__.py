"""Web pages of one host: addresses that may be asked, robots.txt, sitemaps, and requests."""
