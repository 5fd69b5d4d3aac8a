"""The fields that requests are made of: each with its rule, its words and its example."""

from datetime import datetime
from typing import Annotated, Any, Final

import pycountry
from msgspec import Meta, Struct, field

from farthing.core.ids import UUID_PATTERN
from farthing.core.money import AMOUNT_PATTERN, CURRENCIES

# How many tags, and how many annotations, an object may carry.
MOST_LABELS: Final = 50

COUNTRIES: Final = frozenset(country.alpha_2 for country in pycountry.countries)


def _one_of(values: frozenset[str], expected: str, **schema: Any) -> Meta:
    extra = {"one_of": values, "expected": expected}
    return Meta(extra=extra, extra_json_schema={"enum": sorted(values), **schema})


def _pattern(pattern: str, expected: str, **more: Any) -> Meta:
    return Meta(pattern=pattern, extra={"expected": expected}, **more)


def identifier(noun: str) -> Meta:
    """Describe the identifier of a noun."""
    return _pattern(f"^{noun}/{UUID_PATTERN}$", f"{noun}/<uuid>, with the uuid in lower case")


CustomerId = Annotated[str, identifier("customer")]
AccountId = Annotated[str, identifier("account")]

Amount = Annotated[
    str,
    _pattern(
        AMOUNT_PATTERN,
        "a string of at most 18 digits, the amount in the smallest unit, such as 1000 for 10.00",
        examples=["1000"],
    ),
]
# What can be paid: an amount that is not nothing.
Payable = Annotated[
    str,
    _pattern(
        "^[1-9][0-9]{0,17}$",
        "a string of at most 18 digits, the amount in the smallest unit and not 0, such as 1000",
        examples=["1000"],
    ),
]
CurrencyISO = Annotated[
    str, _one_of(CURRENCIES, "a currency of ISO 4217 in capitals, such as GBP", examples=["GBP"])
]
CountryISO = Annotated[
    str, _one_of(COUNTRIES, "a country of ISO 3166-1 in two capitals, such as GB", examples=["GB"])
]
Tag = Annotated[str, Meta(min_length=1, max_length=100)]
Tags = Annotated[
    list[Tag], Meta(max_length=MOST_LABELS, description="Free-form labels; rules can use them.")
]
AnnotationKey = Annotated[str, Meta(min_length=1, max_length=100)]
AnnotationValue = Annotated[str, Meta(max_length=500)]
Annotations = Annotated[
    dict[AnnotationKey, AnnotationValue],
    Meta(
        max_length=MOST_LABELS, description="Free-form names with their values; rules can use them."
    ),
]
Name = Annotated[str, Meta(min_length=1, max_length=200)]
AddressPart = Annotated[str, Meta(min_length=1, max_length=200)]
# Anything visible; what a name may look like is for its server to say.
_MAIL: Final = r"[^@\s\u0000-\u001F\u007F-\u009F]"
_HOST: Final = r"[^@\s.\u0000-\u001F\u007F-\u009F]"
Email = Annotated[
    str, _pattern(f"^{_MAIL}+@{_HOST}+(\\.{_HOST}+)+$", "an e-mail address", max_length=254)
]
Phone = Annotated[
    str, _pattern(r"^\+[1-9][0-9]{6,14}$", "a telephone number of E.164, such as +442071838750")
]
# In a body the format alone would promise nothing: most readers of schemas do not check it.
Moment = Annotated[
    datetime,
    Meta(
        tz=True,
        extra_json_schema={
            "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]+)?"
            "(Z|[+-][0-9]{2}:[0-9]{2})$"
        },
    ),
]
Reason = Annotated[str, Meta(min_length=1, max_length=500)]


class Address(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A postal address in its seven parts."""

    flat_number: AddressPart | None = None
    house_name_number: AddressPart | None = None
    street: AddressPart | None = None
    town_city: AddressPart | None = None
    region: AddressPart | None = None
    postal_code: AddressPart | None = None
    # `rename` would write countryIso; the frozen name has capitals.
    country_iso: CountryISO = field(name="countryISO")
