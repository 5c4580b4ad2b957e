# SPDX-License-Identifier: BSD-3-Clause
"""What the generators of src/ have in common (front/gen_io.py, rt/gen_interposed.py). Standard library only."""

import os


def write(path, text):
    """A file is rewritten only if it changes, so that make rebuilds nothing in vain."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if os.path.exists(path):
        with open(path, encoding='ascii') as f:
            if f.read() == text:
                return
    with open(path, 'w', encoding='ascii') as f:
        f.write(text)
