/* SPDX-License-Identifier: BSD-3-Clause */
/* See annotations.h. NVTX, versions 2 and 3: each executable and library that marks ranges asks the library to put its
 * functions into the module's table. C++ and Python mark ranges of domains alone. Ranges of start and end count where
 * the thread that begins one ends it. */
#include "annotations/annotations.h"
#include "base/lock.h"

#include <string.h>
#include <wchar.h>

/* What programs are compiled with. */
struct attributes {
    uint16_t version, bytes;
    uint32_t category, colour_kind, colour, payload_kind, reserved;
    uint64_t payload;
    uint32_t message_kind;
    union {
        const char *text;
        const wchar_t *wide;
        const char *registered; /* what registered_text() gave */
    } message;
};
enum { MESSAGE_TEXT = 1, MESSAGE_WIDE = 2, MESSAGE_REGISTERED = 3 };
_Static_assert(sizeof(struct attributes) == 48, "as NVTX has it");

typedef void nvtx_function(void);
struct callbacks {
    size_t bytes;
    int (*table_of)(int module, nvtx_function ****table, unsigned *count);
};
enum { CALLBACKS = 1, MODULE_CORE = 1, MODULE_DOMAINS = 5 };

static const char plain; /* domain of those without one */
static uint64_t last_id;

/* ---- texts ---- */

static const char *narrow(const wchar_t *wide, char out[64])
{
    size_t n = 0;

    for (; wide && wide[n] && n < 63; n++)
        out[n] = wide[n] > 0 && wide[n] < 128 ? (char)wide[n] : '?';
    out[n] = '\0';
    return out;
}

static const char *message_of(const struct attributes *a, char out[64])
{
    if (!a || a->bytes < sizeof(*a))
        return "";
    switch (a->message_kind) {
    case MESSAGE_TEXT:
    case MESSAGE_REGISTERED: return a->message.text;
    case MESSAGE_WIDE: return narrow(a->message.wide, out);
    default: return "";
    }
}

/* Texts that programs register, and names of domains: for as long as the process lives. */
enum { TEXTS = 1 << 16 };
static char texts[TEXTS];
static size_t texts_used;
static struct fv_lock texts_lock;

static const char *keep_text(const char *text)
{
    size_t bytes = strnlen(text ? text : "", 63) + 1;
    char *kept = NULL;

    fv_lock(&texts_lock);
    for (size_t at = 0; at < texts_used && !kept; at += strlen(texts + at) + 1)
        if (!strncmp(texts + at, text ? text : "", bytes - 1) && !texts[at + bytes - 1])
            kept = texts + at;
    if (!kept && texts_used + bytes <= TEXTS) {
        kept = texts + texts_used;
        memcpy(kept, text ? text : "", bytes - 1);
        texts_used += bytes;
    }
    fv_unlock(&texts_lock);
    return kept ? kept : "(one of many texts)";
}

/* ---- what they call ---- */

static int push_text(const char *text)
{
    fv_annotation_begin(&plain, 0, text);
    return 0;
}
static int push_wide(const wchar_t *text)
{
    return push_text(narrow(text, (char[64]){ 0 }));
}
static int push(const struct attributes *a)
{
    return push_text(message_of(a, (char[64]){ 0 }));
}
static int pop(void)
{
    fv_annotation_end(&plain, 0);
    return 0;
}
static uint64_t start_in(const void *domain, const char *text)
{
    uint64_t id = __atomic_add_fetch(&last_id, 1, __ATOMIC_RELAXED);

    fv_annotation_begin((const char *)domain + 1, id, text); /* pushes of the domain are others */
    return id;
}
static uint64_t start_text(const char *text)
{
    return start_in(&plain, text);
}
static uint64_t start_wide(const wchar_t *text)
{
    return start_in(&plain, narrow(text, (char[64]){ 0 }));
}
static uint64_t start(const struct attributes *a)
{
    return start_in(&plain, message_of(a, (char[64]){ 0 }));
}
static void end_in(const void *domain, uint64_t id)
{
    fv_annotation_end((const char *)domain + 1, id);
}
static void end(uint64_t id)
{
    end_in(&plain, id);
}

/* The domain NULL is that of those without one. */
static const void *domain_of(const void *handle)
{
    return handle ? handle : &plain;
}
static uint64_t domain_start(const void *domain, const struct attributes *a)
{
    return start_in(domain_of(domain), message_of(a, (char[64]){ 0 }));
}
static void domain_end(const void *domain, uint64_t id)
{
    end_in(domain_of(domain), id);
}
static int domain_push(const void *domain, const struct attributes *a)
{
    fv_annotation_begin(domain_of(domain), 0, message_of(a, (char[64]){ 0 }));
    return 0;
}
static int domain_pop(const void *domain)
{
    fv_annotation_end(domain_of(domain), 0);
    return 0;
}
static const void *register_text(const void *domain, const char *text)
{
    (void)domain;
    return keep_text(text);
}
static const void *register_wide(const void *domain, const wchar_t *text)
{
    (void)domain;
    return keep_text(narrow(text, (char[64]){ 0 }));
}
static const void *create_domain(const char *name)
{
    return keep_text(name);
}
static const void *create_wide(const wchar_t *name)
{
    return keep_text(narrow(name, (char[64]){ 0 }));
}

/* ---- how they come to it ---- */

struct entry {
    unsigned place; /* in the module's table */
    nvtx_function *function;
};
#define ENTRY(place, function)                     \
    {                                              \
        place, (nvtx_function *)(void *)(function) \
    }

static void put(const struct callbacks *callbacks, int module, const struct entry *entries, size_t count)
{
    nvtx_function ***table = NULL;
    unsigned size = 0;

    if (!callbacks->table_of(module, &table, &size) || !table)
        return;
    for (size_t i = 0; i < count; i++)
        if (entries[i].place < size && table[entries[i].place])
            *table[entries[i].place] = entries[i].function;
}

FV_FOUND_BY_NAME(int, InitializeInjectionNvtx2, const void *(*table_of)(uint32_t))
{
    static const struct entry core[] = { ENTRY(4, start), ENTRY(5, start_text), ENTRY(6, start_wide), ENTRY(7, end),
                                         ENTRY(8, push),  ENTRY(9, push_text),  ENTRY(10, push_wide), ENTRY(11, pop) };
    static const struct entry domains[] = { ENTRY(2, domain_start),   ENTRY(3, domain_end),
                                            ENTRY(4, domain_push),    ENTRY(5, domain_pop),
                                            ENTRY(10, register_text), ENTRY(11, register_wide),
                                            ENTRY(12, create_domain), ENTRY(13, create_wide) };
    const struct callbacks *callbacks = table_of ? table_of(CALLBACKS) : NULL;

    if (!callbacks || callbacks->bytes < sizeof(*callbacks))
        return 0;
    put(callbacks, MODULE_CORE, core, sizeof(core) / sizeof(core[0]));
    put(callbacks, MODULE_DOMAINS, domains, sizeof(domains) / sizeof(domains[0]));
    return 1;
}
