"""The texts of references: check digits that others compute too, found however they are written."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stdnum import iso11649
from stdnum.iso7064 import mod_97_10

from farthing.resources.references.model import (
    ALPHABET,
    find_in,
    is_reference,
    make_text,
    normalise,
)

# Published by banks, by SEPA's implementers and by the authors of validators.
PUBLISHED = [
    "RF18539007547034",
    "RF18 5390 0754 7034",
    "RF18000000000539007547034",
    "RF185390075470Y",
    "RF2012345678",
    "RF712348231",
    "RF45G72UUR",
]
OURS = "RF33XMPQ2346789CDF"

texts = st.text(ALPHABET, min_size=14, max_size=14).map(
    lambda rest: f"RF{mod_97_10.calc_check_digits(f'{rest}RF')}{rest}"
)
separators = st.sampled_from(["", " ", "-", "  ", "\n", "\u00a0"])
# A second beginning of a reference could by chance be one.
noise = st.text().filter(lambda text: "RF" not in normalise(text))


@st.composite
def written(draw: st.DrawFn) -> tuple[str, str]:
    """Draw a reference, and how somebody might write it."""
    text, separator = draw(texts), draw(separators)
    groups = [text[start : start + 4] for start in range(0, len(text), 4)]
    joined = separator.join(groups)
    return text, draw(st.sampled_from([joined, joined.lower(), joined.capitalize()]))


@pytest.mark.parametrize("text", PUBLISHED)
def test_references_that_others_published_hold(text: str) -> None:
    assert is_reference(text)
    assert is_reference(text.lower())


@pytest.mark.parametrize(
    "text",
    [
        "RF17539007547034",
        "RF18539007547043",
        "RF1853900754703",
        "RF18",
        "RF",
        "",
        "FR18539007547034",
        "RF180000000000539007547034",
        "RF1853900754703٤",
        "RF18.5390.0754.7034",
        "RF18539007547034 thanks",
        # The remainder is right, but nobody computes check digits like these: they end at 98.
        "RF00C2H5OH",
    ],
)
def test_what_is_no_reference_does_not_hold(text: str) -> None:
    assert not is_reference(text)


def test_check_digits_that_are_right_by_remainder_alone_are_not_the_computed_ones() -> None:
    assert iso11649.is_valid("RF00C2H5OH")
    assert is_reference("RF97C2H5OH")


def test_a_new_reference_fits_into_a_uk_payment_and_has_nothing_that_looks_alike() -> None:
    made = [make_text() for _ in range(500)]
    assert {len(text) for text in made} == {18}
    assert all(iso11649.is_valid(text) and is_reference(text) for text in made)
    assert len(set(made)) == len(made)
    used = {one for text in made for one in text[4:]}
    assert used == set(ALPHABET)
    for alike in ("0OQ", "1IL", "2Z", "5S", "8B", "UV"):
        assert len(used & set(alike)) <= 1
    # More than 2^64 of them, so that nobody guesses one that is in use.
    assert len(ALPHABET) ** 14 > 2**64


@given(texts, st.integers(2, 17), st.data())
def test_one_wrong_character_shows(text: str, place: int, data: st.DataObject) -> None:
    alphabet = string.digits if text[place].isdigit() else string.ascii_uppercase
    other = data.draw(st.sampled_from(alphabet.replace(text[place], "")))
    wrong = text[:place] + other + text[place + 1 :]
    assert not is_reference(wrong)
    assert find_in(wrong) is None


@given(written())
def test_however_a_reference_is_grouped_it_is_the_same(pair: tuple[str, str]) -> None:
    text, shown = pair
    assert normalise(shown) == text
    assert is_reference(shown)


@given(st.text())
def test_any_text_can_be_normalised_and_searched(text: str) -> None:
    assert normalise(normalise(text)) == normalise(text)
    found = find_in(text)
    assert found is None or is_reference(found)


@given(written(), noise, noise)
def test_a_reference_is_found_within_whatever_a_bank_passes_on(
    pair: tuple[str, str], before: str, behind: str
) -> None:
    text, shown = pair
    assert find_in(before + shown + behind) == text


@pytest.mark.parametrize(
    "text",
    [
        "INV 12 rf33xmpq2346789cdf thanks",
        "INV 12 rf33 xmpq 2346 789c df thanks",
        "/RFB/RF33-XMPQ-2346-789C-DF",
        "INV12RF33XMPQ2346789CDFTHANKS",
        "RF33XMPQ2346\n789CDF",
        # What begins like one of ours, and another's.
        "REF RF 22 RF33XMPQ2346789CDF",
        "RF18 5390 0754 7034 RF33 XMPQ 2346 789C DF",
    ],
)
def test_a_reference_is_found_in_free_text(text: str) -> None:
    assert find_in(text) == OURS


@pytest.mark.parametrize("text", ["", "RF33XMPQ2346789CD", "RF34XMPQ2346789CDF", "rent for May"])
def test_nothing_is_found_where_nothing_is(text: str) -> None:
    assert find_in(text) is None
