# SPDX-License-Identifier: BSD-3-Clause
"""The version of fvmpi, written by packaging/update."""
VERSION = '0.1.0'
