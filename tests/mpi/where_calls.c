/* A hundred thousand system calls that block, and are begun anew after a signal:   where_calls [COUNT]
 *
 * A child writes bytes into a pipe, slowly enough that the parent waits for most of them; a thread waits for a lock. It
 * prints how often a call ended otherwise than without signals, and a sum of the bytes. */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *wait_for_lock(void *failed)
{
    *(int *)failed = pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void send_all(int fd, long count)
{
    for (long i = 0; i < count; i++) {
        uint8_t byte = (uint8_t)(i * 7 + i / 256);

        if (write(fd, &byte, 1) != 1)
            _exit(1);
        if (i % 1024 == 0)
            usleep(40000);
    }
    _exit(0);
}

int main(int argc, char **argv)
{
    long count = argc > 1 ? atol(argv[1]) : 100000, wrong = 0, interrupted = 0;
    uint64_t sum = 0;
    int ends[2], failed = -1;
    pthread_t thread;

    if (pipe(ends))
        return 1;
    if (!fork())
        send_all(ends[1], count);
    pthread_mutex_lock(&lock);
    pthread_create(&thread, NULL, wait_for_lock, &failed);
    for (long i = 0; i < count; i++) {
        uint8_t byte = 0;
        ssize_t got = read(ends[0], &byte, 1);

        interrupted += got < 0 && errno == EINTR;
        wrong += got != 1;
        sum = sum * 31 + byte;
    }
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    printf("%ld bytes, %ld interrupted, %ld wrong, lock %d, sum %016llx\n", count, interrupted, wrong, failed,
           (unsigned long long)sum);
    return 0;
}
