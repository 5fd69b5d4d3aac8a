"""Bank accounts and cards that cannot be, and unusual ones that can, from what others published.

The IBANs are the examples of SWIFT's registry of ISO 13616 and the faulty ones that iban.com shows
for tests; the card numbers are those that payment services publish for tests. Where a bound was
never published, the check digit is computed.
"""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from stdnum import luhn

from farthing.core.ids import new_id


@dataclass(frozen=True)
class Case:
    """What is sent, and which faults are found where; none means that it is accepted."""

    name: str
    sent: dict[str, Any]
    faults: list[tuple[str, str]] = field(default_factory=list)

    def __str__(self) -> str:
        return self.name


def complete(start: str, length: int = 16) -> str:
    """Return a number that begins so, and ends with the check digit of Luhn."""
    digits = start.ljust(length - 1, "0")
    return digits + luhn.calc_check_digit(digits)


def highest(start: str, length: int = 16) -> str:
    """Return the last number that begins so."""
    return complete(start.ljust(length - 1, "9"), length)


GERMAN: Final = {
    "countryISO": "DE",
    "currencyISO": "EUR",
    "iban": "DE89370400440532013000",
    "bic": "COBADEFFXXX",
}
UK: Final = {"accountNumber": "31926819", "sortCode": "108800"}

# One from each country of the registry; Kosovo's XK is no code of ISO 3166-1, so it has none here.
IBANS: Final = """
AD1200012030200359100100 AE070331234567890123456 AL47212110090000000235698741 AT611904300234573201
AZ21NABZ00000000137010001944 BA391290079401028494 BE68539007547034 BG80BNBG96611020345678
BH67BMAG00001299123456 BR1800360305000010009795493C1 BY13NBRB3600900000002Z00AB00
CH9300762011623852957 CR05015202001026284066 CY17002001280000001200527600 CZ6508000000192000145399
DE89370400440532013000 DK5000400440116243 DO28BAGR00000001212453611324 EE382200221020145685
EG380019000500000000263180002 ES9121000418450200051332 FI2112345600000785 FO6264600001631634
FR1420041010050500013M02606 GB29NWBK60161331926819 GE29NB0000000101904917 GI75NWBK000000007099453
GL8964710001000206 GR1601101250000000012300695 GT82TRAJ01020000001210029690 HR1210010051863000160
HU42117730161111101800000000 IE29AIBK93115212345678 IL620108000000099999999 IQ98NBIQ850123456789012
IS140159260076545510730339 IT60X0542811101000000123456 JO94CBJO0010000000000131000302
KW81CBKU0000000000001234560101 KZ86125KZT5004100100 LB62099900000001001901229114
LC55HEMM000100010012001200023015 LI21088100002324013AA LT121000011101001000 LU280019400644750000
LV80BANK0000435195001 LY83002048000020100120361 MC5811222000010123456789030
MD24AG000225100013104168 ME25505000012345678951 MK07250120000058984
MR1300020001010000123456753 MT84MALT011000012345MTLCAST001S MU17BOMM0101101030300200000MUR
NL91ABNA0417164300 NO9386011117947 PK36SCBL0000001123456702 PL61109010140000071219812874
PS92PALS000000000400123456702 PT50000201231234567890154 QA58DOHB00001234567890ABCDEFG
RO49AAAA1B31007593840000 RS35260005601001611379 SA0380000000608010167519
SC18SSCB11010000000000001497USD SE4550000000058398257466 SI56263300012039086
SK3112000000198742637541 SM86U0322509800000000270100 ST23000100010051845310146
SV62CENR00000000000000700025 TL380080012345678910157 TN5910006035183598478831
TR330006100519786457841326 UA213223130000026007233566001 VA59001123000012345678
VG96VPVG0000012345678901 BI4210000100010000332045181 DJ2100010000000154000100186
FK88SC123456789012 HN88CABF00000000000250005469 MN121234123456789123 NI45BAPR00000013000003558124
OM810180000001299123456 RU0304452522540817810538091310419 SD8811123456789012
SO211000001001000100141 YE15CBYE0001018861234567891234
""".split()  # noqa: SIM905 - a list of 88 lines says no more

