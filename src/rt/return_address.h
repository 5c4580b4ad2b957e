/* SPDX-License-Identifier: BSD-3-Clause */
/* Is an address one that a call returns to? Where code has no unwind tables (assembler, code made at run time),
 * libunwind follows the frame pointer. If such code uses that register for something else, what lies there is anything,
 * and a path would go on through frames that never were. */
#ifndef FV_RETURN_ADDRESS_H
#define FV_RETURN_ADDRESS_H

#include "base/base.h"

/* Is there a call in front of it, in memory that is executed? Takes microseconds where the address is in no loaded
 * object; no lock. errno may change. */
bool fv_is_return_address(uintptr_t address);

#endif
