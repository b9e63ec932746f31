"""`pysim export`: results as files for other tools; analyses what is not analysed yet."""

import argparse

from pysim.cli import UsageError


def execute(options: argparse.Namespace) -> int:
    """Carry the command out."""
    from analysis.exchange import (
        export,
        require_new,
    )  # pandas and Spark take longer than most commands
    from analysis.finished import run_directories
    from analysis.several import analyses

    try:
        require_new(options.out)
        for _, result in analyses(run_directories(options.directory), options.master):
            if isinstance(result, Exception):
                raise result
        files = export(options.directory, options.format, options.out)
    except (FileNotFoundError, FileExistsError, LookupError) as error:
        raise UsageError(str(error)) from None
    count = len(files)
    print(f"exported     {count} file{'s' if count != 1 else ''} to {options.out}")
    return 0
