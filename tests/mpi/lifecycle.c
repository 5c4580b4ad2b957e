/* The ways in which a process comes to MPI, leaves it, and makes other processes meanwhile. argv[1] is the
 * way; each has its own known calls, always MPI_Barrier in before 2 and in after 3 where nothing else is
 * said.
 *
 *     plain      MPI_Init to MPI_Finalize
 *     atexit     MPI_Finalize in a function that atexit() calls
 *     fini       MPI_Finalize in a destructor of the program
 *     children   processes made in every way between before and after: fork and exit() (which runs
 * destructors), _exit(), fork and exec, vfork, posix_spawn, system(), popen(), a child that forks, a child
 * made while another thread calls MPI; each must leave the record of its parent alone exec       the process
 * becomes argv[2] after MPI_Finalize thread     exit(3) by another thread while the main one waits in
 * MPI_Recv sessions   two sessions one after the other and two at a time ended by two threads, without
 * MPI_Init: MPI_Allreduce in session 4 both       a session, in it MPI_Init to MPI_Finalize, then the
 * session's end: MPI_Allreduce in session 1 spawn      MPI_Comm_spawn of two "spawned": MPI_Sendrecv in talk
 * 1 on all four processes join       MPI_Comm_join over TCP: MPI_Sendrecv in talk 1
 *     connect    MPI_Comm_accept and MPI_Comm_connect: MPI_Sendrecv in talk 1
 */
#include "known.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>

extern char **environ;

OP before(void)
{
    TIMES(2)
    OK(MPI_Barrier(WORLD));
}

OP after(void)
{
    TIMES(3)
    OK(MPI_Barrier(WORLD));
}

static void finalize(void)
{
    OK(MPI_Finalize());
}

static int fini;

__attribute__((destructor)) static void destructor(void)
{
    if (fini)
        finalize();
}

/* ---- children ---- */

static int child_status(pid_t pid)
{
    int status = -1;

    return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void expect(int found, int wanted, int line)
{
    if (found != wanted) {
        fprintf(stderr, "line %d: %d instead of %d\n", line, found, wanted);
        known_failed(line);
    }
}
#define EXPECT(found, wanted) expect(found, wanted, __LINE__)

static int stop;

static void *calling(void *unused)
{
    int flag;

    while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE))
        PMPI_Iprobe(0, 99, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
    return unused;
}

static void fork_and(int how)
{
    pid_t pid = fork();

    if (pid) {
        EXPECT(child_status(pid), 7);
        return;
    }
    if (how == 1)
        _exit(7);
    if (how == 2)
        execl("/bin/sh", "sh", "-c", "exit 7", (char *)NULL);
    if (how == 3) {
        pid = fork();
        if (!pid)
            exit(8);
        exit(child_status(pid) == 8 ? 7 : 9);
    }
    exit(7); /* destructors run */
}

static __attribute__((noinline)) pid_t by_vfork(void)
{
    pid_t pid = vfork();

    if (!pid) {
        execl("/bin/sh", "sh", "-c", "exit 5", (char *)NULL);
        _exit(9);
    }
    return pid;
}

static void children(void)
{
    char *const command[] = { "sh", "-c", "exit 6", NULL };
    char line[80] = "";
    pthread_t thread;
    pid_t pid;

    before();
    for (int how = 0; how < 4; how++)
        fork_and(how);
    EXPECT(child_status(by_vfork()), 5);
    EXPECT(posix_spawn(&pid, "/bin/sh", NULL, NULL, command, environ), 0);
    EXPECT(child_status(pid), 6);
    EXPECT(WEXITSTATUS(system("exit 4")), 4);
    FILE *pipe = popen("echo ${LD_PRELOAD:-no} | wc -l", "r");
    if (!pipe || !fgets(line, sizeof(line), pipe) || atoi(line) != 1)
        known_failed(__LINE__);
    EXPECT(pclose(pipe), 0);
    pthread_create(&thread, NULL, calling, NULL);
    for (int i = 0; i < 10; i++)
        fork_and(i % 4);
    __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
    after();
}

/* ---- an exit by another thread ---- */

static void *leave(void *unused)
{
    usleep(100000);
    fflush(NULL);
    exit(3);
    return unused;
}

OP stuck(void)
{
    int x;

    OK(MPI_Recv(&x, 1, MPI_INT, me, 99, WORLD, MPI_STATUS_IGNORE));
}

/* ---- sessions ---- */

#if MPI_VERSION >= 4 && !defined(OPEN_MPI)
static MPI_Session open_session(void)
{
    MPI_Session session;

    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    return session;
}

