#!/usr/bin/env python3
"""Writes random kernels in OpenCL C whose results are defined, for `kernels.py`.

    generate.py FOLDER COUNT [SEED]

Integers of all widths and their vectors, structures, arrays, functions, loops and branches that differ between
work-items, local memory between barriers, atomics whose order does not show, floats as long as they are exact.
Arithmetic on signed integers is done on unsigned ones, divisors are odd and positive, shifts and indices are masked,
each work-item writes elements of its own, and barriers are where the whole group arrives.
"""

import pathlib
import random
import sys

BITS = {"char": 8, "uchar": 8, "short": 16, "ushort": 16, "int": 32, "uint": 32, "long": 64, "ulong": 64}
WIDTHS = [1, 1, 1, 2, 3, 4, 8, 16]
ARRAY = 8  # elements of a private array
TILE = 256  # elements in local memory, no fewer than work-items of a group


class Type:
    """An integer type of OpenCL C, or a vector of one."""

    def __init__(self, base, width=1):
        self.base, self.width = base, width
        self.bits = BITS[base]
        self.signed = not base.startswith("u")
        self.name = base if width == 1 else f"{base}{width}"

    def __eq__(self, other):
        return self.name == other.name

    def unsigned(self):
        return Type(self.base if not self.signed else "u" + self.base, self.width)

    def element(self):
        return Type(self.base)

    def cast(self, text):
        """A conversion, modulo the width."""
        return f"({self.name})({text})" if self.width == 1 else f"convert_{self.name}({text})"


