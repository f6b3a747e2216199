"""How the site is made of the repository: `python -m docs.making` writes it to build/site."""
