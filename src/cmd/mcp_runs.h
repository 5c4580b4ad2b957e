/* SPDX-License-Identifier: BSD-3-Clause */
/* Which runs there are below directories, for who asks fvmpi mcp. */
#ifndef FV_MCP_RUNS_H
#define FV_MCP_RUNS_H

#include <stddef.h>

/* Experiment directories and archives, a path a line, the newest first; links are not followed. To be freed. */
char *fv_mcp_runs(char *const *roots, size_t count);

#endif
