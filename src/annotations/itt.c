/* SPDX-License-Identifier: BSD-3-Clause */
/* See annotations.h. ITT, of Intel's VTune, oneTBB, OpenVINO, PyTorch and others: each module that was linked with it
 * asks the library to put its functions into the module's list. Tasks begin and end on a thread, within a domain;
 * frames and regions that cross threads are not looked at. */
#include "annotations/annotations.h"

#include <pthread.h>
#include <string.h>

/* What modules are linked with: the beginning of each struct, which has stayed the same. */
struct api {
    const char *name;
    void **function;
    void *begins, *nothing;
    uint32_t group;
};
struct module {
    unsigned char magic[8];
    unsigned long version[3];
    volatile long is_begun, has_mutex, counter;
    pthread_mutex_t mutex;
    void *library, *error_handler;
    const char **path;
    struct api *list; /* a name that is NULL ends it */
};
struct domain {
    volatile int flags; /* 0: it is switched off */
    const char *name;
};
struct text {
    const char *text;
};
struct id {
    uint64_t parts[3];
};

static void task_begin(const struct domain *domain, struct id id, struct id parent, const struct text *name)
{
    (void)id, (void)parent;
    if (!domain || !domain->flags)
        return;
    const char *text = name ? name->text : NULL;
    if (!text || !*text) /* as oneTBB's, whose domain may have no name either */
        text = domain->name;
    fv_annotation_begin(domain, 0, text && *text ? text : "(task of ITT)");
}

static void task_end(const struct domain *domain)
{
    fv_annotation_end(domain, 0);
}

static const struct {
    const char *name;
    void *function;
} ours[] = { { "__itt_task_begin", (void *)task_begin }, { "__itt_task_end", (void *)task_end } };

/* Domains and texts are made by the module itself. */
static bool is_made_by_module(const char *name)
{
    return strstr(name, "domain_create") || strstr(name, "string_handle_create");
}

static void *function_of(const struct api *api)
{
    for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
        if (!strcmp(api->name, ours[i].name))
            return ours[i].function;
    return api->nothing;
}

FV_FOUND_BY_NAME(void, __itt_api_init, struct module *module, uint32_t groups)
{
    static const unsigned char magic[8] = { 0xED, 0xAB, 0xAB, 0xEC, 0x0D, 0xEE, 0xDA, 0x30 };

    (void)groups;
    if (!module || memcmp(module->magic, magic, sizeof(magic)) || !module->list)
        return;
    for (struct api *api = module->list; api->name; api++)
        if (api->function && !is_made_by_module(api->name))
            *api->function = function_of(api);
}
