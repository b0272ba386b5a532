"""What a folder of objects asks the hardware for: python examples/audit.py FOLDER"""

import sys
from collections import Counter
from pathlib import Path

import visakit


def main(folder: Path) -> None:
    groups: Counter[visakit.Group] = Counter()
    for path in sorted(folder.glob("**/*.isa")):
        obj = visakit.read(path)
        for routine in obj.routines:
            groups.update(i.group for i in routine)
            wide = [i for i in routine if i.type is visakit.DataType.DF]
            if wide:
                print(f"{path.name}: {routine.name} computes in df, first: {wide[0]}")
        errors = [f for f in visakit.validate(obj) if f.severity == "error"]
        for finding in errors[:3]:
            print(f"{path.name}: {finding.place}: {finding.message} ({finding.help})")
    for group, count in groups.most_common():
        print(f"{count:8} {group}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
