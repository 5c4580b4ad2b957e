/* SPDX-License-Identifier: BSD-3-Clause */
/* What all ranks of a node would say is said by one of them. They share no memory, and the directory may be
 * what is wrong. So the one who speaks is who binds a name in the kernel's table of sockets, which is the
 * node's (its network namespace's), and goes when its process ends. */
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* Who has bound the name listens a moment later. */
static int ask(int fd, const struct sockaddr_un *name, socklen_t length)
{
    const struct timespec moment = { .tv_nsec = 1000000 };
    int err;

    for (unsigned i = 0; (err = connect(fd, (const struct sockaddr *)name, length)) && errno == ECONNREFUSED && i < 20;
         i++)
        nanosleep(&moment, NULL);
    return err;
}

/* Anybody may bind a name: another user's is nothing to us. */
static bool is_mine(const struct sockaddr_un *name, socklen_t length)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    struct ucred peer = { .uid = (uid_t)-1 };
    socklen_t bytes = sizeof(peer);

    if (fd < 0)
        return false;
    bool asked = !ask(fd, name, length) || errno == EAGAIN; /* many ask at once */
    bool mine = asked &&
                (errno == EAGAIN || (!getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) && peer.uid == geteuid()));
    close(fd);
    return mine;
}

/* The descriptor that is bound to the name; -1: another process has it; -2: it cannot be found out. */
static int bind_name(const char *what, const char *where, struct sockaddr_un *name, socklen_t *length)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    uint64_t hash = 0;

    for (const char *c = where; *c; c++)
        hash = fv_mix2(hash, (unsigned char)*c);
    *name = (struct sockaddr_un){ .sun_family = AF_UNIX };
    int n = snprintf(name->sun_path + 1, sizeof(name->sun_path) - 1, "fvmpi-%s-%u-%016llx", what, (unsigned)geteuid(),
                     (unsigned long long)hash);
    *length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
    if (fd < 0)
        return -2;
    if (!bind(fd, (struct sockaddr *)name, *length)) {
        int high =
            listen(fd, 4096) ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 48); /* away from those that the application will get */

        close(fd);
        return high < 0 ? -2 : high;
    }
    bool is_taken = errno == EADDRINUSE && is_mine(name, *length);
    close(fd);
    return is_taken ? -1 : -2;
}

/* What this process speaks for. Who asks in vain has connected, and waits in the queue. */
static struct spoken {
    int fd;
    pid_t pid;
    char what[16], where[256];
    struct sockaddr_un name;
    socklen_t length;
} spoken[4];
static unsigned spoken_count;

static void remember(int fd, const char *what, const char *where, const struct sockaddr_un *name, socklen_t length)
{
    unsigned i = __atomic_fetch_add(&spoken_count, 1, __ATOMIC_RELAXED);

    if (i >= sizeof(spoken) / sizeof(*spoken))
        return;
    spoken[i] = (struct spoken){ .fd = fd, .pid = getpid(), .name = *name, .length = length };
    snprintf(spoken[i].what, sizeof(spoken[i].what), "%s", what);
    snprintf(spoken[i].where, sizeof(spoken[i].where), "%s", where);
}

/* The application may have closed the descriptor, and got it again for something else. */
static bool is_ours(const struct spoken *s)
{
    struct sockaddr_un name;
    socklen_t length = sizeof(name);

    return s->pid == getpid() && !getsockname(s->fd, (struct sockaddr *)&name, &length) && length == s->length &&
           !memcmp(&name, &s->name, length);
}

__attribute__((destructor)) static void tell_how_many(void)
{
    for (unsigned i = 0; i < sizeof(spoken) / sizeof(*spoken); i++) {
        unsigned others = 0;
        int fd;

        if (!spoken[i].pid || !is_ours(&spoken[i]))
            continue;
        for (; (fd = accept4(spoken[i].fd, NULL, NULL, SOCK_CLOEXEC)) >= 0; others++)
            close(fd);
        if (others)
            fv_log("%s: %u more rank%s of this node met the same (%s)", spoken[i].where, others, others == 1 ? "" : "s",
                   spoken[i].what);
    }
}

bool fv_first_on_node(const char *what, const char *where)
{
    struct sockaddr_un name;
    socklen_t length;
    int saved = errno, fd = bind_name(what, where, &name, &length);

    if (fd >= 0)
        remember(fd, what, where, &name, length);
    errno = saved;
    return fd != -1;
}

int fv_elect_on_node(const char *what, const char *where)
{
    struct sockaddr_un name;
    socklen_t length;

    return bind_name(what, where, &name, &length);
}
