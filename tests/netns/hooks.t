#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# hooks: being written.
