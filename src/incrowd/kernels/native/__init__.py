"""The loops themselves, in C++, and how Python builds and calls them."""
