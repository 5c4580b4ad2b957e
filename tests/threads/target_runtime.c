/* Stands in for an OpenMP run-time library that tells of target regions by OMPT, of 5.0 (one event) or later (with -DEMI), as the interface has it: this machine's
 * library tells of none. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

union data {
    uint64_t value;
    void *ptr;
};
struct tool {
    int (*initialize)(void (*(*lookup)(const char *))(void), int device, union data *data);
    void (*finalize)(union data *data);
    union data data;
};
struct tool *ompt_start_tool(unsigned version, const char *runtime) __attribute__((weak));

enum { TARGET = 8, TARGET_EMI = 33, SET_NEVER = 1, SET_ALWAYS = 5 };
static void (*on_target)(void);

static int set_callback(int event, void (*callback)(void))
{
#ifdef EMI
    int told = TARGET_EMI;
#else
    int told = TARGET;
#endif
    if (event != told)
        return SET_NEVER;
    on_target = callback;
    return SET_ALWAYS;
}

static void (*look_up(const char *name))(void)
{
    return strcmp(name, "ompt_set_callback") ? NULL : (void (*)(void))set_callback;
}

void standin_begin(void);
void standin_begin(void)
{
    struct tool *tool = ompt_start_tool ? ompt_start_tool(201811, "stand-in") : NULL;

    if (tool)
        tool->initialize(look_up, 0, &tool->data);
}

/* kind: 1 a region, 2 to 4 data, from 9 on with nowait; endpoint: 1 begin, 2 end. */
void standin_target(int kind, int endpoint, const void *from);
void standin_target(int kind, int endpoint, const void *from)
{
    union data task = { 0 };
#ifdef EMI
    void (*tell)(int, int, int, union data *, union data *, union data *, const void *) = (void (*)(int, int, int, union data *, union data *, union data *, const void *))on_target;

    if (tell)
        tell(kind, endpoint, 0, &task, NULL, &task, from);
#else
    void (*tell)(int, int, int, union data *, uint64_t, const void *) = (void (*)(int, int, int, union data *, uint64_t, const void *))on_target;

    if (tell)
        tell(kind, endpoint, 0, &task, 1, from);
#endif
}
