/* In a program, or preloaded: an interpreter of Python that says to be of a version. */
#include <stdlib.h>

const char *Py_GetVersion(void);
const char *Py_GetVersion(void)
{
    return getenv("VERSION_OF_PYTHON");
}
