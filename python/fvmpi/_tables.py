# SPDX-License-Identifier: BSD-3-Clause
"""Tables of a run by name, for editors and type checkers: the stub beside this file has them. ./dev docs writes it, from what
the command says of itself."""


class Tables:
    """A run has an attribute for each table."""
