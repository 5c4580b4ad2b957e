/* Preloaded: writes a line to the file FVTEST_LOG for each directory or symbolic link that is made. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void count(const char *what, const char *name)
{
    char line[5000];
    int fd = open(getenv("FVTEST_LOG"), O_WRONLY | O_APPEND | O_CREAT, 0666);
    int n = snprintf(line, sizeof(line), "%s %s\n", what, name);

    if (fd < 0 || write(fd, line, (size_t)n) != n)
        abort();
    close(fd);
}

int mkdir(const char *path, mode_t mode)
{
    int (*next)(const char *, mode_t) = (int (*)(const char *, mode_t))dlsym(RTLD_NEXT, "mkdir");

    count("mkdir", path);
    return next(path, mode);
}

int symlinkat(const char *text, int folder, const char *name)
{
    int (*next)(const char *, int, const char *) =
        (int (*)(const char *, int, const char *))dlsym(RTLD_NEXT, "symlinkat");

    count("symlink", name);
    return next(text, folder, name);
}
