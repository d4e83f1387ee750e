/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Values as an operator writes them, and back. What reads one returns 0, or
 * -EINVAL with a sentence that says what would be right; what writes one
 * returns its text, in a buffer of the caller's.
 */
#ifndef WEIR_VALUE_H
#define WEIR_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"
#include "model.h"

#define WEIR_TEXT_SIZE	96

int weir_value_number(const char *text, uint64_t min, uint64_t max,
		      uint64_t *value, struct weir_err *err);
int weir_value_count(const char *text, uint64_t min, uint64_t max,
		     uint64_t *value, struct weir_err *err);
int weir_value_budget(const char *text, uint64_t max, uint64_t *budget,
		      uint32_t *window_ms, struct weir_err *err);
int weir_value_prefix(const char *text, struct weir_prefix *prefix,
		      struct weir_err *err);
int weir_value_address(const char *text, struct weir_prefix *address,
		       struct weir_err *err);
int weir_value_name(const char *text, char name[WEIR_NAME_SIZE],
		    struct weir_err *err);
int weir_value_dev(const char *text, char dev[WEIR_DEV_SIZE],
		   struct weir_err *err);
int weir_value_proto(const char *text, uint8_t *proto, struct weir_err *err);
int weir_value_ports(const char *text, uint16_t ports[2], struct weir_err *err);
int weir_value_mark(const char *text, uint32_t *mark, uint32_t *mask,
		    struct weir_err *err);
int weir_value_per(const char *text, uint8_t *prefix4, uint8_t *prefix6,
		   struct weir_err *err);

bool weir_proto_has_ports(uint8_t proto);
bool weir_proto_answers(uint8_t proto);

int weir_text_char(const char *text);
bool weir_text_control(const char *text);

const char *weir_text_budget(uint64_t budget, uint32_t window_ms,
			     char buf[WEIR_TEXT_SIZE]);
const char *weir_text_prefix(const struct weir_prefix *prefix,
			     char buf[WEIR_TEXT_SIZE]);
const char *weir_text_proto(uint8_t proto, char buf[WEIR_TEXT_SIZE]);
const char *weir_text_ports(const uint16_t ports[2], char buf[WEIR_TEXT_SIZE]);
const char *weir_text_time(uint64_t ns, char buf[WEIR_TEXT_SIZE]);
const char *weir_text_size(uint64_t bytes, char buf[WEIR_TEXT_SIZE]);

#endif
