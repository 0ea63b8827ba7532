"""Compare two run folders: python -m helpers.compare_runs BEFORE AFTER, in tests/.

Weights, metrics, scores, counts, the columns of the store and the names of step files are compared byte by byte, and
every difference is listed. Configs, manifests and reports may differ. Ends with 1 if something differs.
"""

import sys
from pathlib import Path

from helpers.run_contents import contents, step_files


def differences(before: Path, after: Path) -> list[str]:
    """A line per content that differs or is missing; a column that the store did not have before is no difference."""
    first, second = contents(before), contents(after)
    found = [f"only before: {name}" for name in sorted(first.keys() - second.keys())]
    added = sorted(second.keys() - first.keys())
    found += [
        f"only after: {name}" for name in added if not name.partition(" ")[0].rpartition("/")[0].endswith("store")
    ]
    found += [f"other bytes: {name}" for name in first if name in second and first[name].digest != second[name].digest]
    steps, later = step_files(before), step_files(after)
    for place in sorted(steps.keys() | later.keys()):
        for name in sorted({*steps.get(place, [])} ^ {*later.get(place, [])}):
            found.append(f"step file only {'before' if name in steps.get(place, []) else 'after'}: {place}/{name}")
    return found


def main(before: Path, after: Path) -> int:
    for folder in (before, after):
        if not contents(folder):
            print(f"{folder}: no run, or an empty one")
            return 2
    found = differences(before, after)
    print(*found, sep="\n", end="\n" if found else "")
    print(f"{len(contents(before))} contents compared, {len(found)} differences")
    return 1 if found else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
