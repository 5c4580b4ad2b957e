/* SPDX-License-Identifier: BSD-3-Clause */
/* Files: which, from where, by which rank. */
#include "views/text/text.h"
#include "profile/io/io.h"

FV_TEXT_SECTION(io)
{
    const struct fv_io_view *io = fv_model_io(v->model);
    const struct fv_text_loss rows[] = {
        { io->no_room, "call",
          "of functions for files counted without file and call path, or not at all, for lack of room" },
        { io->interrupted, "call",
          "of functions for files in signal handlers that interrupted another's record: not recorded" },
    };

    if (!io->call_count) {
        fv_text_losses(p, "", rows, sizeof(rows) / sizeof(*rows));
        return;
    }
    fv_text_relation(p, v, "io_files", "file",
                     "over all ranks; in MPI: time in MPI's own functions for files; max rank: time of the rank with "
                     "most");
    fv_text_relation(p, v, "io", "call path",
                     "functions for files, longest first; those of stdio (fwrite, fprintf) include their system calls");
    fv_text_losses(p, "", rows, sizeof(rows) / sizeof(*rows));
}
