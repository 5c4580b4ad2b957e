/* SPDX-License-Identifier: BSD-3-Clause */
/* See perf_events.h. Generic names: <linux/perf_event.h>, enum perf_hw_id, perf_sw_ids, perf_hw_cache_id. */
#include "base/perf_events.h"
#include "base/near.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#define CACHE(cache, operation, result)                                                         \
    PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_##cache | PERF_COUNT_HW_CACHE_OP_##operation << 8 | \
                            PERF_COUNT_HW_CACHE_RESULT_##result << 16
#define HARDWARE(name) PERF_TYPE_HARDWARE, PERF_COUNT_HW_##name
#define SOFTWARE(name) PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##name

static const struct generic {
    const char *name;
    uint32_t type, config;
    bool kernel_only; /* counts nothing in user mode: it happens in the kernel */
} generic[] = {
    { "CYCLES", HARDWARE(CPU_CYCLES), false },
    { "CPU-CYCLES", HARDWARE(CPU_CYCLES), false },
    { "INSTRUCTIONS", HARDWARE(INSTRUCTIONS), false },
    { "CACHE-REFERENCES", HARDWARE(CACHE_REFERENCES), false },
    { "CACHE-MISSES", HARDWARE(CACHE_MISSES), false },
    { "BRANCH-INSTRUCTIONS", HARDWARE(BRANCH_INSTRUCTIONS), false },
    { "BRANCHES", HARDWARE(BRANCH_INSTRUCTIONS), false },
    { "BRANCH-MISSES", HARDWARE(BRANCH_MISSES), false },
    { "BUS-CYCLES", HARDWARE(BUS_CYCLES), false },
    { "STALLED-CYCLES-FRONTEND", HARDWARE(STALLED_CYCLES_FRONTEND), false },
    { "IDLE-CYCLES-FRONTEND", HARDWARE(STALLED_CYCLES_FRONTEND), false },
    { "STALLED-CYCLES-BACKEND", HARDWARE(STALLED_CYCLES_BACKEND), false },
    { "IDLE-CYCLES-BACKEND", HARDWARE(STALLED_CYCLES_BACKEND), false },
    { "REF-CYCLES", HARDWARE(REF_CPU_CYCLES), false },
    { "CPU-CLOCK", SOFTWARE(CPU_CLOCK), false },
    { "TASK-CLOCK", SOFTWARE(TASK_CLOCK), false },
    { "PAGE-FAULTS", SOFTWARE(PAGE_FAULTS), false },
    { "FAULTS", SOFTWARE(PAGE_FAULTS), false },
    { "MINOR-FAULTS", SOFTWARE(PAGE_FAULTS_MIN), false },
    { "MAJOR-FAULTS", SOFTWARE(PAGE_FAULTS_MAJ), false },
    { "CONTEXT-SWITCHES", SOFTWARE(CONTEXT_SWITCHES), true },
    { "CS", SOFTWARE(CONTEXT_SWITCHES), true },
    { "CPU-MIGRATIONS", SOFTWARE(CPU_MIGRATIONS), true },
    { "MIGRATIONS", SOFTWARE(CPU_MIGRATIONS), true },
    { "ALIGNMENT-FAULTS", SOFTWARE(ALIGNMENT_FAULTS), false },
    { "EMULATION-FAULTS", SOFTWARE(EMULATION_FAULTS), false },
    { "L1-DCACHE-LOADS", CACHE(L1D, READ, ACCESS), false },
    { "L1-DCACHE-LOAD-MISSES", CACHE(L1D, READ, MISS), false },
    { "L1-DCACHE-STORES", CACHE(L1D, WRITE, ACCESS), false },
    { "L1-DCACHE-STORE-MISSES", CACHE(L1D, WRITE, MISS), false },
    { "L1-DCACHE-PREFETCHES", CACHE(L1D, PREFETCH, ACCESS), false },
    { "L1-DCACHE-PREFETCH-MISSES", CACHE(L1D, PREFETCH, MISS), false },
    { "L1-ICACHE-LOADS", CACHE(L1I, READ, ACCESS), false },
    { "L1-ICACHE-LOAD-MISSES", CACHE(L1I, READ, MISS), false },
    { "L1-ICACHE-PREFETCHES", CACHE(L1I, PREFETCH, ACCESS), false },
    { "L1-ICACHE-PREFETCH-MISSES", CACHE(L1I, PREFETCH, MISS), false },
    { "LLC-LOADS", CACHE(LL, READ, ACCESS), false },
    { "LLC-LOAD-MISSES", CACHE(LL, READ, MISS), false },
    { "LLC-STORES", CACHE(LL, WRITE, ACCESS), false },
    { "LLC-STORE-MISSES", CACHE(LL, WRITE, MISS), false },
    { "LLC-PREFETCHES", CACHE(LL, PREFETCH, ACCESS), false },
    { "LLC-PREFETCH-MISSES", CACHE(LL, PREFETCH, MISS), false },
    { "DTLB-LOADS", CACHE(DTLB, READ, ACCESS), false },
    { "DTLB-LOAD-MISSES", CACHE(DTLB, READ, MISS), false },
    { "DTLB-STORES", CACHE(DTLB, WRITE, ACCESS), false },
    { "DTLB-STORE-MISSES", CACHE(DTLB, WRITE, MISS), false },
    { "DTLB-PREFETCHES", CACHE(DTLB, PREFETCH, ACCESS), false },
    { "DTLB-PREFETCH-MISSES", CACHE(DTLB, PREFETCH, MISS), false },
    { "ITLB-LOADS", CACHE(ITLB, READ, ACCESS), false },
    { "ITLB-LOAD-MISSES", CACHE(ITLB, READ, MISS), false },
    { "BRANCH-LOADS", CACHE(BPU, READ, ACCESS), false },
    { "BRANCH-LOAD-MISSES", CACHE(BPU, READ, MISS), false },
    { "NODE-LOADS", CACHE(NODE, READ, ACCESS), false },
    { "NODE-LOAD-MISSES", CACHE(NODE, READ, MISS), false },
    { "NODE-STORES", CACHE(NODE, WRITE, ACCESS), false },
    { "NODE-STORE-MISSES", CACHE(NODE, WRITE, MISS), false },
    { "NODE-PREFETCHES", CACHE(NODE, PREFETCH, ACCESS), false },
    { "NODE-PREFETCH-MISSES", CACHE(NODE, PREFETCH, MISS), false },
};
enum { GENERIC = sizeof(generic) / sizeof(*generic) };

