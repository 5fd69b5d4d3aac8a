"""How rules are heard: the books of all tenants, and the hearing of one batch.

Everything that a rule sees is what the batch has locked, or looked at once it had its locks. The
windows of `history` are measured over tallies, which whoever counts must lock or find unchanged at
its end, so that two requests at once cannot both slip under a limit.
"""

from farthing.hearings.books import RuleBook, RuleShelf

__all__ = ["RuleBook", "RuleShelf"]
