"""All models, attacks and metrics over one release."""

from incrowd.auditing.description import Description
from incrowd.auditing.evidence import Audit, Skipped
from incrowd.auditing.opening import open_release
from incrowd.auditing.running import audit

__all__ = ["Audit", "Description", "Skipped", "audit", "open_release"]
