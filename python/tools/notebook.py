"""Runs examples/audit.ipynb and writes its output into it: [--check] OBJECT

OBJECT is the shipped object that the notebook audits. With --check the output has to be the one that is there.
"""

import os
import sys
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).resolve().parent.parent / "examples" / "audit.ipynb"


def said(book: Any) -> list[list[Any]]:
    """The output of the cells, without what differs from run to run: text comes in pieces, as time goes by."""
    cells = []
    for cell in book.cells:
        parts: list[Any] = []
        for output in cell.get("outputs", []):
            text, data = output.get("text"), output.get("data")
            if text and parts and isinstance(parts[-1], str):
                parts[-1] += text
            else:
                parts.append(text or data)
        cells.append(parts)
    return cells


def main() -> int:
    words = [word for word in sys.argv[1:] if word != "--check"]
    if len(words) != 1:
        print(__doc__)
        return 2
    os.environ["VISAKIT_AUDIT"] = str(Path(words[0]).resolve())
    book: Any = nbformat.read(NOTEBOOK, as_version=4)  # type: ignore[no-untyped-call]
    before = said(book)
    # Use the installed package, not the folder beside this one.
    here = {"metadata": {"path": str(NOTEBOOK.parent)}}
    NotebookClient(book, timeout=300, kernel_name="python3", resources=here).execute()
    for cell in book.cells:
        cell.get("metadata", {}).pop("execution", None)
    book.metadata = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    if "--check" in sys.argv:
        for number, (old, new) in enumerate(zip(before, said(book))):
            if old != new:
                print(f"cell {number}: the output differs; `python tools/notebook.py OBJECT` writes it anew\n{old}\n{new}")
                return 1
        return 0
    nbformat.write(book, NOTEBOOK)  # type: ignore[no-untyped-call]
    return 0


if __name__ == "__main__":
    sys.exit(main())
