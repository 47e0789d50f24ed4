// SPDX-License-Identifier: GPL-3.0-or-later
/* Iterates over the memberships of a body. */
#ifndef PL_BODY_MEMBERSHIPS_H
#define PL_BODY_MEMBERSHIPS_H

#include "body/body.h"

/* Calls "call" for every membership of the clusters from begin to end, whose members must be
 * particles (the finest level, or independent levels), in the order of chunks and blocks. */
typedef void (*pl_member_fn)(void* context, uint32_t cluster, uint32_t slot, float weight);
void pl_each_member(const pl_body* body, uint32_t begin, uint32_t end, pl_member_fn call,
                    void* context);

#endif
