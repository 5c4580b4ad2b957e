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
#include <unistd.h>

/* Anybody may bind a name: another user's is nothing to us. */
static bool is_mine(const struct sockaddr_un *name, socklen_t length)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    struct ucred peer = { .uid = (uid_t)-1 };
    socklen_t bytes = sizeof(peer);

    if (fd < 0)
        return false;
    bool asked =
        !connect(fd, (const struct sockaddr *)name, length) || errno == EAGAIN; /* many ask at once */
    bool mine = asked && (errno == EAGAIN ||
                          (!getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) && peer.uid == geteuid()));
    close(fd);
    return mine;
}

bool fv_first_on_node(const char *what, const char *where)
{
    struct sockaddr_un name = { .sun_family = AF_UNIX };
    int saved = errno, fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    uint64_t hash = 0;

    for (const char *c = where; *c; c++)
        hash = fv_mix2(hash, (unsigned char)*c);
    int n = snprintf(name.sun_path + 1, sizeof(name.sun_path) - 1, "fvmpi-%s-%u-%016llx", what,
                     (unsigned)geteuid(), (unsigned long long)hash);
    socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
    bool first = fd < 0 || !bind(fd, (struct sockaddr *)&name, length) || errno != EADDRINUSE ||
                 !is_mine(&name, length);
    if (fd >= 0 && first && !listen(fd, 4096))
        fcntl(fd, F_DUPFD_CLOEXEC,
              48); /* away from the descriptors that the application will get; stays open */
    if (fd >= 0)
        close(fd);
    errno = saved;
    return first;
}