bool fv_perf_event_word(const char **list, const char **word, size_t *length)
{
    if (!*list)
        return false;
    *word = *list;
    *length = strcspn(*list, ",");
    *list = (*list)[*length] ? *list + *length + 1 : NULL;
    return true;
}

/* ---- numbers ---- */

static int digit(char c)
{
    int letter = c | 0x20;

    if (c >= '0' && c <= '9')
        return c - '0';
    return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : 16;
}

/* Up to `end`; decimal, or 0xHEX, or, by base 16, HEX. False: not a number, or too large. */
static bool number(const char *text, const char *end, int base, uint64_t *out)
{
    uint64_t value = 0;

    if (base == 10 && end - text > 2 && text[0] == '0' && (text[1] | 0x20) == 'x') {
        base = 16;
        text += 2;
    }
    if (text == end)
        return false;
    for (; text < end; text++)
        if (digit(*text) >= base || __builtin_mul_overflow(value, (uint64_t)base, &value) ||
            __builtin_add_overflow(value, (uint64_t)digit(*text), &value))
            return false;
    *out = value;
    return true;
}

/* TYPE:CONFIG and up to four more. */
static bool encoding(const char *text, const char *end, struct fv_perf_event *out)
{
    uint64_t field[6] = { 0 };
    unsigned count = 0;

    while (text <= end) {
        const char *colon = memchr(text, ':', (size_t)(end - text));
        const char *stop = colon ? colon : end;
        if (count == 6 || !number(text, stop, 10, &field[count++]))
            return false;
        text = stop + 1;
    }
    if (count < 2 || field[0] > UINT32_MAX || field[4] > 4 * FV_PERF_PRECISE - 1 || field[5] > UINT32_MAX)
        return false;
    out->type = (uint32_t)field[0];
    out->config = field[1];
    out->config1 = field[2];
    out->config2 = field[3];
    out->flags = (uint32_t)field[4];
    out->processor = (uint32_t)field[5];
    return true;
}

/* ---- names ---- */

static const struct generic *find(const char *name, size_t length)
{
    for (unsigned i = 0; i < GENERIC; i++)
        if (strlen(generic[i].name) == length && !strncasecmp(generic[i].name, name, length))
            return &generic[i];
    return NULL;
}

static int by_name(const char *name, struct fv_perf_event *out)
{
    static const char prefix[] = "perf::";
    size_t length = strlen(name);

    if (length > 2 && name[length - 2] == ':' &&
        ((name[length - 1] | 0x20) == 'u' || (name[length - 1] | 0x20) == 'k')) {
        out->flags = (name[length - 1] | 0x20) == 'u' ? FV_PERF_NO_KERNEL : FV_PERF_NO_USER;
        length -= 2;
    }
    if (length > 1 && (*name | 0x20) == 'r' && number(name + 1, name + length, 16, &out->config)) {
        out->type = PERF_TYPE_RAW;
        return 0;
    }
    if (!strncasecmp(name, prefix, strlen(prefix))) {
        name += strlen(prefix);
        length -= strlen(prefix);
    }
    const struct generic *known = find(name, length);
    if (!known)
        return -FV_ENOENT;
    out->type = known->type;
    out->config = known->config;
    return 0;
}

