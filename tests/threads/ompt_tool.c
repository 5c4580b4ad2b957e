/* A tool of somebody else for OpenMP's runtime: says that it was started. */
#include <stdio.h>

struct tool {
    int (*initialize)(void *lookup, int device, void *data);
    void (*finalize)(void *data);
    void *data;
};

static int initialize(void *lookup, int device, void *data)
{
    (void)lookup, (void)device, (void)data;
    puts("another tool");
    fflush(stdout);
    return 1;
}

static void finalize(void *data)
{
    (void)data;
}

struct tool *ompt_start_tool(unsigned version, const char *runtime);
struct tool *ompt_start_tool(unsigned version, const char *runtime)
{
    static struct tool tool = { initialize, finalize, NULL };

    (void)version, (void)runtime;
    return &tool;
}
