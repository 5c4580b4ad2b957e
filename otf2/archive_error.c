/* SPDX-License-Identifier: BSD-3-Clause */
/* What OTF2 says when an archive cannot be written, in one line; see archive_state.h. */
#include "otf2/archive_state.h"

#include <errno.h>
#include <string.h>

bool fv_archive_check(struct fv_archive *a, OTF2_ErrorCode code, const char *what)
{
    if (FV_LIKELY(code == OTF2_SUCCESS))
        return true;
    if (!a->failed)
        fv_log("%s: the OTF2 archive could not be written (%s: %s%s%s); is there room on the disk?", a->final, what,
               OTF2_Error_GetDescription(code), errno ? ": " : "", errno ? strerror(errno) : "");
    a->failed = true;
    return false;
}

/* OTF2 would print each of its errors; fvmpi says one line. Not all of them come back to the caller: a buffer
 * that could not be written when its file is closed is told only here. */
static struct {
    OTF2_ErrorCode code;
    int error; /* errno */
} untold = { .code = OTF2_SUCCESS };

static OTF2_ErrorCode note(void *data, const char *file, uint64_t line, const char *function, OTF2_ErrorCode code,
                           const char *format, va_list args)
{
    (void)data, (void)file, (void)line, (void)function, (void)format, (void)args;
    if (untold.code == OTF2_SUCCESS && code > OTF2_SUCCESS) {
        untold.code = code;
        untold.error = errno;
    }
    return code;
}

bool fv_archive_check_untold(struct fv_archive *a)
{
    if (untold.code == OTF2_SUCCESS)
        return true;
    errno = untold.error;
    return fv_archive_check(a, untold.code, "events");
}

void fv_archive_forget_errors(void)
{
    untold.code = OTF2_SUCCESS;
}

void fv_archive_note_errors(void)
{
    OTF2_Error_RegisterCallback(note, NULL);
}