int fv_perf_event_parse(const char *word, size_t length, struct fv_perf_event *out)
{
    const char *at = memchr(word, '@', length);
    size_t name = at ? (size_t)(at - word) : length;

    memset(out, 0, sizeof(*out));
    if (!name || name >= sizeof(out->name))
        return -FV_EINVAL;
    memcpy(out->name, word, name);
    for (size_t i = 0; i < name; i++)
        if (word[i] <= ' ' || word[i] > '~')
            return -FV_EINVAL;
    if (at)
        return encoding(at + 1, word + length, out) ? 0 : -FV_EINVAL;
    return by_name(out->name, out);
}

void fv_perf_event_print(const struct fv_perf_event *event, char text[FV_PERF_EVENT_TEXT])
{
    snprintf(text, FV_PERF_EVENT_TEXT, "%s@%u:%#llx:%#llx:%#llx:%u:%u", event->name, event->type,
             (unsigned long long)event->config, (unsigned long long)event->config1, (unsigned long long)event->config2,
             event->flags, event->processor);
}

const char *fv_perf_event_near(const char *name)
{
    char upper[FV_PERF_EVENT_NAME];
    size_t length = strcspn(name, ":");
    struct fv_near near = { upper, length, NULL, 0 };

    if (length >= sizeof(upper))
        return NULL;
    for (size_t i = 0; i < length; i++)
        upper[i] = (char)(name[i] >= 'a' && name[i] <= 'z' ? name[i] - 'a' + 'A' : name[i] == '_' ? '-' : name[i]);
    for (unsigned i = 0; i < GENERIC; i++)
        fv_near_try(&near, generic[i].name, generic[i].name);
    return fv_near_item(&near, 0);
}

bool fv_perf_event_in_user_mode(const struct fv_perf_event *event)
{
    for (unsigned i = 0; i < GENERIC; i++)
        if (generic[i].type == event->type && generic[i].config == event->config && generic[i].kernel_only)
            return false;
    return true;
}

const char *fv_perf_event_refusal(uint32_t error, bool user_only)
{
    static const char not_permitted[] = "not permitted here (a container, or kernel.perf_event_paranoid above 2)";

    switch (error) {
    case ESRCH: return "not a generic event; the library knows no others, but `fvmpi run` does";
    case EXDEV: return "encoded for another processor; start `fvmpi run` on the hosts of the ranks";
    case EPERM: return not_permitted;
    case EACCES:
        return user_only ? "happens only in the kernel, where counting is not permitted (kernel.perf_event_paranoid "
                           "above 1) or not wanted (:u)"
                         : not_permitted;
    case ENOENT:
    case ENODEV:
    case ENXIO:
    case EOPNOTSUPP: return "this machine has no such counter (virtual machines often have none)";
    case ENOSPC:
        return "no register of the processor is free; leave out other events, or share registers (--counters-shared)";
    case ENOSYS: return "perf_event_open() is not in this kernel, or is blocked (seccomp)";
    case EINVAL: return "the kernel does not know this event, or has no counter left";
    case EMFILE: return "no file descriptor is left; raise the limit (ulimit -n)";
    }
    return "perf_event_open failed";
}

uint32_t fv_processor(void)
{
#if defined(__x86_64__)
    unsigned a, b, c, d, signature;

    if (!__get_cpuid(1, &signature, &b, &c, &d) || !__get_cpuid(0, &a, &b, &c, &d))
        return 0;
    /* without the stepping, and what is reserved */
    return (uint32_t)fv_mix2((uint64_t)c << 32 | b, signature & 0x0fff0ff0u) | 1u;
#else
    return 0;
#endif
}

enum fv_perf_account fv_perf_event_account(const struct fv_perf_event *event)
{
    if (event->type != PERF_TYPE_SOFTWARE || event->flags & (FV_PERF_NO_USER | FV_PERF_NO_KERNEL))
        return FV_NO_ACCOUNT;
    switch (event->config) {
    case PERF_COUNT_SW_PAGE_FAULTS: return FV_ACCOUNT_FAULTS;
    case PERF_COUNT_SW_PAGE_FAULTS_MIN: return FV_ACCOUNT_MINOR;
    case PERF_COUNT_SW_PAGE_FAULTS_MAJ: return FV_ACCOUNT_MAJOR;
    case PERF_COUNT_SW_CONTEXT_SWITCHES: return FV_ACCOUNT_SWITCHES;
    case PERF_COUNT_SW_TASK_CLOCK: return FV_ACCOUNT_CPU_NS;
    }
    return FV_NO_ACCOUNT;
}

void fv_perf_event_choose_mode(struct fv_perf_event *event)
{
    if (!strchr(event->name, ':') && event->type != PERF_TYPE_SOFTWARE && !(event->flags & FV_PERF_NO_USER))
        event->flags |= FV_PERF_NO_KERNEL;
}
