"""Writes visakit/enums.py from the instruction table: python tools/enums.py [--check]"""

import keyword
import sys
from pathlib import Path

DOCS = {
    "Op": "Instructions, by the names of the rows of the instruction table.",
    "DataType": "Element types.",
    "Field": "Fields of instructions.",
    "Group": "What instructions are for.",
}


def member(value: str) -> str:
    name = value.upper().replace("-", "_").replace(".", "_")
    name = f"_{name}" if name[0].isdigit() else name
    return f"{name}_" if keyword.iskeyword(name) or name == "NAME" else name


def page(enumerations: list[tuple[str, list[tuple[str, str]]]]) -> str:
    out = ['"""Enumerations, made by tools/enums.py; their members are strings."""', "", "from enum import StrEnum", ""]
    for name, values in enumerations:
        out += ["", f"class {name}(StrEnum):", f'    """{DOCS[name]}"""', ""]
        used: set[str] = set()
        for value, doc in values:
            # Names that differ only in case.
            chosen = member(value)
            while chosen in used:
                chosen += "_"
            used.add(chosen)
            out.append(f'    {chosen} = "{value}"')
            if doc:
                doc = doc.replace("\\", "\\\\").replace('"', "'").strip()
                out.append(f'    """{doc}"""')
        out.append("")
    return "\n".join(out)


if __name__ == "__main__":
    import importlib.util

    # Only the module: the package needs the file that is generated here.
    found = next((Path(__file__).parent.parent / "visakit").glob("_visakit*.so"))
    spec = importlib.util.spec_from_file_location("_visakit", found)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    target = Path(__file__).parent.parent / "visakit" / "enums.py"
    text = page(module.enumerations())
    if "--check" in sys.argv:
        sys.exit(0 if target.read_text() == text else f"{target} is not up to date: run tools/enums.py")
    target.write_text(text)
