#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# run.sh [WORD...]: run tests; see runner/run.pl.
exec perl "$(dirname "$0")/runner/run.pl" "$@"
