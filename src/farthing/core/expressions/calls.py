"""Calls: functions, methods, and questions to the history."""

from typing import TYPE_CHECKING, Final

from farthing.core.expressions import macros
from farthing.core.expressions.checked import Checked, between, expect, written
from farthing.core.expressions.costs import OF_HELPING, OF_LOOKING, SMALL, either, of_matching
from farthing.core.expressions.emit import Helper, write_duration, write_timestamp
from farthing.core.expressions.faults import Fault, choice
from farthing.core.expressions.functions import (
    FUNCTIONS,
    MACROS,
    MATCHES,
    METHODS,
    WRITTEN_OUT,
    Signature,
)
from farthing.core.expressions.limits import LONGEST_WINDOW, MOST_WINDOWS, SHORTEST_WINDOW
from farthing.core.expressions.literals import (
    compile_pattern,
    read_duration,
    read_pattern,
    read_timestamp,
)
from farthing.core.expressions.nodes import Call, Name, Node, Value
from farthing.core.expressions.types import BOOL, INT, STRING, TIMESTAMP, common
from farthing.core.expressions.windows import HISTORY, QUESTIONS, Window

if TYPE_CHECKING:
    from farthing.core.expressions.check import Checker

HOW_TO_ASK: Final = 'history.count("word", duration("24h")) or history.sum("word", duration("24h"))'
_WINDOW_ARGUMENTS: Final = (2, 3)


def check_call(checker: "Checker", node: Call) -> Checked:
    """Check a call of any sort."""
    if node.target is None:
        return _check_function(checker, node)
    if isinstance(node.target, Name) and node.target.name == HISTORY and checker.history:
        return _check_history(checker, node)
    if node.function in macros.OVER_ELEMENTS:
        return macros.check_macro(checker, node, checker.check(node.target))
    return _check_method(checker, node, checker.check(node.target))


def _check_function(checker: "Checker", node: Call) -> Checked:
    if node.function == "has":
        return macros.check_has(checker, node)
    if node.function in WRITTEN_OUT:
        return _check_timestamp(checker, node) or _check_written_out(node)
    if node.function not in FUNCTIONS:
        if node.function in METHODS or node.function in MACROS or node.function == "matches":
            raise Fault("This is written after a dot: value.function(...).", node.at)
        known = {*FUNCTIONS, *WRITTEN_OUT, "has"}
        raise Fault(f"There is no such function. {choice(node.function, known)}", node.at)
    arguments = [checker.check(one) for one in node.arguments]
    found = _signature(FUNCTIONS[node.function], arguments)
    if found is None:
        raise Fault(_say(node.function, FUNCTIONS[node.function]), node.at)
    helped = _counts_characters(node.function, arguments)
    name = Helper("size") if helped else node.function
    size = either(arguments[0].size, SMALL) if found.gives == STRING else SMALL
    work = OF_HELPING if helped else arguments[0].size.count
    return written(found.gives, name, "(", *between(arguments, ", "), ")", size=size, work=work)


def _check_method(checker: "Checker", node: Call, target: Checked) -> Checked:
    if node.function == "matches":
        return _check_matches(checker, node, target)
    if node.function not in METHODS:
        known = [*METHODS, *macros.OVER_ELEMENTS, "matches"]
        raise Fault(f"There is no such method. {choice(node.function, known)}", node.at)
    arguments = [checker.check(one) for one in node.arguments]
    found = _signature(METHODS[node.function], [target, *arguments])
    if found is None:
        raise Fault(_say(node.function, METHODS[node.function], method=True), node.at)
    if _counts_characters(node.function, [target]):
        return written(INT, Helper("size"), "(", target, ")", work=OF_HELPING)
    text = (target, f".{node.function}(", *between(arguments, ", "), ")")
    return written(found.gives, *text, work=OF_LOOKING * target.size.count)


def _check_matches(checker: "Checker", node: Call, target: Checked) -> Checked:
    arguments = [checker.check(one) for one in node.arguments]
    if _signature((MATCHES,), [target, *arguments]) is None:
        raise Fault(_say("matches", (MATCHES,), method=True), node.at)
    pattern = read_pattern(_text(node.arguments[0], "The pattern"), node.arguments[0].start)
    work = OF_HELPING + of_matching(target.size, compile_pattern(pattern).programsize)
    return written(BOOL, Helper("matches", pattern), "(", target, ")", work=work)


