"""Reading a number: the float that is nearest to its digits, as JSON writes them."""

from typing import Any, NamedTuple

import numpy as np
from numba.cpython.unsafe import numbers

from service.tree.kernels.compile import merged
from service.tree.kernels.entries import U
from service.tree.kernels.shapes import LARGEST_POWER, MOST_DIGITS

MINUS, PLUS, POINT, ZERO, NINE = ord("-"), ord("+"), ord("."), ord("0"), ord("9")
SMALL_E, LARGE_E = ord("e"), ord("E")
FOUR, ALL = U(0xFFFFFFFF), U(0xFFFFFFFFFFFFFFFF)
EXACT_POWER, EXACT_WHOLE = 22, U(1 << 53)  # up to which a float is the number itself
GAVE_UP = -1
leading_zeros: Any = numbers.leading_zeros


class Powers(NamedTuple):
    """Powers of ten: as floats from 0 on, and of five in 128 bits from -LARGEST_POWER on."""

    floats: Any
    wide: Any


@merged
def _wide_product(one: Any, other: Any) -> tuple[Any, Any]:
    """The upper and the lower 64 bits."""
    one_high, one_low = one >> U(32), one & FOUR
    other_high, other_low = other >> U(32), other & FOUR
    crossed, back = one_high * other_low, one_low * other_high
    middle = ((one_low * other_low) >> U(32)) + (crossed & FOUR) + (back & FOUR)
    high = one_high * other_high + (crossed >> U(32)) + (back >> U(32)) + (middle >> U(32))
    return high, one * other


@merged
def _rounded(whole: Any, power: int, wide: Any) -> tuple[bool, float]:
    """Whether it is sure, and the float that is nearest to whole x 10 ** power.

    After Lemire, "Number parsing at a gigabyte per second" (2021): 128 bits of the power of five
    are enough but for very few numbers, and these are known.
    """
    n_zeros = np.int64(leading_zeros(whole))
    moved, place = whole << U(n_zeros), U(2 * (power + LARGEST_POWER))
    high, low = _wide_product(moved, wide[place])
    if high & U(0x1FF) == U(0x1FF):
        more, _ = _wide_product(moved, wide[place + U(1)])
        low += more
        high += U(low < more)
    is_sure = low != ALL or -27 <= power <= 55
    upper = high >> U(63)
    bits = high >> (upper + U(9))
    exponent = ((217706 * power) >> 16) + 63 + np.int64(upper) - n_zeros + 1023
    is_half = low <= U(1) and -4 <= power <= 23 and bits & U(3) == U(1)
    if is_half and bits << (upper + U(9)) == high:
        bits &= ~U(1)
    bits = (bits + (bits & U(1))) >> U(1)
    if bits >= U(1 << 53):
        bits, exponent = U(1 << 52), exponent + 1
    bits = (bits & ~U(1 << 52)) | (U(exponent) << U(52))
    return is_sure and 0 < exponent < 2047, np.uint64(bits).view(np.float64)


@merged
def _number(whole: Any, power: int, powers: Powers) -> tuple[bool, float]:
    """Whether it can be told here, and the float that is nearest to whole x 10 ** power."""
    if whole <= EXACT_WHOLE and -EXACT_POWER <= power <= EXACT_POWER:
        if power < 0:
            return True, np.float64(whole) / powers.floats[U(-power)]
        return True, np.float64(whole) * powers.floats[U(power)]
    if whole == U(0):
        return True, 0.0
    if power < -LARGEST_POWER or power > LARGEST_POWER:
        return False, 0.0
    return _rounded(whole, power, powers.wide)


@merged
def _is_digit(letter: int) -> bool:
    return ZERO <= letter <= NINE


@merged
def _exponent(sent: Any, at: int) -> tuple[int, int]:
    """What follows an e, and where it ends; -1 for a place if that is no exponent of use."""
    sign = -1 if sent[U(at)] == MINUS else 1
    if sent[U(at)] == MINUS or sent[U(at)] == PLUS:
        at += 1
    start, power = at, 0
    while _is_digit(sent[U(at)]) and at < start + 4:
        power = 10 * power + np.int64(sent[U(at)]) - ZERO
        at += 1
    return sign * power, GAVE_UP if at == start or _is_digit(sent[U(at)]) else at


@merged
def _digits(sent: Any, at: int, whole: Any) -> tuple[Any, int]:
    """A number with the digits that follow, and where they end."""
    while _is_digit(sent[U(at)]):
        whole = whole * U(10) + U(sent[U(at)] - ZERO)
        at += 1
    return whole, at


@merged
def _behind_zeros(sent: Any, at: int) -> int:
    while sent[U(at)] == ZERO:
        at += 1
    return at


@merged
def read_number(powers: Powers, sent: Any, at: int) -> tuple[float, int]:
    """The number that stands at a place, and where it ends, which is -1 if it is none."""
    sign = -1.0 if sent[U(at)] == MINUS else 1.0
    start = at + (1 if sent[U(at)] == MINUS else 0)
    whole, at = _digits(sent, start, U(0))
    n_digits, power = at - start, 0
    is_number = n_digits == 1 or (n_digits > 1 and sent[U(start)] != ZERO)
    if sent[U(at)] == POINT:
        start = first = at + 1
        if n_digits == 1 and whole == U(0):  # zeros that lead say nothing, however many there are
            first, n_digits = _behind_zeros(sent, start), 0
        whole, at = _digits(sent, first, whole)
        power, n_digits = start - at, n_digits + at - first
        is_number = is_number and power < 0
    if sent[U(at)] == SMALL_E or sent[U(at)] == LARGE_E:
        further, at = _exponent(sent, at + 1)
        power += further
    if not is_number or at < 0 or n_digits > MOST_DIGITS:
        return 0.0, GAVE_UP
    is_told, value = _number(whole, power, powers)
    return sign * value, at if is_told else GAVE_UP
