"""Writing a float: the fewest digits that are read as the same one again, as orjson puts them."""

from typing import Any

import numpy as np

from service.tree.kernels.compile import merged
from service.tree.kernels.entries import U
from service.tree.kernels.memory import put_eight, upper_half
from service.tree.kernels.read_number import leading_zeros
from service.tree.kernels.shapes import LEAST_TEN
from service.tree.kernels.write import write_number

MINUS, PLUS, POINT, ZERO, SMALL_E = ord("-"), ord("+"), ord("."), ord("0"), ord("e")
HIDDEN, INFINITE = U(1 << 52), 2047  # the bit that is not written, and the exponent of no number
SIXTEEN, EIGHT = U(10**16), U(10**8)
ZEROS, ZERO_POINT = (
    U(int.from_bytes(b"00000000", "little")),
    U(int.from_bytes(b"0.000000", "little")),
)
NULL = U(int.from_bytes(b"null    ", "little"))
N_DIGITS = 17  # of any float at the most
FIRST_PLAIN, LAST_PLAIN = -5, 15  # powers of ten of the first digit that need no exponent


@merged
def _times(wide: Any, place: int, factor: Any) -> Any:
    """A power of ten times a factor, without the lower 128 bits, but odd if these are not zero."""
    high, low = wide[U(place)], wide[U(place + 1)]
    middle = high * factor
    rest = middle + upper_half(low, factor)
    upper = upper_half(high, factor) + U(rest < middle)
    return upper | U(rest > U(1))


@merged
def shortest(bits: Any, wide: Any) -> tuple[Any, int]:
    """The digits of a float that is neither zero nor negative, and the power of ten they count.

    After Giulietti, "The Schubfach way to render doubles" (2021): of all numbers that are nearer to
    this float than to any other those with fewest digits, and of these the nearest.
    """
    fraction, exponent = bits & (HIDDEN - U(1)), np.int64(bits >> U(52))
    whole = fraction | HIDDEN if exponent > 0 else fraction
    two = (exponent if exponent > 0 else 1) - 1075
    is_edge = fraction == U(0) and exponent > 1  # the float below is nearer than the one above
    power = (two * 1262611 - (524031 if is_edge else 0)) >> 22
    shift = U(two + ((-power * 1741647) >> 19) + 1)
    place, is_odd = 2 * (-power - LEAST_TEN), whole & U(1)
    middle = _times(wide, place, (whole << U(2)) << shift)
    low = _times(wide, place, ((whole << U(2)) - (U(1) if is_edge else U(2))) << shift) + is_odd
    high = _times(wide, place, ((whole << U(2)) + U(2)) << shift) - is_odd
    below = middle >> U(2)
    ten = below // U(10)
    is_low, is_high = low <= U(40) * ten, U(40) * ten + U(40) <= high
    if below >= U(10) and is_low != is_high:
        return ten + U(is_high), power + 1
    is_low, is_high = low <= U(4) * below, U(4) * below + U(4) <= high
    half = U(4) * below + U(2)
    is_up = middle > half or (middle == half and below & U(1) == U(1))
    return below + U(is_high if is_low != is_high else is_up), power


@merged
def _eight_digits(number: Any) -> Any:
    """The digits of a number below 10 ** 8, as letters less those of zero; the first lies lowest.

    It is halved three times, each half of it by itself, all at once.
    """
    halves = number // U(10_000) | (number % U(10_000)) << U(32)
    upper = (halves * U(10486)) >> U(20) & U(0x7F0000007F)
    quarters = upper | (halves - U(100) * upper) << U(16)
    upper = (quarters * U(103)) >> U(10) & U(0xF000F000F000F)
    return upper | (quarters - U(10) * upper) << U(8)


@merged
def _write_digits(digits: Any, out: Any, at: int) -> int:
    """How many digits there are up to the last that is not zero, of seventeen that are written."""
    rest = digits % SIXTEEN
    high, low = _eight_digits(rest // EIGHT), _eight_digits(rest % EIGHT)
    out[U(at)] = np.uint8(U(ZERO) + digits // SIXTEEN)
    put_eight(high | ZEROS, out, at + 1)
    put_eight(low | ZEROS, out, at + 9)
    if low != U(0):
        return N_DIGITS - (np.int64(leading_zeros(low)) >> 3)
    return 9 - (np.int64(leading_zeros(high)) >> 3) if high != U(0) else 1


@merged
def _write_power(power: int, out: Any, at: int) -> int:
    """Where an exponent ends that is written there."""
    out[U(at)], out[U(at + 1)] = SMALL_E, MINUS if power < 0 else PLUS
    return write_number(abs(power), out, at + 2)


@merged
def _put_point(out: Any, at: int, n_before: int, n_digits: int) -> int:
    """Where a number ends, whose digits stand a letter too far on, with its point in its place."""
    for place in range(n_before):
        out[U(at + place)] = out[U(at + place + 1)]
    out[U(at + n_before)] = POINT
    return at + max(n_digits, n_before + 1) + 1


@merged
def _write_known(bits: Any, wide: Any, out: Any, at: int) -> int:
    """Where a float ends that is neither zero nor negative."""
    digits, power = shortest(bits, wide)
    while digits < SIXTEEN:  # hardly ever more than twice
        digits, power = digits * U(10), power - 1
    power += N_DIGITS - 1
    if FIRST_PLAIN <= power < 0:
        put_eight(ZERO_POINT, out, at)
        return at + 1 - power + _write_digits(digits, out, at + 1 - power)
    n_digits = _write_digits(digits, out, at + 1)
    if 0 <= power <= LAST_PLAIN:
        return _put_point(out, at, power + 1, n_digits)
    end = _put_point(out, at, 1, n_digits)
    return _write_power(power, out, end if n_digits > 1 else at + 1)


@merged
def write_float(bits: Any, wide: Any, out: Any, at: int) -> int:
    """Where a float ends that is written there, with some letters too many: up to 24 in all.

    What is no number is null.
    """
    if (bits >> U(52)) & U(INFINITE) == U(INFINITE):
        put_eight(NULL, out, at)
        return at + 4
    if bits >> U(63) != U(0):
        out[U(at)] = MINUS
        at, bits = at + 1, bits ^ U(1 << 63)
    if bits == U(0):
        put_eight(ZERO_POINT, out, at)
        return at + 3
    return _write_known(bits, wide, out, at)
