"""Tables for people: identifiers whole, in any terminal."""

from farthing.cli import shown

ROW = {
    "id": "transaction/01a1df60-dc62-77f9-8e18-d09fe77fe3e9",
    "flow": "OUTBOUND",
    "amount": "4000",
    "stateId": "FAILED",
    "createdAt": "2026-11-18T13:23:48.928Z",
}


def test_a_narrow_terminal_shows_fewer_columns_and_cuts_none() -> None:
    columns = list(ROW)
    assert shown.fitting(columns, [ROW], 200) == columns
    assert shown.fitting(columns, [ROW], 80) == ["id", "flow", "amount", "stateId"]
    assert shown.fitting(columns, [ROW], 60) == ["id", "amount", "stateId"]
    assert shown.fitting(columns, [ROW], 10) == ["id"]


def test_people_read_what_machines_would_spell_out() -> None:
    assert str(shown.word(ROW["id"])).startswith("tx/01a1df60")
    assert str(shown.word(value=True)) == "yes"
    assert str(shown.word({"a": 1, "b": "c"})) == "a=1, b=c"
    assert str(shown.word("a\x1b[31mb")) == "a [31mb"
