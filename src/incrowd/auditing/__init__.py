"""All models, attacks and metrics over one release."""

from incrowd.auditing.audit import Audit, Skipped
from incrowd.auditing.run import audit

__all__ = ["Audit", "Skipped", "audit"]
