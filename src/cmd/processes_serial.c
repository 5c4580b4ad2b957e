/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes of this host, without MPI: one, or with --processes N so many, which are forked. Each two of them have a
 * socket. See processes.h. */
#include "cmd/processes.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST 16

static struct {
    int count, rank;
    int sockets[MOST];    /* to each other process */
    pid_t children[MOST]; /* of the first one */
} processes = { .count = 1 };

/* Another one is gone, which has said why. */
static void give_up(void)
{
    _exit(EXIT_FAILURE);
}

static void send_bytes(const struct fv_transport *t, int to, const void *data, size_t bytes)
{
    const char *at = data;

    (void)t;
    for (size_t done = 0; done < bytes;) {
        ssize_t got = send(processes.sockets[to], at + done, bytes - done, MSG_NOSIGNAL);

        if (got < 0 && errno != EINTR)
            give_up();
        done += got > 0 ? (size_t)got : 0;
    }
}

static void receive_bytes(const struct fv_transport *t, int from, void *data, size_t bytes)
{
    char *at = data;

    (void)t;
    for (size_t done = 0; done < bytes;) {
        ssize_t got = recv(processes.sockets[from], at + done, bytes - done, 0);

        if (!got || (got < 0 && errno != EINTR))
            give_up();
        done += got > 0 ? (size_t)got : 0;
    }
}

static int wanted(char *const *argv)
{
    int count = 1;

    for (; *argv && strcmp(*argv, "--"); argv++)
        if (!strcmp(*argv, "--processes") && argv[1])
            count = atoi(argv[1]);
    return count < 1 ? 1 : count > MOST ? MOST : count;
}

/* Those of process `rank` stay open. */
static void keep_sockets(int pairs[MOST][MOST][2], int count, int rank)
{
    for (int i = 0; i < count; i++)
        for (int k = i + 1; k < count; k++) {
            if (i == rank)
                processes.sockets[k] = pairs[i][k][0];
            else
                close(pairs[i][k][0]);
            if (k == rank)
                processes.sockets[i] = pairs[i][k][1];
            else
                close(pairs[i][k][1]);
        }
}

static bool start(int count)
{
    static int pairs[MOST][MOST][2];

    for (int i = 0; i < count; i++)
        for (int k = i + 1; k < count; k++)
            if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pairs[i][k])) {
                fv_log("fvunify: %d processes: %s", count, strerror(errno));
                return false;
            }
    for (int i = 1; i < count && !processes.rank; i++) {
        processes.children[i] = fork();
        if (processes.children[i] < 0) {
            fv_log("fvunify: %d processes: %s", count, strerror(errno));
            return false; /* those that there are lose their sockets */
        }
        if (!processes.children[i])
            processes.rank = i;
    }
    processes.count = count;
    keep_sockets(pairs, count, processes.rank);
    return true;
}

const struct fv_transport *fv_processes_start(int *argc, char ***argv)
{
    static struct fv_transport transport = { .send = send_bytes, .receive = receive_bytes };
    const int count = wanted(*argv);

    (void)argc;
    if (count == 1)
        return &fv_transport_alone;
    if (!start(count))
        return NULL;
    transport.rank = processes.rank;
    transport.size = processes.count;
    return &transport;
}

void fv_processes_interrupt(void)
{
    for (int i = 1; i < processes.count && !processes.rank; i++)
        kill(processes.children[i], SIGTERM);
}

void fv_processes_stop(void)
{
    for (int i = 1; i < processes.count && !processes.rank; i++)
        while (waitpid(processes.children[i], NULL, 0) < 0 && errno == EINTR)
            ;
}