_WRONG_IBANS: Final = {
    "check digits that do not hold": "GB94BARC20201530093459",
    "check digits 00, which no IBAN has": "GB00HLFX11016111455365",
    "check digits 01, which no IBAN has": "GB01BARC20714583608387",
    "a character too many": "GB96BARC202015300934591",
    "a character too few": "GB29NWBK6016133192681",
    "a letter in the account number": "GB12BARC20201530093A59",
    "a letter in the sort code": "GB78BARCO0201530093459",
    "two digits swapped": "GB29NWBK60161331926891",
}
_MISSHAPEN_IBANS: Final = {
    "a letter among the check digits": "GB2LABBY09012857201707",
    "small letters": "gb29nwbk60161331926819",
    "spaces, as it is printed": "GB29 NWBK 6016 1331 9268 19",
    "dashes": "GB29-NWBK-6016-1331-9268-19",
    "its name before it": "IBAN GB29NWBK60161331926819",
    "only the country": "GB",
}
_WRONG_BICS: Final = {
    **{f"{length} characters": "COBADEFFXXXX"[:length] for length in (4, 7, 9, 10, 12)},
    "small letters": "cobadeffxxx",
    "spaces, as it is printed": "COBA DE FF 400",
    "a digit in the country": "COBAD1FF",
    "a sign in the branch": "COBADEFF@#%",
}
_WRONG_SORT_CODES: Final = {
    **{f"{length} digits": "1088001"[:length] for length in (1, 5, 7)},
    "dashes, as it is printed": "10-88-00",
    "spaces": "10 88 00",
    "a letter": "10880O",
    "a sign": "-10880",
}
_WRONG_ACCOUNT_NUMBERS: Final = {
    **{f"{length} digits": "319268191"[:length] for length in (1, 7, 9)},
    "a space behind it": "3192681 ",
    "a letter": "3192681O",
    "a fraction": "319268.9",
}
WRONG_COUNTRIES: Final = ("UK", "XX", "gb", "GBR", "826", "EU", "ZZ", "AN", "Gb", "G", "")
WRONG_CURRENCIES: Final = ("gbp", "GB", "GBPP", "826", "£", "XTS", "XBA", "XAU", "DEM", "BTC", "")

_MISMATCH: Final = "country_mismatch"
_NOBODY: Final = f"customer/{new_id()}"

