// SPDX-License-Identifier: GPL-3.0-or-later
/* The memberships of a body, one by one. */
#ifndef PL_BODY_MEMBERSHIPS_H
#define PL_BODY_MEMBERSHIPS_H

#include "body/body.h"

/* Calls with every membership of the clusters from begin to end, which hold particles themselves
 * (those of the finest level, and of independent ones), in the order of chunks and blocks. */
typedef void (*pl_member_fn)(void* context, uint32_t cluster, uint32_t slot, float weight);
void pl_each_member(const pl_body* body, uint32_t begin, uint32_t end, pl_member_fn call,
                    void* context);

#endif
