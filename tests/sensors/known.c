/* What happens to the machine while sensors are read (job.t). Without arguments nothing is told but a sum; arguments are what to do, in their order:
 *
 *     wait           until the thread that reads the sensors, if this process has it, has slept three times more: two samples have been taken meanwhile
 *     add FILE N     FILE holds a number: N more, as by a device that counts
 *     begin NAME, end NAME     a section
 *     pages N        so many pages are touched for the first time
 *     loopback N     so many bytes are sent to this process over the loopback interface
 *     label TEXT    of rank 0
 *     until FILE    is there
 *     descriptors    the number that the next one has is told, and all others are closed
 *     pin            to a processor, each rank to another one as far as there are
 *     setuid, fork, kill       as their names say
 *     gpu            the power of the first GPU, by the library that the sensors ask, too (gpus.t)
 *     leave          main() is left by pthread_exit(), and another thread ends the process
 *     alone          likewise, and it was the last one
 *     elsewhere      as the first word: another thread is MPI's, and waits; main() is left by pthread_exit() meanwhile
 *
 * Rank 0 adds, touches and sends; all wait. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#ifndef ALONE
#include <mpi.h>
#endif
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fvmpi.h"

static int rank;

static void nap(void)
{
    nanosleep(&(struct timespec){ .tv_nsec = 5000000 }, NULL);
}

/* The number behind `key` in a thread's status. */
static long status_of(const char *thread, const char *key)
{
    char path[300], line[300];
    long value = -1;

    snprintf(path, sizeof(path), "/proc/self/task/%s/status", thread);
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof(line), f))
        if (!strncmp(line, key, strlen(key)))
            value = key[strlen(key) - 1] == ':' ? atol(line + strlen(key)) : 1;
    if (f)
        fclose(f);
    return value;
}

/* "": this process has it not. */
static void find_reader(char name[32])
{
    DIR *d = opendir("/proc/self/task");

    *name = '\0';
    for (struct dirent *e; d && (e = readdir(d));)
        if (status_of(e->d_name, "Name:\tfvmpi-sensors") > 0)
            snprintf(name, 32, "%.30s", e->d_name);
    closedir(d);
}

static void wait_for_samples(void)
{
    char thread[32];

    for (int i = 0; i < 20; i++) { /* it may not have its name yet */
        find_reader(thread);
        if (*thread || !getenv("FVMPI_SENSORS"))
            break;
        nap();
    }
    if (*thread)
        for (long first = status_of(thread, "voluntary_ctxt_switches:"), i = 0; status_of(thread, "voluntary_ctxt_switches:") < first + 3 && i < 4000; i++)
            nap();
#ifndef ALONE
    MPI_Barrier(MPI_COMM_WORLD);
#endif
}

/* Overwritten in place, by digits that do not become fewer. */
static void add(const char *path, long more)
{
    FILE *f = fopen(path, "r+");
    long value;

    if (!f || fscanf(f, "%ld", &value) != 1)
        exit(9);
    rewind(f);
    fprintf(f, "%ld\n", value + more);
    fclose(f);
}

static long touch(long pages)
{
    char *area = mmap(NULL, (size_t)pages << 12, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    long sum = 0;

    madvise(area, (size_t)pages << 12, MADV_NOHUGEPAGE);
    for (long i = 0; i < pages; i++)
        area[i << 12] = 1;
    for (long i = 0; i < pages; i++)
        sum += area[i << 12];
    return sum;
}

static long send_to_self(long bytes)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int from = socket(AF_INET, SOCK_DGRAM, 0), to = socket(AF_INET, SOCK_DGRAM, 0);
    socklen_t length = sizeof(at);
    static char text[1000];
    long sum = 0;

    if (bind(to, (struct sockaddr *)&at, length) || getsockname(to, (struct sockaddr *)&at, &length))
        exit(8);
    while (sum < bytes && sendto(from, text, sizeof(text), 0, (struct sockaddr *)&at, length) == sizeof(text))
        sum += recv(to, text, sizeof(text), 0);
    return sum;
}

static long fork_and_wait(void)
{
    int status = -1;
    pid_t child = fork();

    if (!child)
        _exit(3);
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
}

