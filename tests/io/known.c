/* Known things to known files, by POSIX and stdio, with the numbers in argv[1] (a directory) on standard output: `file calls bytes`. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static char name[4096];

static const char *in(const char *folder, const char *file)
{
    snprintf(name, sizeof(name), "%s/%s", folder, file);
    return name;
}

static void must(int ok)
{
    if (!ok)
        _exit(3);
}

/* 100 writes of 10 bytes, 5 at a place of their own. */
__attribute__((noinline)) static void write_posix(const char *folder)
{
    int fd = open(in(folder, "posix"), O_CREAT | O_TRUNC | O_RDWR, 0600);

    must(fd >= 0);
    for (int i = 0; i < 100; i++)
        must(write(fd, "0123456789", 10) == 10);
    for (int i = 0; i < 5; i++)
        must(pwrite(fd, "xyz", 3, 200 * i) == 3);
    must(!fsync(fd) && !close(fd));
}

/* 10 reads forward with gaps, 4 backwards, then to the end; one that finds nothing. */
__attribute__((noinline)) static void read_posix(const char *folder)
{
    int fd = open(in(folder, "posix"), O_RDONLY);
    char buffer[100];
    struct stat st;

    must(fd >= 0 && !fstat(fd, &st) && st.st_size == 1000);
    for (int i = 0; i < 10; i++)
        must(pread(fd, buffer, 5, 20 * i) == 5);
    for (int i = 4; i-- > 0;)
        must(pread(fd, buffer, 5, 20 * i) == 5);
    for (int i = 0; i < 10; i++)
        must(read(fd, buffer, 100) == 100);
    must(read(fd, buffer, 100) == 0);
    int copy = dup(fd);
    must(lseek(copy, 0, SEEK_SET) == 0 && read(fd, buffer, 50) == 50 && !close(fd) && read(copy, buffer, 50) == 50 && !close(copy));
    must(open(in(folder, "none"), O_RDONLY) < 0);
}

__attribute__((noinline)) static void write_stdio(const char *folder)
{
    FILE *f = fopen(in(folder, "stdio"), "w");

    must(f != NULL);
    for (int i = 0; i < 50; i++)
        must(fprintf(f, "%04d\n", i) == 5);
    for (int i = 0; i < 10000; i++)
        must(putc('x', f) == 'x');
    must(fwrite("\nab", 1, 3, f) == 3 && fputs("cd\n", f) >= 0 && !fflush(f) && !fclose(f));
}

__attribute__((noinline)) static void read_stdio(const char *folder)
{
    FILE *f = fopen(in(folder, "stdio"), "r");
    char line[20];
    int number, c = 0;

    must(f != NULL);
    for (int i = 0; i < 40; i++)
        must(fgets(line, sizeof(line), f) && strlen(line) == 5);
    for (int i = 0; i < 10; i++)
        must(fscanf(f, "%d\n", &number) == 1);
    for (int i = 0; i < 10000; i++)
        must((c = getc(f)) == 'x');
    must(fread(line, 1, 6, f) == 6 && getc(f) == EOF && !fclose(f));
}

/* Names and locks: 3 locks of a stream, one in vain by another thread's; 4 of a file; 5 names removed, one in vain. */
static void *tries(void *stream)
{
    must(ftrylockfile(stream) != 0);
    return NULL;
}

__attribute__((noinline)) static void names_and_locks(const char *folder)
{
    char other[4096];
    FILE *f = fopen(in(folder, "locked"), "w+");
    pthread_t thread;
    fpos_t place;

    must(f != NULL && fputs("12 ab\n", f) >= 0 && !fflush(f) && !fgetpos(f, &place));
    flockfile(f);
    must(!ftrylockfile(f) && !pthread_create(&thread, NULL, tries, f) && !pthread_join(thread, NULL));
    funlockfile(f);
    funlockfile(f);
    must(!fsetpos(f, &place) && !lockf(fileno(f), F_LOCK, 0) && !lockf(fileno(f), F_ULOCK, 0) && !flock(fileno(f), LOCK_SH) && !flock(fileno(f), LOCK_UN));
    must(!fclose(f) && !truncate(in(folder, "locked"), 3));
    snprintf(other, sizeof(other), "%s/renamed", folder);
    must(!rename(in(folder, "locked"), other) && unlink(in(folder, "locked")) == -1 && !unlink(other));
    for (int i = 0; i < 3; i++)
        must(close(open(in(folder, "gone"), O_CREAT | O_WRONLY, 0600)) == 0 && !(i == 0 ? unlink(name) : i == 1 ? remove(name) : unlinkat(AT_FDCWD, name, 0)));
}

static void *in_thread(void *folder)
{
    int fd = open(in(folder, "thread"), O_CREAT | O_TRUNC | O_WRONLY, 0600);

    must(fd >= 0);
    for (int i = 0; i < 20; i++)
        must(write(fd, "0123456789", 10) == 10);
    must(!close(fd));
    return NULL;
}

/* What a child does is none of ours. */
static void in_child(const char *folder)
{
    pid_t child = fork();
    int status;

    if (!child) {
        int fd = open(in(folder, "child"), O_CREAT | O_TRUNC | O_WRONLY, 0600);

        _exit(fd >= 0 && write(fd, "x", 1) == 1 ? 0 : 1);
    }
    must(waitpid(child, &status, 0) == child && !status);
}

int main(int argc, char **argv)
{
    pthread_t thread;

    must(argc == 2);
    write_posix(argv[1]);
    read_posix(argv[1]);
    write_stdio(argv[1]);
    read_stdio(argv[1]);
    must(!pthread_create(&thread, NULL, in_thread, argv[1]) && !pthread_join(thread, NULL));
    in_child(argv[1]);
    names_and_locks(argv[1]);
    int fd = open(in(argv[1], "posix"), O_RDONLY);
    void *map = mmap(NULL, 1000, PROT_READ, MAP_PRIVATE, fd, 0);
    must(map != MAP_FAILED && !munmap(map, 1000) && !close(fd));
    puts("done");
    return 0;
}
