# SPDX-License-Identifier: BSD-3-Clause
"""Reads src/layers.txt. As a program it prints of each folder what it may include: FOLDER: FOLDERS AND HEADERS..."""
import os

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def layers():
    """By folder, upwards: itself, the folders that it may use, and headers."""
    found = {}
    with open(os.path.join(SOURCE, 'src', 'layers.txt'), encoding='utf-8') as f:
        lines = [line.split(':') for line in f if line.strip() and line[0] != '#']
    direct = {name: words.split() for name, words in lines}

    def reach(name):
        if name not in found:
            below = {to for word in direct[name] if word in direct for to in reach(word) if not to.endswith('.h')}
            found[name] = {name} | below | {word for word in direct[name] if word.endswith('.h')}
            found[name] -= {word[1:] for word in direct[name] if word[0] == '!'}
        return found[name]

    return {name: reach(name) for name in direct}


if __name__ == '__main__':
    for folder, may in layers().items():
        print(folder + ': ' + ' '.join(sorted(may)))
