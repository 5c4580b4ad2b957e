#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The tables of text are filled from columns of relations (views/sheet.c) and from nothing else: no view sets a heading
# or a cell by hand.
. "$(dirname "$0")/../lib.sh"

out=$(grep -rnE 'fv_table_[a-z]+\(|struct fv_(column|table)\b' "$source"/src/{views,diff,cmd} --include='*.[ch]' |
    grep -v '/src/views/sheet\.[ch]:')
check 'only views/sheet.c fills tables' test -z "$out"
finish