class Kernel:
    def __init__(self, rng):
        self.rng = rng
        self.scope = []  # names and types of variables that can be read
        self.counters = 0
        self.fields = [self.type() for _ in range(rng.randint(2, 5))]
        self.functions = []
        self.depth = 0

    def type(self, widths=WIDTHS):
        return Type(self.rng.choice(list(BITS)), self.rng.choice(widths))

    def fresh(self, letter="v"):
        self.counters += 1
        return f"{letter}{self.counters}"

    def chance(self, percent):
        return self.rng.randrange(100) < percent

    # Expressions.

    def constant(self, t):
        value = self.rng.choice([0, 1, 2, 7, t.bits - 1, (1 << t.bits) - 1, 1 << t.bits - 1,
                                 self.rng.getrandbits(t.bits), self.rng.getrandbits(8)])
        suffix = "ul" if t.bits == 64 else "u"
        return f"(({t.name})({value & (1 << t.bits) - 1:#x}{suffix}))"

    def leaf(self, t):
        same = [name for name, known in self.scope if known == t]
        if same and self.chance(70):
            return self.rng.choice(same)
        fitting = [(name, known) for name, known in self.scope if known.width == t.width]
        if fitting and self.chance(60):
            return t.cast(self.rng.choice(fitting)[0])
        vectors = [(n, k) for n, k in self.scope if k.width > 1 and (t.width == 1)]
        if vectors and self.chance(50):
            name, known = self.rng.choice(vectors)
            return t.cast(f"{name}.s{self.rng.randrange(known.width):x}")
        if t.width > 1 and self.chance(30):
            return f"({t.name})({', '.join(self.leaf(t.element()) for _ in range(t.width))})"
        if self.scope and self.chance(50):
            scalars = [(n, k) for n, k in self.scope if k.width == 1]
            if scalars:
                return f"(({t.name})({t.element().cast(self.rng.choice(scalars)[0])}))"
        return self.constant(t)

    def expression(self, t, depth=3):
        if depth == 0 or self.chance(15):
            return self.leaf(t)
        kinds = [self.arithmetic, self.arithmetic, self.arithmetic, self.bitwise, self.bitwise, self.shift,
                 self.division, self.comparison, self.choice, self.call, self.call, self.converted, self.reinterpreted]
        kinds += [self.swizzle, self.swizzle, self.shuffled, self.loaded] if t.width > 1 else [self.memory, self.exact, self.invoked, self.dot]
        return self.rng.choice(kinds)(t, depth - 1)

    def over(self, t, make):
        """An expression computed without signs, so that it may overflow, and without the promotion to `int`."""
        if t.width > 1:
            return f"as_{t.name}({make(lambda x: f'as_{t.unsigned().name}({x})')})"
        wide = "ulong" if t.bits == 64 else "uint"
        return f"({t.name})({make(lambda x: f'({wide})({x})')})"

    def arithmetic(self, t, depth):
        a, b = self.expression(t, depth), self.expression(t, depth)
        op = self.rng.choice("+-*")
        return self.over(t, lambda as_unsigned: f"{as_unsigned(a)} {op} {as_unsigned(b)}")

    def bitwise(self, t, depth):
        a = self.expression(t, depth)
        if self.chance(20):
            return f"({t.name})(~{a})"
        return f"({t.name})({a} {self.rng.choice('&|^')} {self.expression(t, depth)})"

    def shift(self, t, depth):
        a, by = self.expression(t, depth), f"({self.expression(t, depth)} & ({t.name})({t.bits - 1}))"
        if self.chance(40):
            return f"({t.name})({a} >> {by})"
        if self.chance(40):
            return f"rotate({a}, {self.expression(t, depth)})"
        return self.over(t, lambda as_unsigned: f"{as_unsigned(a)} << {as_unsigned(by)}")

    def division(self, t, depth):
        most = (1 << t.bits - 1) - 1
        divisor = f"(({self.expression(t, depth)} & ({t.name})({most:#x}{'l' * (t.bits == 64)})) | ({t.name})(1))"
        return f"({t.name})({self.expression(t, depth)} {self.rng.choice('/%')} {divisor})"

    def comparison(self, t, depth):
        op = self.rng.choice(["<", "<=", "==", "!=", ">", ">="])
        return t.cast(f"{self.expression(t, depth)} {op} {self.expression(t, depth)}")

    def condition(self, depth=2):
        t = self.type([1])
        return self.comparison(t, depth)

    def choice(self, t, depth):
        a, b = self.expression(t, depth), self.expression(t, depth)
        if t.width == 1 and self.chance(70):
            return f"({t.name})({self.condition(depth)} ? {a} : {b})"
        return f"select({a}, {b}, {self.expression(t, depth)})"

    def call(self, t, depth):
        arg = lambda: self.expression(t, depth)
        kind = self.rng.choice(["min", "max", "mul_hi", "hadd", "rhadd", "add_sat", "sub_sat", "popcount", "clz",
                                "bitselect", "clamp", "abs", "abs_diff", "mad_hi", "mad_sat", "24"])
        if kind in ("popcount", "clz"):
            return f"{kind}({arg()})"
        if kind in ("abs", "abs_diff"):
            return f"as_{t.name}({kind}({', '.join(arg() for _ in range(1 + (kind == 'abs_diff')))}))"
        if kind == "clamp":
            a, b = arg(), arg()
            return f"clamp({arg()}, min({a}, {b}), max({a}, {b}))"
        if kind in ("bitselect", "mad_hi") or kind == "mad_sat" and t.bits < 64:
            return f"{kind}({arg()}, {arg()}, {arg()})"
        if kind in ("24", "mad_sat"):
            wide = Type("int" if t.signed else "uint", t.width)
            masked = lambda: f"({self.expression(wide, depth)} & ({wide.name})(0x7fff))"
            return t.cast(f"mad24({masked()}, {masked()}, {masked()})")
        return f"{kind}({arg()}, {arg()})"

    def converted(self, t, depth):
        other = self.type([t.width])
        text = self.expression(other, depth)
        return f"convert_{t.name}_sat({text})" if self.chance(50) else t.cast(text)

    def reinterpreted(self, t, depth):
        size = t.bits * t.width if t.width != 3 else t.bits * 4
        same = [Type(base, width) for base, bits in BITS.items() for width in (1, 2, 4, 8, 16) if bits * width == size]
        if t.width == 3 or not same:
            same = [Type(base, t.width) for base, bits in BITS.items() if bits == t.bits]
        return f"as_{t.name}({self.expression(self.rng.choice(same), depth)})"

    def swizzle(self, t, depth):
        wider = [w for w in (2, 4, 8, 16) if w >= t.width]
        source = Type(t.base, self.rng.choice(wider or [16]))
        lanes = "".join(f"{self.rng.randrange(source.width):x}" for _ in range(t.width))
        if t.width in (2, 4, 8) and self.chance(30):
            return f"({self.expression(Type(t.base, 2 * t.width), depth)}).{self.rng.choice(['lo', 'hi', 'even', 'odd'])}"
        return f"({self.expression(source, depth)}).s{lanes}"

    def shuffled(self, t, depth):
        if t.width == 3:
            return self.swizzle(t, depth)
        source = Type(t.base, self.rng.choice([2, 4, 8, 16]))
        lanes = self.expression(t.unsigned(), depth)
        if self.chance(50):
            return f"shuffle({self.expression(source, depth)}, {lanes})"
        return f"shuffle2({self.expression(source, depth)}, {self.expression(source, depth)}, {lanes})"

    def loaded(self, t, depth):
        return t.cast(f"vload{t.width}({self.index(64, depth)}, in)")

    def index(self, count, depth=1):
        return f"({self.expression(Type('uint'), depth)} & {count - 1})"

    def memory(self, t, depth):
        kind = self.rng.randrange(4)
        if kind == 0:
            return t.cast(f"in[{self.index(1024, depth)}]")
        if kind == 1:
            return t.cast(f"array[{self.index(ARRAY, depth)}]")
        if kind == 2:
            return t.cast(f"table[{self.index(ARRAY, depth)}]")
        number = self.rng.randrange(len(self.fields))
        lane = f".s{self.rng.randrange(self.fields[number].width):x}" if self.fields[number].width > 1 else ""
        return t.cast(f"pairs[{self.index(2, depth)}].f{number}{lane}")

    def exact(self, t, depth):
        """A sum of a product of floats that is a whole number below 2^24."""
        a, b, c = (f"(float)({self.expression(Type('uint'), depth)} & 0x7ff)" for _ in range(3))
        return t.cast(f"(uint)({a} * {b} + {c})")

    def dot(self, t, depth):
        v = Type(t.base, self.rng.choice([2, 4]))
        text = self.expression(v, depth)
        return f"({t.name})(({text}).s0 ^ ({self.expression(v, depth)}).s{v.width - 1})"

    def invoked(self, t, depth):
        if not self.functions:
            return self.leaf(t)
        name, result, parameters = self.rng.choice(self.functions)
        words = ", ".join(self.expression(p, min(depth, 1)) for p in parameters)
        text = f"{name}(in, array, pairs{', ' if words else ''}{words})"
        return t.cast(text if result.width == 1 else f"({text}).s0")

    # Statements.

    def block(self, lines, indent, inside):
        known = len(self.scope)
        for _ in range(self.rng.randint(1, 4)):
            self.statement(lines, indent, inside)
        del self.scope[known:]

    def statement(self, lines, indent, inside):
        """Adds a statement; `inside` says whether a loop can be left or continued."""
        pad = "    " * indent
        kind = self.rng.randrange(12)
        deep = indent > 4
        if kind < 3 or deep:
            t = self.type()
            name = self.fresh()
            lines.append(f"{pad}{t.name} {name} = {self.expression(t)};")
            self.scope.append((name, t))
        elif kind < 6:
            free = [(n, k) for n, k in self.scope if n.startswith("v")]
            if free:
                name, t = self.rng.choice(free)
                if t.width > 1 and self.chance(40):
                    name, t = f"{name}.s{self.rng.randrange(t.width):x}", t.element()
                lines.append(f"{pad}{name} = {self.expression(t)};")
        elif kind == 6:
            lines.append(f"{pad}array[{self.index(ARRAY)}] = {self.expression(Type('ushort'))};")
        elif kind == 7:
            number = self.rng.randrange(len(self.fields))
            text = self.expression(self.fields[number])
            lines.append(f"{pad}pairs[{self.index(2)}].f{number} = {text};")
        elif kind == 8:
            lines.append(f"{pad}if ({self.condition()}) {{")
            self.block(lines, indent + 1, inside)
            if self.chance(50):
                lines.append(f"{pad}}} else {{")
                self.block(lines, indent + 1, inside)
            lines.append(f"{pad}}}")
        elif kind == 9:
            i = self.fresh("i")
            bound = str(self.rng.randint(1, 5)) if self.chance(50) else self.index(8)
            lines.append(f"{pad}for (uint {i} = 0, n{i} = {bound}; {i} < n{i}; {i}++) {{")
            self.scope.append((i, Type("uint")))
            self.block(lines, indent + 1, True)
            self.scope.pop()
            lines.append(f"{pad}}}")
        elif kind == 10:
            lines.append(f"{pad}switch ({self.index(4)}) {{")
            for case in range(3):
                lines.append(f"{pad}case {case}: {{")
                self.block(lines, indent + 1, False)
                lines.append(f"{pad}}}{' break;' if self.chance(70) else ''}")
            lines.append(f"{pad}default: break;")
            lines.append(f"{pad}}}")
        elif inside:
            lines.append(f"{pad}if ({self.condition(1)}) {self.rng.choice(['break', 'continue'])};")

    def exchange(self, lines):
        """What the work-items of a group tell each other."""
        lines += [f"    tile[lid] = {self.expression(Type('uint'))};", "    barrier(CLK_LOCAL_MEM_FENCE);"]
        name = self.fresh()
        lines.append(f"    uint {name} = tile[(lid + {self.expression(Type('uint'), 1)} % lsize) % lsize];")
        self.scope.append((name, Type("uint")))
        lines.append("    barrier(CLK_LOCAL_MEM_FENCE);")

    def counted(self, lines):
        """Atomics on numbers that each have one operation of their own, so that no order shows."""
        number = self.rng.randrange(6)
        op = ["add", "xor", "or", "and", "min", "max"][number]
        place = f"{4 * number} + {self.index(4)}"
        t = self.rng.choice(["sums", "counts"])
        lines.append(f"    if ({self.condition()}) atomic_{op}(&{t}[{place}], {self.expression(Type('uint'))});")
        if t == "counts":
            name = self.fresh()
            lines += ["    barrier(CLK_LOCAL_MEM_FENCE);", f"    uint {name} = counts[{self.index(24)} % 24];",
                      "    barrier(CLK_LOCAL_MEM_FENCE);"]
            self.scope.append((name, Type("uint")))

    def function(self):
        name = self.fresh("f")
        result, parameters = self.type(), [self.type() for _ in range(self.rng.randint(0, 3))]
        self.scope = [(f"p{n}", t) for n, t in enumerate(parameters)]
        words = "".join(f", {t.name} {n}" for n, t in self.scope)
        lines = [f"{result.name} {name}(global const uint *in, ushort *array, struct pair *pairs{words}) {{"]
        for _ in range(self.rng.randint(1, 4)):
            self.statement(lines, 1, False)
        lines += [f"    return {self.expression(result)};", "}", ""]
        self.functions.append((name, result, parameters))
        return lines

    def text(self):
        lines = ["struct pair {", *(f"    {t.name} f{n};" for n, t in enumerate(self.fields)), "};", ""]
        table = ", ".join(f"{self.rng.getrandbits(32):#x}" for _ in range(ARRAY))
        lines += [f"constant uint table[{ARRAY}] = {{{table}}};", ""]
        for _ in range(self.rng.randint(0, 3)):
            lines += self.function()
        plane = self.chance(40)
        gid = "get_global_id(0) + get_global_size(0) * get_global_id(1)" if plane else "get_global_id(0)"
        lid = "get_local_id(0) + get_local_size(0) * get_local_id(1)" if plane else "get_local_id(0)"
        size = "get_local_size(0) * get_local_size(1)" if plane else "get_local_size(0)"
        lines += ["kernel void test(global uint *out, global const uint *in, global uint *sums, uint n) {",
                  f"    local uint tile[{TILE}], counts[24];",
                  f"    uint gid = {gid}, lid = {lid}, lsize = {size};",
                  "    if (lid < 24) counts[lid] = lid;", "    barrier(CLK_LOCAL_MEM_FENCE);",
                  f"    ushort array[{ARRAY}];",
                  f"    for (uint i = 0; i < {ARRAY}; i++) array[i] = in[(gid + i) & 1023] * 2654435761u >> 9;",
                  "    struct pair pairs[2];"]
        self.scope = [("gid", Type("uint")), ("lid", Type("uint")), ("n", Type("uint"))]
        for pair in range(2):
            some = f"(in[(gid + {pair}) & 1023] * 0x85ebca6bu)"
            lines += [f"    pairs[{pair}].f{n} = ({t.name})(({t.base}){some});" for n, t in enumerate(self.fields)]
        name = self.fresh()
        lines.append(f"    uint {name} = in[gid & 1023] * 0x9e3779b9u ^ gid;")
        self.scope.append((name, Type("uint")))
        for _ in range(self.rng.randint(4, 12)):
            if self.chance(15):
                self.exchange(lines)
            elif self.chance(15):
                self.counted(lines)
            else:
                self.statement(lines, 1, False)
        lines.append("    uint all = 0;")
        for name, t in self.scope:
            for lane in range(t.width):
                part = f"{name}.s{lane:x}" if t.width > 1 else name
                lines.append(f"    all = all * 31u + (uint){part}{f' + (uint)({part} >> 32)' * (t.bits == 64)};")
        lines += [f"    for (uint i = 0; i < {ARRAY}; i++) all = all * 31u + array[i];", "    out[gid] = all;", "}"]
        return "\n".join(lines) + "\n"


def main():
    folder, count = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    folder.mkdir(parents=True, exist_ok=True)
    for seed in range(first, first + count):
        (folder / f"random{seed:05}.cl").write_text(Kernel(random.Random(seed)).text())


if __name__ == "__main__":
    main()
