/* What a launch leaves behind: the experiments that are there after it and were not before. */
#ifndef FV_WRITTEN_H
#define FV_WRITTEN_H

#include "base/base.h"

struct fv_written {
    const char *output; /* not owned; NULL: whatever the runtime names, in the current directory */
    char **names;       /* experiments that were there before, [count] */
    size_t count;
    bool was_there; /* `output` was, whatever it is */
};

/* Before the launch. Release it, whatever happens. */
void fv_written_init(struct fv_written *written, const char *output);
void fv_written_release(struct fv_written *written);

/* After it: says on stderr what is new, in `output` or what the runtime called it instead (NAME-2), with verdict and
 * findings. If nothing is, `why` stands behind that. */
void fv_written_report(const struct fv_written *written, const char *why);

#endif
