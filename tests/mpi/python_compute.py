"""Two functions that compute, of which the processor's time is known: measured by themselves, on each rank; rank 0 has more to do.

    python_compute.py LIBRARY SECONDS      prints, for each rank, a line of JSON: {"rank", "heavy", "light"}, seconds
"""
import ctypes
import json
import os
import sys
import time

library = ctypes.CDLL(sys.argv[1], ctypes.RTLD_GLOBAL)
rank = library.start()
spent = {'heavy': 0.0, 'light': 0.0}


def heavy(count):
    total = 0
    for i in range(count):
        total += i * i % 7  # LINE heavy
    return total


def light(count):
    total = 0
    for i in range(count):
        total += i * i % 7  # LINE light
    return total


def timed(function, count):
    begin = time.thread_time()
    function(count)
    spent[function.__name__] += time.thread_time() - begin


def compute(seconds):
    while spent['heavy'] + spent['light'] < seconds:
        timed(heavy, 40000)
        timed(light, 10000)


for _ in range(4):
    compute(float(sys.argv[2]) * (_ + 1) / 4 * (2 if rank == 0 else 1))
    library.barrier()
os.write(1, (json.dumps(dict(spent, rank=rank)) + '\n').encode())
library.stop()
