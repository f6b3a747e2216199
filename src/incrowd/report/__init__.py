"""An audit as a page."""

from incrowd.report.page import fragment, page

__all__ = ["fragment", "page"]
