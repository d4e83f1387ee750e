#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# run.sh [WORD...]: run tests; see runner/run.py.
cd "$(dirname "$0")/.." && exec python3 tests/runner/run.py "$@"