def _check_timestamp(checker: "Checker", node: Call) -> Checked | None:
    """Check a time that is read from a string only when the rule runs."""
    if node.function != "timestamp" or len(node.arguments) != 1:
        return None
    (argument,) = node.arguments
    if isinstance(argument, Value):
        return None
    text = checker.check(argument)
    expect(text, STRING, argument.start, "What timestamp takes")
    return written(TIMESTAMP, Helper("timestamp"), "(", text, ")", work=OF_HELPING)


def _check_written_out(node: Call) -> Checked:
    what = f"What {node.function} takes"
    if len(node.arguments) != 1:
        raise Fault(_say(node.function, (WRITTEN_OUT[node.function],)), node.at)
    argument = node.arguments[0]
    text = _text(argument, what)
    if node.function == "duration":
        made = write_duration(read_duration(text, argument.start))
    else:
        made = write_timestamp(read_timestamp(text, argument.start))
    return Checked(WRITTEN_OUT[node.function].gives, (made,))


def _check_history(checker: "Checker", node: Call) -> Checked:
    window = read_window(node)
    if window.what not in checker.history:
        said = choice(window.what, checker.history)
        raise Fault(f"The history has no such word. {said}", node.arguments[0].start)
    checker.windows.add(window)
    if len(checker.windows) > MOST_WINDOWS:
        raise Fault(f"An expression asks the history {MOST_WINDOWS} times at most.", node.at)
    return Checked(INT, (window,))


def read_window(node: Call) -> Window:
    """Return what a question to the history asks."""
    if node.function not in QUESTIONS:
        raise Fault(f"The history has no such question: {HOW_TO_ASK}.", node.at)
    if len(node.arguments) not in _WINDOW_ARGUMENTS:
        raise Fault(
            "A question to the history has two or three arguments: a word, a duration, "
            "and the least amount.",
            node.at,
        )
    word, length, *least = node.arguments
    what, kind = _text(word, "What is counted"), QUESTIONS[node.function][0]
    return Window(kind, what, _seconds(length), _least(least[0]) if least else 0)


def _seconds(node: Node) -> int:
    if not isinstance(node, Call) or node.target is not None or node.function != "duration":
        raise Fault('How long is written out, such as duration("24h").', node.start)
    _check_written_out(node)
    argument = node.arguments[0]
    seconds = read_duration(_text(argument, "What duration takes"), argument.start)
    if seconds.denominator != 1 or not SHORTEST_WINDOW <= seconds <= LONGEST_WINDOW:
        raise Fault(
            "The history is asked for whole seconds, from 1s to 744h (31 days).", argument.start
        )
    return int(seconds)


def _least(node: Node) -> int:
    if not isinstance(node, Value) or type(node.value) is not int or node.value < 0:
        raise Fault("The least amount is written out: a whole number from 0.", node.start)
    return node.value


def _text(node: Node, what: str) -> str:
    if not isinstance(node, Value) or not isinstance(node.value, str):
        raise Fault(f'{what} is written out, as a string such as "...".', node.start)
    return node.value


def _signature(known: tuple[Signature, ...], given: list[Checked]) -> Signature | None:
    for one in known:
        if len(one.takes) == len(given) and all(
            wanted.kind == part.type.kind and common(wanted, part.type) is not None
            for wanted, part in zip(one.takes, given, strict=True)
        ):
            return one
    return None


def _counts_characters(function: str, given: list[Checked]) -> bool:
    # The library counts bytes, and CEL says characters.
    return function == "size" and given[0].type == STRING


def _say(function: str, known: tuple[Signature, ...], *, method: bool = False) -> str:
    def say(one: Signature) -> str:
        takes = [str(each) for each in one.takes]
        if method:
            return f"{takes[0]}.{function}({', '.join(takes[1:])})"
        return f"{function}({', '.join(takes)})"

    return f"It is used so: {', '.join(map(say, known))}."
