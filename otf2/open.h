/* SPDX-License-Identifier: BSD-3-Clause */
/* Opening an archive to read it, and what the OTF2 library says where it fails. */
#ifndef FV_OTF2_OPEN_H
#define FV_OTF2_OPEN_H

#include "base/base.h"

#include <otf2/otf2.h>

/* From now on the library's first words go to `words`, in place of stderr; the caller clears them once they are said.
 * NULL: to stderr again. */
void fv_otf2_catch(char *words, size_t bytes);

/* By one process, whose words are caught. NULL: no archive; one line was logged. A damaged anchor file that sends the
 * library round in circles ends the process after 10 s, with a line. */
OTF2_Reader *fv_otf2_open(const char *path, char *words);

#endif
