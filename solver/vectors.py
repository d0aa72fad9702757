"""Vectors of `LANES` float64 values for compiled code: load, store, and lane-wise arithmetic.

Loops over rows of one array, left to the compiler, carry checks that the rows do not overlap and were
2.6 times slower in a prototype. These operations say outright what is meant; LLVM splits a vector into the
registers that the machine has. Indices count float64 values from the start of the array.
"""

from __future__ import annotations

from collections.abc import Callable
from math import factorial, log
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, models, register_model

from .states import LANES

_VECTOR = ir.VectorType(ir.DoubleType(), LANES)
_ALIGNMENT = 8


def operation(function: Callable[..., Any]) -> Any:
    """Make an intrinsic; typed loosely, since it is called with other arguments than it is defined with."""
    return intrinsic(function)


class VectorType(types.Type):
    """The numba type of a vector of lanes."""

    def __init__(self) -> None:
        super().__init__(name=f"Vector{LANES}")


vector: Any = VectorType()


@register_model(VectorType)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _VECTOR)  # type: ignore[no-untyped-call]


def _pointer(context: Any, builder: Any, kind: Any, array: Any, index: Any) -> Any:
    data = context.make_array(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [index]), _VECTOR.as_pointer())


@operation
def load(typing: Any, array: Any, index: Any) -> Any:
    """Return the vector at array[index : index + LANES]."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load(_pointer(context, builder, signature.args[0], *args), align=_ALIGNMENT)

    return vector(array, types.uintp), code


@operation
def store(typing: Any, array: Any, index: Any, value: Any) -> Any:
    """Write a vector to array[index : index + LANES]."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = _pointer(context, builder, signature.args[0], *args[:2])
        builder.store(args[2], pointer, align=_ALIGNMENT)
        return context.get_dummy_value()

    return types.void(array, types.uintp, vector), code


@operation
def spread(typing: Any, number: Any) -> Any:
    """Return a vector with this number in every lane."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        empty = ir.Constant(_VECTOR, ir.Undefined)
        one = builder.insert_element(empty, args[0], ir.Constant(ir.IntType(32), 0))
        return builder.shuffle_vector(
            one, empty, ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
        )

    return vector(types.float64), code


@operation
def add(typing: Any, a: Any, b: Any) -> Any:
    """Return a + b in each lane."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.fadd(*args)

    return vector(vector, vector), code


@operation
def chosen(typing: Any, first: Any, end: Any) -> Any:
    """Return 0 in lanes first .. end-1 and minus infinity elsewhere: what is added keeps the first alone."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        integer = ir.IntType(64)
        lanes = ir.Constant(ir.VectorType(integer, LANES), list(range(LANES)))
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)

        empty = ir.Constant(lanes.type, ir.Undefined)

        def everywhere(number: Any) -> Any:
            one = builder.insert_element(empty, number, ir.Constant(ir.IntType(32), 0))
            return builder.shuffle_vector(one, empty, zeros)

        from_first = builder.icmp_signed(">=", lanes, everywhere(args[0]))
        inside = builder.and_(from_first, builder.icmp_signed("<", lanes, everywhere(args[1])))
        zero, low = (ir.Constant(_VECTOR, [number] * LANES) for number in (0.0, float("-inf")))
        return builder.select(inside, zero, low)

    return vector(types.int64, types.int64), code


@operation
def times(typing: Any, a: Any, b: Any) -> Any:
    """Return a x b in each lane."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.fmul(*args)

    return vector(vector, vector), code


def _greater(builder: Any, a: Any, b: Any) -> Any:
    return builder.select(builder.fcmp_ordered(">", a, b), a, b)


@operation
def greater(typing: Any, a: Any, b: Any) -> Any:
    """Return the greater of a and b in each lane; neither may be a NaN."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _greater(builder, *args)

    return vector(vector, vector), code


@operation
def above(typing: Any, value: Any, bound: Any, then: Any, otherwise: Any) -> Any:
    """Return `then` in the lanes where value > bound, `otherwise` in the others."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.select(builder.fcmp_ordered(">", *args[:2]), *args[2:])

    return vector(vector, vector, vector, vector), code


@operation
def equal(typing: Any, a: Any, b: Any, then: Any, otherwise: Any) -> Any:
    """Return `then` in the lanes where a = b, `otherwise` in the others."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.select(builder.fcmp_ordered("==", *args[:2]), *args[2:])

    return vector(vector, vector, vector, vector), code


@operation
def alike(typing: Any, value: Any) -> Any:
    """Return whether all lanes hold the same number."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
        first = builder.shuffle_vector(args[0], args[0], zeros)
        same = builder.bitcast(builder.fcmp_ordered("==", args[0], first), ir.IntType(LANES))
        return builder.icmp_unsigned("==", same, ir.Constant(same.type, -1))

    return types.boolean(vector), code


