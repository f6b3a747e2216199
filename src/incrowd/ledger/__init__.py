"""The ledger of a data holding: every release of it, what each of them cost, and nothing of the table itself."""

from incrowd.ledger.ledger import Ledger, OpenEntry

__all__ = ["Ledger", "OpenEntry"]
