"""Calls MPI_Barrier from many shapes of Python code, and prints what its call sites must be: as JSON, a list of
[calls of each rank, [[function, file, line], ...]].

    python_paths.py LIBRARY [mpi4py]      LIBRARY: of python_library.c, by which MPI is called where mpi4py is not
"""
# A call and seen() beside it are in one line:
# fmt: off
import ctypes
import json
import os
import sys
import threading

library = ctypes.CDLL(sys.argv[1], ctypes.RTLD_GLOBAL)
if sys.argv[2:] == ['mpi4py']:
    from mpi4py import MPI
    barrier, stop, rank = MPI.COMM_WORLD.Barrier, MPI.Finalize, MPI.COMM_WORLD.Get_rank()
else:
    barrier, stop, rank = library.barrier, library.stop, library.start()

expected = {}


def seen():
    """The frames of who calls this, on the line where it also called MPI_Barrier."""
    frame, path = sys._getframe(1), []
    while frame:
        code = frame.f_code
        path.append((getattr(code, 'co_qualname', code.co_name), os.path.basename(code.co_filename), frame.f_lineno))
        frame = frame.f_back
    expected[tuple(path)] = expected.get(tuple(path), 0) + 1


def step():
    barrier(); seen()


def first():
    step()
    step()


def second():
    for _ in range(5):
        step()


def recursion(depth):
    if depth % 2:
        barrier(); seen()
    if depth:
        recursion(depth - 1)


def generator():
    for _ in range(2):
        barrier(); seen()
        yield 1


def expressions():
    [step() for _ in range(3)]
    sum(1 for _ in generator())
    (lambda: (barrier(), seen()))()
    list(map(lambda i: (barrier(), seen()), range(2)))
    sorted([2, 1], key=lambda i: (barrier(), seen(), i)[2])


def exceptions():
    try:
        try:
            raise ValueError
        except ValueError:
            barrier(); seen()
            raise KeyError
        finally:
            barrier(); seen()
    except KeyError:
        step()


class Solver:
    def __init__(self):
        barrier(); seen()

    def __enter__(self):
        barrier(); seen()
        return self

    def __exit__(self, *_):
        barrier(); seen()

    def __call__(self):
        step()

    def __del__(self):
        barrier(); seen()

    @property
    def value(self):
        barrier(); seen()
        return 1

    class Inner:
        @staticmethod
        def run():
            barrier(); seen()


def classes():
    with Solver() as solver:
        solver()
        solver.value
        Solver.Inner.run()


def callbacks():
    """C between frames of Python."""
    def called():
        barrier(); seen()
    library.through(ctypes.CFUNCTYPE(None)(called))


class Quick:
    def __init__(self):
        barrier(); seen()


def many():
    """The interpreter makes its own of what is called often."""
    for _ in range(100):
        Quick()
    for _ in (step() for _ in range(100)):
        pass
    [(lambda: step())() for _ in range(100)]


async def coroutine(depth):
    barrier(); seen()
    if depth:
        await coroutine(depth - 1)


def coroutines():
    try:
        coroutine(2).send(None)
    except StopIteration:
        pass


def made():
    """Code that is freed leaves its place to the next."""
    for i in range(20):
        exec(compile('\n' * i + 'barrier(); seen()', 'made{}.py'.format(i % 3), 'exec'), {'barrier': barrier, 'seen': seen})
    for i in range(20):
        eval(compile('\n' * i + '(lambda: (barrier(), seen()))()', 'made.py', 'eval'), {'barrier': barrier, 'seen': seen})


def in_thread():
    thread = threading.Thread(target=second)
    thread.start()
    thread.join()


def longer(numbers=range(400)):
    total = sum(
        n
        for n in numbers
    )
    for _ in range(300): barrier(); seen()
    return total


def größe_日本():
    barrier(); seen()


def main():
    for _ in range(3):
        first()
        second()
        recursion(6)
        expressions()
        exceptions()
        classes()
        callbacks()
        coroutines()
        made()
        in_thread()
        größe_日本()


main()
many()
longer()
barrier(); seen()
stop()
if rank == 0:
    print(json.dumps(sorted(([count, path] for path, count in expected.items()), key=str)))
