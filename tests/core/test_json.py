"""JSON as RFC 8259 has it."""

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from farthing.core.errors import MalformedJson
from farthing.core.json import read_json

VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**30), 10**30) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(VALUES)
def test_what_is_json_is_read_as_it_was_written(value: object) -> None:
    assert read_json(json.dumps(value).encode()) == value


@given(st.binary(max_size=200))
def test_no_bytes_do_anything_but_be_read_or_refused(body: bytes) -> None:
    with contextlib.suppress(MalformedJson):
        json.dumps(read_json(body), allow_nan=False)


@pytest.mark.parametrize("body", [b"NaN", b"-Infinity", b'{"a":1,"a":1}', b"[1,]", b"[" * 100_000])
def test_what_is_merely_close_to_json_is_refused(body: bytes) -> None:
    with pytest.raises(MalformedJson):
        read_json(body)
