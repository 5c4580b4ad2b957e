# SPDX-License-Identifier: BSD-3-Clause
"""Reads runs that fvmpi recorded.

    import fvmpi

    run = fvmpi.open('exp')
    run                                   # in a notebook: the verdict, and the findings with bars
    for site in run.callsites:
        print(site.function, site.time_sum_s)
    run.callsites.select(where='share>5%', sort='-wait_s').to_pandas()

Every table of `fvmpi report` is an attribute of a run, and `run.callsites.__doc__` describes its columns. The package asks
the command for all it knows, so that it has the tables of the fvmpi that is installed. It is the command that $FVMPI
names, or else `fvmpi` on the PATH."""
from ._command import Error
from ._compare import compare, scaling, to_thicket
from ._run import Run, open
from ._table import Column, Row, Table
from ._tree import Node
from ._version import VERSION as __version__

__all__ = ['Column', 'Error', 'Node', 'Row', 'Run', 'Table', 'compare', 'open', 'scaling', 'to_thicket']
