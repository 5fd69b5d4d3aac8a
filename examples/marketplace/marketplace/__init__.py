"""A marketplace with escrow."""

from marketplace.market import Buyer, Market, Seller
from marketplace.notices import Notices

__all__ = ["Buyer", "Market", "Notices", "Seller"]
