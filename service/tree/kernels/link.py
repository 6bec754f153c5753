"""Linking: a kernel as machine code that runs wherever in memory it lies, without a linker.

LLVM writes an object file (ELF). What of it runs is laid out one section after the other, and the
places where one refers to another are filled in. Both are equally far apart wherever they lie, so
that nothing is left to do for whoever maps the file. A kernel that refers to anything outside is
refused: it would not be pure.
"""

import struct
from collections.abc import Iterator
from typing import Any, NamedTuple

from llvmlite import binding
from numba import njit

from service.tree.kernels.compile import LEAN
from service.tree.native import headed

COMPILED_SO = {  # variables of the process that compiles
    "NUMBA_CPU_NAME": "generic",
    "NUMBA_CPU_FEATURES": "",
    "NUMBA_SLP_VECTORIZE": "1",  # numbers that are told side by side go at once
}
SECTION, SYMBOL, RELOCATION = "<IIQQQQIIQQ", "<IBBHQQ", "<QQq"
RUNS, HOLDS_PLACES = 1, 4  # kinds of sections: with content, and RELA
CHANGES, IS_HELD = 1, 2  # flags of sections: may be written to, and are in memory
RELATIVE = (2, 4)  # R_X86_64_PC32 and R_X86_64_PLT32: 32 bits from the place to the symbol
TABLES = ".eh_frame"  # is for debuggers and exceptions


class Section(NamedTuple):
    """A section of an object file."""

    name: str
    kind: int
    flags: int
    content: bytes
    link: int  # which other sections
    info: int  # belong to it
    alignment: int


def machine_code(function: Any, signature: Any) -> bytes:
    """The file that a kernel becomes."""
    compiled = njit(signature, **LEAN)(function)
    (made,) = compiled.overloads.values()
    module = binding.parse_assembly(compiled.inspect_llvm(signature.args))
    name = made.fndesc.llvm_func_name
    _strip(module, name)
    machine = binding.Target.from_default_triple().create_target_machine(
        cpu="generic", features="", opt=3, reloc="pic", codemodel="small"
    )
    return linked(machine.emit_object(module), name, len(signature.args))


def _strip(module: Any, name: str) -> None:
    """Takes away all functions but one: those by which Python would call it."""
    for function in module.functions:
        if not function.is_declaration and function.name != name:
            function.linkage = binding.Linkage.internal
    options = binding.create_pipeline_tuning_options(speed_level=0)
    machine = binding.Target.from_default_triple().create_target_machine()
    passes = binding.create_new_module_pass_manager()
    passes.add_global_dead_code_eliminate_pass()
    passes.run(module, binding.create_pass_builder(machine, options))


def linked(elf: bytes, name: str, n_arguments: int) -> bytes:
    """What runs of an object file, which begins with the function of a name."""
    sections = list(_sections(elf))
    starts, image = {}, bytearray()
    for number, each in enumerate(sections):
        if each.kind == RUNS and each.flags & IS_HELD and each.name != TABLES:
            if each.flags & CHANGES:
                raise ValueError("a kernel keeps something from call to call")
            image.extend(bytes(-len(image) % max(each.alignment, 1)))
            starts[number] = len(image)
            image.extend(each.content)
    (symbols,) = (each for each in sections if each.name == ".symtab")
    names = sections[symbols.link].content
    places = {_text(names, at): starts[section] + value
              for at, section, value in _symbols(symbols) if section in starts}  # fmt: skip
    for each in sections:
        if each.kind == HOLDS_PLACES and each.info in starts:
            _fill_in(image, each, starts, list(_symbols(symbols)))
    return headed(bytes(image), places[name], n_arguments)


def _fill_in(
    image: bytearray, section: Section, starts: dict[int, int], symbols: list[tuple[int, int, int]]
) -> None:
    """Writes how far it is from each place to what it refers to."""
    for offset, what, addend in struct.iter_unpack(RELOCATION, section.content):
        _, home, value = symbols[what >> 32]
        if home not in starts or what & 0xFFFFFFFF not in RELATIVE:
            raise ValueError(f"a kernel refers to something outside, by relocation {what & 0xFF}")
        place = starts[section.info] + offset
        struct.pack_into("<i", image, place, starts[home] + value + addend - place)


def _sections(elf: bytes) -> Iterator[Section]:
    (start,) = struct.unpack_from("<Q", elf, 40)
    size, n_sections, names_in = struct.unpack_from("<HHH", elf, 58)
    headers = [struct.unpack_from(SECTION, elf, start + size * at) for at in range(n_sections)]
    names = elf[headers[names_in][4] :]
    for name, kind, flags, _, offset, length, link, info, alignment, _ in headers:
        content = elf[offset : offset + length]
        yield Section(_text(names, name), kind, flags, content, link, info, alignment)


def _symbols(section: Section) -> Iterator[tuple[int, int, int]]:
    """Per symbol where its name is, which section it is in, and where there."""
    for name, _, _, home, value, _ in struct.iter_unpack(SYMBOL, section.content):
        yield name, home, value


def _text(names: bytes, start: int) -> str:
    return names[start : names.index(b"\0", start)].decode()
