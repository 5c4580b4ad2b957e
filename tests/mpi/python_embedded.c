/* A program with an interpreter of Python in it, from after MPI_Init to before MPI_Finalize. Declared here: its headers need not be there. */
#include <mpi.h>

void Py_Initialize(void);
void Py_Finalize(void);
int PyRun_SimpleString(const char *command);

static volatile int calls;

int barrier(void);
int barrier(void)
{
    int error = MPI_Barrier(MPI_COMM_WORLD);

    calls++;
    return error;
}

static __attribute__((noinline)) void without(void)
{
    barrier();
    calls++;
}

static __attribute__((noinline)) void within(void)
{
    PyRun_SimpleString("import ctypes\n"
                       "barrier = ctypes.CDLL(None).barrier\n"
                       "def step():\n"
                       "    barrier()\n"
                       "for _ in range(3): step()\n"
                       "step()\n");
    calls++;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    without();
    Py_Initialize();
    without();
    within();
    without();
    Py_Finalize();
    without();
    MPI_Finalize();
    return 0;
}
