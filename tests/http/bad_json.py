"""Bodies that are not quite JSON, as RFC 8259 defines it, made from one that is."""

import json
from typing import Any, Final

_DEEP: Final = 30_000
# Around these, Python's decoder reaches the end of its stack.
_DEPTHS: Final = (100, 300, 480, *range(900, 1_010, 7))

_NOT_NUMBERS: Final = (
    *("NaN", "Infinity", "-Infinity", "-NaN", "0x10", "01", "-01", "+1", ".5", "1.", "1e", "1e+"),
    *("--1", "1_000", "1,000", "٣", "１", "½", "1n", "0b1", "-"),  # noqa: RUF001 - they are meant to look alike
)
_NOT_WORDS: Final = ("True", "None", "undefined", "nul", "TRUE", "nan", "inf", "ENABLED")
_NOT_STRINGS: Final = (
    *('"', '"x', "'x'", "`x`", r'"\x41"', r'"\u12"', r'"\u12g4"', r'"\ud83d\u"', '"\\"'),
    *(r'"\U0001f600"', r'"\'"', '"\n"', '"\t"', '"\0"', '"\x1f"', r'"\０"'),  # noqa: RUF001 - a wide zero
)


def not_json(body: dict[str, Any]) -> dict[str, bytes]:
    """Return what is no JSON text in UTF-8, each with a name for it."""
    text = json.dumps(body)
    name = json.dumps(next(iter(body)))
    value = json.dumps(next(iter(body.values())))
    made = {
        # The text as a whole.
        "nothing": "",
        "white space only": " \t\r\n",
        "two texts": f"{text}{text}",
        "one text on each line": f"{text}\n{text}\n",
        "a comma behind the text": f"{text},",
        "a zero character behind the text": f"{text}\0",
        "a space of Latin-1 before the text": f"\u00a0{text}",
        "a form feed before the text": f"\f{text}",
        "a byte order mark": f"\ufeff{text}",
        "a comment of a line": f"{text} // hello",
        "a comment of a block": f"/* hello */{text}",
        "a comment of a shell": f"# hello\n{text}",
        "a guard against scripts": f")]}}',\n{text}",
        "a call": f"callback({text})",
        # Objects.
        "a trailing comma": f"{text[:-1]},}}",
        "a leading comma": f"{{,{text[1:]}",
        "two commas": f"{text[:-1]},,{name}:1}}",
        "no comma": f'{text[:-1]} "unheardOf":1}}',
        "no colon": f"{{{name} {value}}}",
        "no value": f"{{{name}:}}",
        "no end": text[:-1],
        "two ends": f"{text}}}",
        "the end of a list": f"{text[:-1]}]",
        "a name without quotes": f"{{{name[1:-1]}:{value}}}",
        "a number as a name": f"{text[:-1]},1:1}}",
        "single quotes": str(body),
        "the same name twice": f"{text[:-1]},{name}:{value}}}",
        "the same name twice, once escaped": f'{text[:-1]},"\\u{ord(name[1]):04x}{name[2:]}:1}}',
        "the same name twice, further inside": f'{text[:-1]},"annotations":{{"a":"b","a":"b"}}}}',
        # Literals and numbers.
        **{f"the number {one}": f"{{{name}:{one}}}" for one in _NOT_NUMBERS},
        **{f"the word {one}": f"{{{name}:{one}}}" for one in _NOT_WORDS},
        "a number of ten thousand digits": f"{{{name}:{'9' * 10_000}}}",
        # Strings.
        **{f"the string {one!r}": f"{{{name}:{one}}}" for one in _NOT_STRINGS},
        # Depth.
        "deep lists": f"{{{name}:{'[' * _DEEP}{']' * _DEEP}}}",
        "deep objects": f"{{{name}:{_nested(_DEEP // 3)}}}",
        "deep lists without an end": "[" * _DEEP,
    }
    return {name: one.encode() for name, one in made.items()} | _other_bytes(text)


def odd_json(body: dict[str, Any]) -> dict[str, bytes]:
    """Return what is JSON, but fits nowhere."""
    name = json.dumps(next(iter(body)))
    made = {
        **{f"only {one}": one for one in ("null", "true", "0", '""', '"x"', "[]", "[{}]")},
        "a number beyond any range": f"{{{name}:1e999999}}",
        "a number below any range": f"{{{name}:-1e999999}}",
        "a number next to nothing": f"{{{name}:1e-999999}}",
        "a number of four thousand digits": f"{{{name}:{'9' * 4_000}}}",
        "a fraction of ten thousand digits": f"{{{name}:0.{'9' * 10_000}}}",
        "an escaped surrogate": f'{{{name}:"\\ud800"}}',
        "an escaped zero character": f'{{{name}:"\\u0000"}}',
        **{f"{depth} lists": f"{{{name}:{'[' * depth}{']' * depth}}}" for depth in _DEPTHS},
        **{f"{depth} objects": f"{{{name}:{_nested(depth)}}}" for depth in _DEPTHS},
        "three thousand names": json.dumps({f"unheardOf{number:05}": 1 for number in range(3_000)}),
    }
    return {name: one.encode() for name, one in made.items()}


def _other_bytes(text: str) -> dict[str, bytes]:
    """Return what is no UTF-8, or should not be."""
    encodings = ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-be", "cp037")

    def inside(odd: bytes) -> bytes:
        return text[:-1].encode() + b',"tags":["' + odd + b'"]}'

    return {
        **{f"in {one}": f"{text} ".encode(one) for one in encodings},
        "truncated UTF-8": inside(b"\xc3"),
        "UTF-8 truncated at the end": text[:-1].encode() + b',"\xe2\x82',
        "an overlong slash": inside(b"\xc0\xaf"),
        "an overlong zero character": inside(b"\xc0\x80"),
        "an overlong slash of three bytes": inside(b"\xe0\x80\xaf"),
        "a surrogate in UTF-8": inside(b"\xed\xa0\x80"),
        "a pair of surrogates in UTF-8": inside(b"\xed\xa0\xbd\xed\xb8\x80"),
        "a character beyond Unicode": inside(b"\xf4\x90\x80\x80"),
        "a byte of continuation alone": inside(b"\x80"),
        "a byte that UTF-8 never has": inside(b"\xff"),
        "Latin-1": inside(b"caf\xe9"),
        "compressed": b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03",
    }


def _nested(depth: int) -> str:
    return '{"a":' * depth + "1" + "}" * depth
