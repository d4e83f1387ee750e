/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Nothing of it is needed here. */
