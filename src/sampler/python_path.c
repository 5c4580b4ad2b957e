/* SPDX-License-Identifier: BSD-3-Clause */
/* See sampler.h: the call path of a sample of a Python program, as rt/path.c makes that of a call: where a
 * call of the interpreter's loop stands, those frames of Python that it runs, and no other frame of the
 * interpreter. Of a function that calls itself the innermost frame stands for all. Instances are of compiled
 * functions, and their paths have the interpreter's frames. */
#include "sampler/sampler.h"

struct keys {
    uintptr_t *key;
    unsigned count;
    uint32_t last; /* the module of the frame of Python that was added last; 0: another frame was */
};

static void add(struct keys *k, uintptr_t key, uint32_t module)
{
    k->key[k->count++] = key;
    k->last = module;
}

/* Frames of Python from number `next` on: those that one call of the interpreter's loop runs, or all. Returns
 * the next one. */
static unsigned add_python(struct keys *k, const struct fv_python_walk *python, unsigned next, bool all)
{
    for (bool more = true; more && next < python->count; next++) {
        const struct fv_python_frame *f = &python->frame[next];

        if (f->module && f->module != k->last)
            add(k, fv_python_key(f), f->module);
        more = all || !f->outermost;
    }
    return next;
}

static bool is_interpreter(uintptr_t address)
{
    uint64_t offset;
    uint32_t module = fv_module_known(address - 1, &offset);

    return module == fv_python_module() || fv_module_is_binding(module);
}

static unsigned find_keys(struct fv_sampler *s)
{
    struct keys k = { .key = s->key };
    unsigned next = 0;

    for (unsigned i = 0; i < s->walk.count; i++) {
        uintptr_t address = s->walk.address[i];

        if (fv_python_is_loop(address))
            next = add_python(&k, &s->python->walk, next, false);
        else if (!is_interpreter(address))
            add(&k, address, 0);
    }
    add_python(&k, &s->python->walk, next, true);
    return k.count;
}

uint32_t fv_walk_intern_sample(struct fv_sampler *s)
{
    uint32_t node = 0;

    if (!s->python)
        return fv_walk_intern(s, 0);
    s->python->stack_low = s->thread->stack_low;
    s->python->stack_end = s->thread->stack_end;
    if (!fv_python_sample(s->python))
        return fv_walk_intern(s, 0);
    unsigned count = find_keys(s);
    if ((s->walk.cut || s->python->cut) && !(node = fv_walk_child(s, 0, 0)))
        return 0;
    for (unsigned i = count; i-- > 0;)
        if (!(node = fv_walk_child(s, node, s->key[i])))
            return 0;
    return node;
}