static long next_descriptor(void)
{
    int next = open("/dev/null", O_RDONLY);

    for (int fd = 3; fd < 1024; fd++)
        close(fd);
    return next;
}

/* The code in its place, if it has one. */
static long power_of_gpu(void)
{
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL), *gpu = NULL;
    int (*begin)(void), (*find)(unsigned, void **), (*ask)(void *, unsigned *), code;
    unsigned power = 0;

    if (!library)
        return -1;
    *(void **)&begin = dlsym(library, "nvmlInit_v2");
    *(void **)&find = dlsym(library, "nvmlDeviceGetHandleByIndex_v2");
    *(void **)&ask = dlsym(library, "nvmlDeviceGetPowerUsage");
    code = begin();
    if (!code)
        code = find(0, &gpu);
    if (!code)
        code = ask(gpu, &power);
    return code ? code : (long)power;
}

static void *last(void *unused)
{
    for (int i = 0; i < 20; i++)
        nap();
    printf("left\n"); /* which exit() writes */
    return unused;
}

static void leave(void)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, last, NULL))
        exit(9);
    pthread_exit(NULL);
}

#ifndef ALONE
static int has_begun;

static void *with_mpi(void *unused)
{
    int provided;

    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    __atomic_store_n(&has_begun, 1, __ATOMIC_RELEASE);
    wait_for_samples();
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    printf("elsewhere\n"); /* which exit() writes */
    return unused;
}

static void elsewhere(void)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, with_mpi, NULL))
        exit(9);
    while (!__atomic_load_n(&has_begun, __ATOMIC_ACQUIRE))
        nap();
    pthread_exit(NULL);
}
#endif

static int pin(void)
{
    cpu_set_t set;
    int left;

    memset(&set, 0xff, sizeof(set)); /* all that the job may use */
    sched_setaffinity(0, sizeof(set), &set);
    sched_getaffinity(0, sizeof(set), &set);
    left = rank % CPU_COUNT(&set);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &set) && !left--) {
            CPU_ZERO(&set);
            CPU_SET(cpu, &set);
            return -sched_setaffinity(0, sizeof(set), &set);
        }
    return 1;
}

int main(int argc, char **argv)
{
    long sum = 0;

#ifndef ALONE
    if (argc > 1 && !strcmp(argv[1], "elsewhere"))
        elsewhere();
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#endif
    for (char **a = argv + 1; *a; a++) {
        if (!strcmp(*a, "wait"))
            wait_for_samples();
        else if (!strcmp(*a, "begin"))
            fvmpi_section_begin(*++a, 0, 0);
        else if (!strcmp(*a, "end"))
            fvmpi_section_end(*++a, 0, 0);
        else if (!strcmp(*a, "add") && (a += 2) && !rank)
            add(a[-1], atol(*a));
        else if (!strcmp(*a, "pages") && a++ && !rank)
            sum += touch(atol(*a));
        else if (!strcmp(*a, "loopback") && a++ && !rank)
            sum += send_to_self(atol(*a));
        else if (!strcmp(*a, "label") && a++ && !rank)
            fvmpi_label(*a);
        else if (!strcmp(*a, "until") && a++)
            for (int i = 0; i < 6000 && access(*a, F_OK); i++)
                nap();
        else if (!strcmp(*a, "descriptors"))
            sum += next_descriptor();
        else if (!strcmp(*a, "gpu"))
            sum += power_of_gpu();
        else if (!strcmp(*a, "setuid"))
            sum += setuid(getuid()) + 1;
        else if (!strcmp(*a, "pin"))
            sum += pin();
        else if (!strcmp(*a, "fork"))
            sum += fork_and_wait();
        else if (!strcmp(*a, "leave"))
            leave();
        else if (!strcmp(*a, "alone")) {
            printf("alone\n"); /* which exit() writes */
            pthread_exit(NULL);
        } else if (!strcmp(*a, "kill"))
            raise(SIGKILL);
    }
    if (!rank)
        printf("%ld\n", sum);
#ifndef ALONE
    MPI_Finalize();
#endif
    return 0;
}
