"""The ledger of a data holding: every release of it, what each cost, and, in a part that is secret, who was where."""

from incrowd.ledger.ledger import Ledger, OpenEntry

__all__ = ["Ledger", "OpenEntry"]
