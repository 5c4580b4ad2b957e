"""mpi4py: MPI is loaded by a dlopen'd extension. Each rank passes 80 bytes on, 3 times, then all reduce."""
from mpi4py import MPI
import array

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()
out, into = array.array('d', [rank] * 10), array.array('d', [0] * 10)
for i in range(3):
    comm.Sendrecv([out, MPI.DOUBLE], (rank + 1) % size, 1, [into, MPI.DOUBLE], (rank - 1) % size, 1)
assert into[0] == (rank - 1) % size
total = comm.allreduce(rank)
objects = comm.bcast({'a': list(range(100))} if rank == 0 else None, 0)
assert len(objects['a']) == 100
if rank == 0:
    print('python ring of', size, 'sum', total)
