/* Of another unit, in which the same is inlined twice. */
#include "inlined.h"

__attribute__((noinline)) void other(double *data, int count)
{
    for (int i = 0; i < count; i++)
        data[i] = tools::middle(data[i]); // PLACE loop
    data[0] += tools::innermost((float)count); // PLACE once
    here("other"); // PLACE other
    NO_LAST_CALL;
}
