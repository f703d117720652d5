"""`python -m btf ...` is `btftool ...`."""

import os
import sys
import sysconfig
from pathlib import Path


def command() -> Path:
    """The program that was installed with this package, whatever PATH says. FileNotFoundError where it is gone."""
    here = Path(__file__).resolve().parent
    user = sysconfig.get_path("scripts", sysconfig.get_preferred_scheme("user"))
    # In an environment; for a user; with --prefix or --target; in a build tree.
    above = [parent / "bin" for parent in here.parents[3:4]]  # of a folder near the root there is none
    folders = [Path(sysconfig.get_path("scripts")), Path(user), *above, here.parent / "bin"]
    for folder in folders:
        if (folder / "btftool").is_file():
            return folder / "btftool"
    raise FileNotFoundError(f"no btftool in {', '.join(map(str, folders))}: install the package btftool again")


if __name__ == "__main__":
    try:
        program = command()
        os.execv(program, ["btftool", *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"python -m btf: {error}")
