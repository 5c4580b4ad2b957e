# SPDX-License-Identifier: BSD-3-Clause
# FV_OPCODES: libopcodes finds loops in machine code, for reports of sampled runs. It comes with libbfd, mostly: without
# it such reports have no loops. Since binutils 2.39 it wants a second function to print with.
m4_define([FV_OPCODES_TRY], [AC_LINK_IFELSE([AC_LANG_PROGRAM([[#ifndef PACKAGE
#define PACKAGE 1
#endif
#include <stddef.h>
#include <bfd.h>
#include <dis-asm.h>]],
    [[struct disassemble_info info;
init_disassemble_info(&info, NULL, NULL]$1[);
return disassembler(bfd_arch_i386, 0, bfd_mach_x86_64, NULL) != NULL;]])], [$2], [$3])])
AC_DEFUN([FV_OPCODES], [
fv_saved_libs=$LIBS
LIBS="-lopcodes $BFD_LIBS $LIBS"
AC_MSG_CHECKING([for libopcodes])
FV_OPCODES_TRY([, NULL], [fv_opcodes=styled], [FV_OPCODES_TRY([], [fv_opcodes=plain], [fv_opcodes=no])])
LIBS=$fv_saved_libs
AC_MSG_RESULT([$fv_opcodes])
AS_IF([test "$fv_opcodes" != no], [
    BFD_LIBS="-lopcodes $BFD_LIBS"
    AC_DEFINE([HAVE_OPCODES], [1], [libopcodes is there])])
AS_IF([test "$fv_opcodes" = styled], [AC_DEFINE([HAVE_OPCODES_STYLED], [1], [it prints with styles])])
])
