/* SPDX-License-Identifier: BSD-3-Clause */
/* See doctor.h: what a check says. */
#include "doctor/files.h"

#include <stdarg.h>
#include <stdlib.h>

const char *const fv_doctor_states[] = { FV_DOCTOR_STATE_LIST(FV_LIST_WORD) NULL };

void fv_doctor_say(struct fv_doctor *d, struct fv_doctor_result *r, enum fv_doctor_state state, const char *format, ...)
{
    char *text;
    va_list args;

    va_start(args, format);
    if (vasprintf(&text, format, args) < 0)
        text = NULL;
    va_end(args);
    r->state = state;
    r->found = fv_arena_string(&d->arena, text ? text : "");
    free(text);
}

void fv_doctor_want(struct fv_doctor *d, struct fv_doctor_result *r, const char *path, const char *value)
{
    const char *now = fv_doctor_value(d, "%s", path);

    if (!now || !*now || strpbrk(now, "\t\n") || !strcmp(now, value))
        return;
    FV_GROW(d->writes, d->write_room, d->write_count + 1);
    if (!r->write_count)
        r->first_write = (uint32_t)d->write_count;
    r->write_count++;
    d->writes[d->write_count++] =
        (struct fv_doctor_write){ fv_arena_string(&d->arena, path), fv_arena_string(&d->arena, value), now };
}
