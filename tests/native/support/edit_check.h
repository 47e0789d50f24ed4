// SPDX-License-Identifier: GPL-3.0-or-later
/* A body whose memberships have changed, against brute force. */
#ifndef PLIANT_TEST_EDIT_CHECK_H
#define PLIANT_TEST_EDIT_CHECK_H

#include <base/math3.h>
#include <body/body.h>

uint64_t check_quanta(const pl_body* body);
vec3 check_momentum(const pl_body* body);
/* Mass, centre, A_rr and parts of every cluster by asking every particle, and that every level has
 * the body's mass. */
void check_body(pl_body* body);

#endif