def _gather(context: Any, builder: Any, signature: Any, args: Any, count: int) -> list[Any]:
    """Load `count` vectors from args[0], at the offsets that stand from index args[2] on in args[1]."""
    array, offsets, at = args[:3]
    data = context.make_array(signature.args[1])(context, builder, offsets).data
    vectors = []
    for place in range(count):
        offset = builder.load(builder.gep(data, [builder.add(at, ir.Constant(at.type, place))]))
        index = builder.zext(offset, at.type)
        pointer = _pointer(context, builder, signature.args[0], array, index)
        vectors.append(builder.load(pointer, align=_ALIGNMENT))
    return vectors


@operation
def mean_of_six(typing: Any, array: Any, offsets: Any, at: Any) -> Any:
    """Return the mean of the six vectors at array[offsets[at .. at + 5]], added as ((0+1)+(2+3))+(4+5)."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        v = _gather(context, builder, signature, args, 6)
        pairs = [builder.fadd(v[0], v[1]), builder.fadd(v[2], v[3]), builder.fadd(v[4], v[5])]
        total = builder.fadd(builder.fadd(pairs[0], pairs[1]), pairs[2])
        return builder.fmul(total, ir.Constant(_VECTOR, [1 / 6] * LANES))

    return vector(array, offsets, types.uintp), code


def _extreme_of_six(sign: str) -> Any:
    @operation
    def extreme(typing: Any, array: Any, offsets: Any, at: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            best, *others = _gather(context, builder, signature, args, 6)
            for other in others:
                best = builder.select(builder.fcmp_ordered(sign, other, best), other, best)
            return best

        return vector(array, offsets, types.uintp), code

    return extreme


# The least and the greatest of the six vectors that `mean_of_six` takes the mean of.
least_of_six = _extreme_of_six("<")
greatest_of_six = _extreme_of_six(">")


def _greatest(count: int) -> Any:
    @operation
    def greatest(typing: Any, array: Any, offsets: Any, at: Any, best: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            v = [*_gather(context, builder, signature, args, count), args[3]]
            while len(v) > 1:
                pairs = zip(v[::2], v[1::2], strict=False)
                v = [_greater(builder, a, b) for a, b in pairs] + ([v[-1]] if len(v) % 2 else [])
            return v[0]

        return vector(array, offsets, types.uintp, vector), code

    return greatest


# The greatest of `best` and the vectors at array[offsets[at .. at + n - 1]], for each n: unrolled, since
# a loop of unforeseen length costs more than its work.
greatest_of_1 = _greatest(1)
greatest_of_2 = _greatest(2)
greatest_of_3 = _greatest(3)
greatest_of_4 = _greatest(4)
greatest_of_5 = _greatest(5)
greatest_of_6 = _greatest(6)


@operation
def minus(typing: Any, a: Any, b: Any) -> Any:
    """Return a - b in each lane."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.fsub(*args)

    return vector(vector, vector), code


@operation
def over(typing: Any, a: Any, b: Any) -> Any:
    """Return a / b in each lane."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.fdiv(*args)

    return vector(vector, vector), code


_LEAST_EXPONENT = -708.0
_LN_2_HIGH, _LN_2_LOW = 0.6931471803691238, 1.9082149292705877e-10
"""The logarithm of 2 in two parts: the first has few bits, so that n times it is exact."""
_TERMS = 12


@operation
def exponential(typing: Any, x: Any) -> Any:
    """Return exp(x) in each lane, for x up to 0 (or 708), with a relative error of about 4e-16.

    Where x is below -708 or a NaN it is that of -708, 3e-308: nothing, beside a 1. The same to the bit on
    every machine, and several times as fast as the library's function called for each lane.
    """

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        # x = n ln 2 + r with |r| <= ln 2 / 2; the series of exp(r), and n added to the exponent's bits.
        def everywhere(number: float) -> Any:
            return ir.Constant(_VECTOR, [number] * LANES)

        whole = ir.VectorType(ir.IntType(64), LANES)
        least = everywhere(_LEAST_EXPONENT)
        held = builder.select(builder.fcmp_ordered(">", args[0], least), args[0], least)
        # A number of this size has no bits for fractions: the sum is rounded, and its low bits are n.
        rounding = everywhere(1.5 * 2.0**52)
        shifted = builder.fadd(builder.fmul(held, everywhere(1 / log(2))), rounding)
        n = builder.fsub(shifted, rounding)
        rest = builder.fsub(held, builder.fmul(n, everywhere(_LN_2_HIGH)))
        rest = builder.fsub(rest, builder.fmul(n, everywhere(_LN_2_LOW)))
        series = everywhere(1 / factorial(_TERMS))
        for term in range(_TERMS - 1, -1, -1):
            series = builder.fadd(builder.fmul(series, rest), everywhere(1 / factorial(term)))
        bits = builder.shl(builder.bitcast(shifted, whole), ir.Constant(whole, [52] * LANES))
        scaled = builder.add(builder.bitcast(series, whole), bits)
        return builder.bitcast(scaled, _VECTOR)

    return vector(vector), code
