"""Memory at bare addresses, for kernels that are compiled ahead."""

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array

written: Any = intrinsic  # takes one argument more than a call of what it makes


@written
def array_at(_context: Any, address: Any, n_items: Any) -> Any:
    """The array of so many items at an address, which nobody counts and nobody frees."""
    array = types.Array(address.dtype, 1, "C")

    def write(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        size = context.get_abi_sizeof(context.get_data_type(address.dtype))
        step = context.get_constant(types.intp, size)
        made = make_array(array)(context, builder)
        data = builder.bitcast(arguments[0], made.data.type)
        populate_array(made, data, [arguments[1]], [step], step, None)
        return made._getvalue()

    return array(address, n_items), write


@written
def move_eight(_context: Any, source: Any, start: Any, target: Any, at: Any) -> Any:
    """Copies eight letters from a place in one array to a place in another."""

    def write(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        from_, to = (
            builder.gep(make_array(kind)(context, builder, array).data, [place])
            for kind, array, place in zip(
                (source, target), arguments[::2], arguments[1::2], strict=True
            )
        )
        eight = ir.IntType(64).as_pointer()
        letters = builder.load(builder.bitcast(from_, eight), align=1)
        builder.store(letters, builder.bitcast(to, eight), align=1)
        return context.get_dummy_value()

    return types.void(source, start, target, at), write


@written
def eight_at(_context: Any, source: Any, at: Any) -> Any:
    """The eight letters at a place in an array, as one number; the first is its lowest part."""

    def write(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        from_ = builder.gep(make_array(source)(context, builder, arguments[0]).data, [arguments[1]])
        return builder.load(builder.bitcast(from_, ir.IntType(64).as_pointer()), align=1)

    return types.uint64(source, at), write


@written
def put_eight(_context: Any, _letters: Any, target: Any, at: Any) -> Any:
    """Writes eight letters, which are one number, to a place in an array."""

    def write(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        to = builder.gep(make_array(target)(context, builder, arguments[1]).data, [arguments[2]])
        builder.store(arguments[0], builder.bitcast(to, ir.IntType(64).as_pointer()), align=1)
        return context.get_dummy_value()

    return types.void(types.uint64, target, at), write


@written
def upper_half(_context: Any, _one: Any, _other: Any) -> Any:
    """The upper 64 bits of a product of two numbers of 64."""

    def write(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        wide = ir.IntType(128)
        product = builder.mul(*(builder.zext(each, wide) for each in arguments))
        return builder.trunc(builder.lshr(product, wide(64)), ir.IntType(64))

    return types.uint64(types.uint64, types.uint64), write
