/* A plugin with a lock of its own, whose name is given by -DLOCK. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

static pthread_mutex_t LOCK = PTHREAD_MUTEX_INITIALIZER;
int use(int times);

int use(int times)
{
#if defined(SHIFTED)
    __asm__ volatile(".skip 64, 0x90"); /* the call stands elsewhere, the lock does not */
#endif
    for (int i = 0; i < times; i++) {
        pthread_mutex_lock(&LOCK);
        pthread_mutex_unlock(&LOCK);
    }
    return (int)((uintptr_t)&LOCK >> 4);
}