OP session(MPI_Session s)
{
    MPI_Group group;
    MPI_Comm comm;
    int one = 1, sum = 0, size = 0;

    OK(MPI_Group_from_session_pset(s, "mpi://WORLD", &group));
    OK(MPI_Comm_create_from_group(group, "fvmpi", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
    PMPI_Comm_size(comm, &size);
    if (sum != size)
        exit(98);
    OK(MPI_Comm_free(&comm));
    OK(MPI_Group_free(&group));
}

static void close_session(MPI_Session *s)
{
    OK(MPI_Session_finalize(s));
}

static int sessions(int argc, char **argv, int both)
{
    MPI_Session a = open_session(), b;

    session(a);
    if (both) {
        OK(MPI_Init(&argc, &argv));
        known_start();
        before();
        after();
        finalize();
        session(a);
        close_session(&a);
        printf("sessions\n");
        return 0;
    }
    b = open_session();
    session(b);
    session(a);
    close_session(&a);
    session(b);
    close_session(&b);
    printf("sessions\n");
    return 0;
}
#else
static int sessions(int argc, char **argv, int both)
{
    (void)argc, (void)argv, (void)both;
    printf("no sessions\n");
    return 0;
}
#endif

/* ---- other processes of MPI ---- */

OP talk(MPI_Comm inter, int other)
{
    int out = 10 + other, in = -1;

    OK(MPI_Sendrecv(&out, 1, MPI_INT, other, 3, &in, 1, MPI_INT, other, 3, inter, MPI_STATUS_IGNORE));
    if (in < 10)
        known_failed(__LINE__);
}

static void spawn(char *program)
{
    MPI_Comm inter, merged;
    char *argv[] = { "spawned", NULL };

    PMPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
    if (MPI_Comm_spawn(program, argv, 2, MPI_INFO_NULL, 0, WORLD, &inter, MPI_ERRCODES_IGNORE)) {
        printf("cannot spawn\n");
        return;
    }
    talk(inter, me);
    OK(MPI_Intercomm_merge(inter, 0, &merged));
    OK(MPI_Barrier(merged));
    OK(MPI_Comm_free(&merged));
    OK(MPI_Comm_disconnect(&inter));
}

static void spawned(void)
{
    MPI_Comm inter, merged;

    OK(MPI_Comm_get_parent(&inter));
    talk(inter, me);
    OK(MPI_Intercomm_merge(inter, 1, &merged));
    OK(MPI_Barrier(merged));
    OK(MPI_Comm_free(&merged));
    OK(MPI_Comm_disconnect(&inter));
}

static int tcp(void)
{
    struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t length = sizeof(a);
    int fd = socket(AF_INET, SOCK_STREAM, 0), listener = fd;

    if (me == 0) {
        if (bind(fd, (struct sockaddr *)&a, sizeof(a)) || listen(fd, 1) ||
            getsockname(fd, (struct sockaddr *)&a, &length))
            known_failed(__LINE__);
        PMPI_Send(&a.sin_port, 2, MPI_BYTE, 1, 4, WORLD);
        fd = accept(listener, NULL, NULL);
        close(listener);
    } else {
        PMPI_Recv(&a.sin_port, 2, MPI_BYTE, 0, 4, WORLD, MPI_STATUS_IGNORE);
        if (connect(fd, (struct sockaddr *)&a, sizeof(a)))
            known_failed(__LINE__);
    }
    return fd;
}

static void join(void)
{
    MPI_Comm inter = MPI_COMM_NULL;
    int fd = tcp();

    PMPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
    PMPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    if (MPI_Comm_join(fd, &inter) || inter == MPI_COMM_NULL) {
        printf("cannot join\n");
        return;
    }
    talk(inter, 0);
    OK(MPI_Comm_disconnect(&inter));
    close(fd);
}

static void meet(void)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm inter;
    int failed = 0;

    PMPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
    PMPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    if (me == 0)
        failed = MPI_Open_port(MPI_INFO_NULL, port);
    PMPI_Bcast(&failed, 1, MPI_INT, 0, WORLD);
    PMPI_Bcast(port, sizeof(port), MPI_CHAR, 0, WORLD);
    if (!failed)
        failed = me ? MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter)
                    : MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
    if (failed) {
        printf("cannot connect\n");
        return;
    }
    talk(inter, 0);
    OK(MPI_Comm_disconnect(&inter));
    if (me == 0)
        OK(MPI_Close_port(port));
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "plain";
    pthread_t thread;
    int provided;

    if (!strcmp(way, "sessions") || !strcmp(way, "both"))
        return sessions(argc, argv, way[0] == 'b');
    OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
    known_start();
    if (!strcmp(way, "children")) {
        children();
    } else if (!strcmp(way, "spawn")) {
        spawn(argv[0]);
    } else if (!strcmp(way, "spawned")) {
        spawned();
    } else if (!strcmp(way, "join")) {
        join();
    } else if (!strcmp(way, "connect")) {
        meet();
    } else {
        before();
        after();
    }
    if (!strcmp(way, "thread")) {
        pthread_create(&thread, NULL, leave, NULL);
        stuck();
    }
    if (!strcmp(way, "atexit"))
        atexit(finalize);
    else if (!strcmp(way, "fini"))
        fini = 1;
    else
        finalize();
    printf("%s: done\n", way);
    fflush(NULL);
    if (!strcmp(way, "exec"))
        execv(argv[2], argv + 2);
    return 0;
}