BANK_ACCOUNTS: Final = [
    Case("no destination", {}),
    Case("a British account", UK),
    Case("a British account with zeros", {"accountNumber": "00000001", "sortCode": "000000"}),
    Case("a German account", GERMAN),
    Case("an IBAN without a BIC", {"iban": "GB29NWBK60161331926819"}),
    Case("a BIC of eight characters", {**GERMAN, "bic": "COBADEFF"}),
    Case("a BIC whose bank has digits", {**GERMAN, "bic": "1234DEWWXXX"}),
    Case("Jersey, with an IBAN of Great Britain", {**UK, "countryISO": "JE"}),
    Case("a currency that is not the country's", {**UK, "currencyISO": "JPY"}),
    Case("nulls for the destination", dict.fromkeys((*UK, "iban", "bic"))),
    Case("an account number alone", {"accountNumber": "31926819"}, [("/sortCode", "required")]),
    Case("a sort code alone", {"sortCode": "108800"}, [("/accountNumber", "required")]),
    Case("a sort code and a null", {**UK, "accountNumber": None}, [("/accountNumber", "required")]),
    Case("a BIC alone", {"bic": "NWBKGB2L"}, [("/iban", "required")]),
    Case("a sort code in Germany", {**UK, "countryISO": "DE"}, [("/sortCode", _MISMATCH)]),
    Case("an IBAN of another country", {**GERMAN, "countryISO": "FR"}, [("/iban", _MISMATCH)]),
    Case("a BIC of another country", {**GERMAN, "bic": "BNPAFRPP"}, [("/bic", _MISMATCH)]),
    Case(
        "an IBAN of a country that has none",
        {"countryISO": "US", "iban": "US64SVBKUS6S3300958879"},
        [("/iban", "invalid_iban")],
    ),
    Case(
        "an IBAN of no country",
        {"iban": "XX89370400440532013000"},
        [("/iban", "invalid_iban")],
    ),
    Case(
        "a BIC of no country",
        {**GERMAN, "bic": "COBADXFF"},
        [("/bic", "invalid_bic")],
    ),
    *(
        Case(f"an IBAN with {name}", {"iban": iban}, [("/iban", "invalid_iban")])
        for name, iban in _WRONG_IBANS.items()
    ),
    *(
        Case(f"a misshapen IBAN, {name}", {"iban": iban}, [("/iban", "invalid_format")])
        for name, iban in _MISSHAPEN_IBANS.items()
    ),
    *(
        Case(f"a BIC with {name}", {**GERMAN, "bic": bic}, [("/bic", "invalid_format")])
        for name, bic in _WRONG_BICS.items()
    ),
    *(
        Case(
            f"a sort code with {name}", {**UK, "sortCode": code}, [("/sortCode", "invalid_format")]
        )
        for name, code in _WRONG_SORT_CODES.items()
    ),
    *(
        Case(
            f"an account number with {name}",
            {**UK, "accountNumber": number},
            [("/accountNumber", "invalid_format")],
        )
        for name, number in _WRONG_ACCOUNT_NUMBERS.items()
    ),
    *(
        Case(f"the currency {one!r}", {"currencyISO": one}, [("/currencyISO", "invalid_value")])
        for one in WRONG_CURRENCIES
    ),
    *(
        Case(f"the country {one!r}", {"countryISO": one}, [("/countryISO", "invalid_value")])
        for one in WRONG_COUNTRIES
    ),
    *(
        Case(
            f"the country {one!r} of the address",
            {"billingAddress": {"countryISO": one}},
            [("/billingAddress/countryISO", "invalid_value")],
        )
        for one in WRONG_COUNTRIES
    ),
    Case("an owner that there is not", {"ownerId": _NOBODY}, [("/ownerId", "unknown_owner")]),
    Case("an owner without a noun", {"ownerId": _NOBODY[9:]}, [("/ownerId", "invalid_format")]),
]

_VISA: Final = {
    "the one that everybody knows": "4242424242424242",
    "16 digits": "4111111111111111",
    "16 digits, another": "4012888888881881",
    "13 digits": "4222222222222",
    "13 digits, another": "4007000000027",
    "19 digits": complete("4000002500001001", 19),
}
_MASTERCARD: Final = {
    "of the 5-series": "5555555555554444",
    "prepaid": "5105105105105100",
    "debit": "5200828282828210",
    "of the 2-series": "2223003122003222",
    "of the 2-series, another": "2223000048400011",
    "the first of the 2-series": complete("2221"),
    "the last of the 2-series": highest("2720"),
    "the first of the 5-series": complete("51"),
    "the last of the 5-series": highest("55"),
}
_OTHER_SCHEMES: Final = {
    "American Express": "378282246310005",
    "Discover": "6011111111111117",
    "Diners Club, 14 digits": "30569309025904",
    "Diners Club, 16 digits": "3056930009020004",
    "JCB": "3530111333300000",
    "UnionPay": "6200000000000005",
    "UnionPay, 19 digits": "6205500000000000004",
    "Maestro": "6304000000000000",
    "Dankort": "5019717010103742",
    **{f"VISA with {length} digits": complete("4", length) for length in (14, 15, 17, 18)},
    **{f"MASTERCARD with {length} digits": complete("55", length) for length in (13, 15, 17, 19)},
    "just below the 2-series": highest("2220"),
    "just above the 2-series": complete("2721"),
    "just below the 5-series": highest("50"),
    "just above the 5-series": complete("56"),
    "nothing but zeros": "0" * 16,
}
_WRONG_CHECK_DIGITS: Final = {
    "VISA": "4242424242424241",
    "VISA with two digits swapped": "4111111111111171",
    "VISA, 13 digits": "4222222222223",
    "MASTERCARD": "5555555555554445",
    "MASTERCARD of the 2-series": "2223003122003223",
}
_MISSHAPEN_NUMBERS: Final = {
    "spaces, as it is printed": "4242 4242 4242 4242",
    "dashes": "4242-4242-4242-4242",
    "12 digits": complete("4", 12),
    "20 digits": complete("4", 20),
    "a letter": "424242424242424O",
    "a sign": "+4242424242424242",
    "a fraction": "4242424242424242.0",
    "an exponent": "4242424242424e3",
    "digits of full width": "".join(chr(0xFF10 + int(one)) for one in "4242424242424242"),
    "digits of Arabic": "".join(chr(0x660 + int(one)) for one in "4242424242424242"),
    "a digit of Arabic at the end": "424242424242424" + chr(0x662),
    "stars": "************4242",
}
_WRONG_EXPIRIES: Final = ("0000", "0030", "1300", "1330", "9930", "130", "01230", "12/30", "12-30")
_WRONG_EXPIRIES_TOO: Final = ("1 30", "203012", "2030", "12305", "Dec30", "", "१२३०", "-130")
_WRONG_CVVS: Final = ("12", "1234", "12a", "1 3", " 123", "123 ", "", "1.3", "-12", "+12", "१२३")

