"""What a reviewer asks about a release, on one page and as numbers, signed by its steward."""

from incrowd.evidence.evidence import Evidence, make_evidence
from incrowd.evidence.signing import Signed, new_key, sign, verify

__all__ = ["Evidence", "Signed", "make_evidence", "new_key", "sign", "verify"]
