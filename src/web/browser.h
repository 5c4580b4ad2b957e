/* SPDX-License-Identifier: BSD-3-Clause */
/* The user's browser, opened where there is a desktop. */
#ifndef FV_WEB_BROWSER_H
#define FV_WEB_BROWSER_H

#include <sys/types.h>

/* What is left of it; begins as zeros. */
struct fv_browser {
    char *page; /* a file that leads to the address; NULL: none was opened */
    pid_t opener;
};

/* Where standard output is a terminal and there is a desktop, xdg-open opens the address. The token is in no command
 * line, which all users see: in a file that this user alone reads. Where that is not possible, nothing is opened. */
void fv_browser_open(struct fv_browser *browser, unsigned port, const char *token);
void fv_browser_close(struct fv_browser *browser);

#endif