CARDS: Final = [
    *(Case(f"VISA, {name}", {"cardNumber": one}) for name, one in _VISA.items()),
    *(Case(f"MASTERCARD, {name}", {"cardNumber": one}) for name, one in _MASTERCARD.items()),
    Case("a CVV of zeros", {"cvv": "000"}),
    Case("a CVV that looks like a fault", {"cvv": "999"}),
    Case("one use only, and preferred", {"storageType": "ONE_TIME_USE", "setAsPreferred": True}),
    Case("nulls for the options", dict.fromkeys(("storageType", "setAsPreferred", "tags"))),
    *(
        Case(f"a number of {name}", {"cardNumber": one}, [("/cardNumber", "unsupported_scheme")])
        for name, one in _OTHER_SCHEMES.items()
    ),
    *(
        Case(
            f"a check digit that does not hold, {name}",
            {"cardNumber": one},
            [("/cardNumber", "invalid_check_digit")],
        )
        for name, one in _WRONG_CHECK_DIGITS.items()
    ),
    *(
        Case(f"a number with {name}", {"cardNumber": one}, [("/cardNumber", "invalid_format")])
        for name, one in _MISSHAPEN_NUMBERS.items()
    ),
    *(
        Case(f"the expiry {one!r}", {"expiry": one}, [("/expiry", "invalid_format")])
        for one in (*_WRONG_EXPIRIES, *_WRONG_EXPIRIES_TOO)
    ),
    Case("an expiry long past", {"expiry": "0126"}, [("/expiry", "expired")]),
    Case("an expiry of the year 2000", {"expiry": "1200"}, [("/expiry", "expired")]),
    *(Case(f"the CVV {one!r}", {"cvv": one}, [("/cvv", "invalid_format")]) for one in _WRONG_CVVS),
    *(
        Case(
            f"the country {one!r} of the address",
            {"billingAddress": {"countryISO": one}},
            [("/billingAddress/countryISO", "invalid_value")],
        )
        for one in WRONG_COUNTRIES
    ),
    Case("a kind of storage", {"storageType": "card_on_file"}, [("/storageType", "invalid_value")]),
    Case("an owner that there is not", {"ownerId": _NOBODY}, [("/ownerId", "unknown_owner")]),
    Case(
        "everything at once",
        {"cardNumber": "378282246310005", "expiry": "0126", "cvv": "12"},
        [("/cardNumber", "unsupported_scheme"), ("/cvv", "invalid_format"), ("/expiry", "expired")],
    ),
]

# When a card is shown, what is printed on it, and what is wrong with it then.
MOMENTS: Final = [
    (datetime(2026, 1, 31, 23, 59, 59, 999_999, tzinfo=UTC), "0126", []),
    (datetime(2026, 2, 1, tzinfo=UTC), "0126", [("/expiry", "expired")]),
    (datetime(2026, 2, 1, tzinfo=UTC), "0226", []),
    (datetime(2026, 12, 31, 23, 59, 59, tzinfo=UTC), "1226", []),
    (datetime(2027, 1, 1, tzinfo=UTC), "1226", [("/expiry", "expired")]),
    (datetime(2027, 1, 1, tzinfo=UTC), "0127", []),
    (datetime(2027, 1, 1, tzinfo=UTC), "1299", []),
]
