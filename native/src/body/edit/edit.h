// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Changes memberships, clusters and particles of a moving body, as a transaction. Fracture,
 * reclustering and resampling record changes; pl_edit_end rebuilds only the affected chunks and
 * clusters. Positions and velocities keep their bits.
 *
 *   pl_edit_begin ── members, slots, set, add_cluster, divide ... ──┬── pl_edit_end
 *                                                                   └── pl_edit_abandon
 *
 * Clusters without members are dead: their fade and mass are 0. They are free for reuse, at the end
 * of the finest level or between living ones. The indices of living clusters of the finest level
 * never change; those of coarser levels change when the finest level grows.
 */
#ifndef PL_BODY_EDIT_EDIT_H
#define PL_BODY_EDIT_EDIT_H

#include "body/body.h"

/* A particle's membership in a cluster of the finest level. */
typedef struct pl_member
{
    uint32_t cluster;
    float kernel;   /* before fades and normalising; positive */
    double rest[3]; /* r_ic, relative to the body's rest origin; in double, so that a place that is
                       read and set again is the same to the bit */
} pl_member;

/* A link of a cluster of the finest level to a coarse one (nested levels). */
typedef struct pl_edit_link
{
    uint32_t coarse; /* counted from the first that is not of the finest level: that stays */
    float u, b[9], q[3];
} pl_edit_link;

typedef struct pl_edit pl_edit;

/* Begins an edit. Fails for bodies with independent levels or quadratic goals. "now" is the scene's
 * substep: the birth of new particles and clusters. */
pl_status pl_edit_begin(pl_body* body, uint64_t now, pl_edit** edit);
/* Rolls back and frees the edit. Added clusters and particles are removed; capacity stays larger.
 */
void pl_edit_abandon(pl_edit* edit);

/* As edited so far; valid until the next call. Clusters, slots ascend. NULL when out of memory
 * (then count is 0). */
const pl_member* pl_edit_members(pl_edit* edit, uint32_t slot, uint32_t* count);
const uint32_t* pl_edit_slots(pl_edit* edit, uint32_t cluster, uint32_t* count);
/* The same, but the list may be truncated once it has at least "most" slots. */
const uint32_t* pl_edit_slots_up_to(pl_edit* edit, uint32_t cluster, uint32_t most,
                                    uint32_t* count);
/* The slots that are in both clusters. */
const uint32_t* pl_edit_shared(pl_edit* edit, uint32_t cluster, uint32_t other, uint32_t* count);

/* Replaces a particle's memberships: at least one, clusters ascending. "members" may be the result
 * of pl_edit_members. */
pl_status pl_edit_set(pl_edit* edit, uint32_t slot, const pl_member* members, uint32_t count);
/* The same without a comparison with the old memberships; they must differ. */
pl_status pl_edit_put(pl_edit* edit, uint32_t slot, const pl_member* members, uint32_t count);
/* A new cluster of the finest level, a copy of "like" (F^p, hardening, painted factors, fade,
 * contact planes, links to coarse clusters) without members. The arrays of the body's clusters may
 * be reallocated; the caller may change the new cluster in them. */
pl_status pl_edit_add_cluster(pl_edit* edit, uint32_t like, uint32_t* cluster);
/* Removes the cluster that was added last, which must have no members. */
void pl_edit_drop_cluster(pl_edit* edit, uint32_t cluster);
/* Sets the links of a cluster added by this edit, instead of copied ones: coarse clusters
 * ascending, the sum of u is 1, q for its present rest centre in the body's clusters.rest. */
pl_status pl_edit_set_links(pl_edit* edit, uint32_t cluster, const pl_edit_link* links,
                            uint32_t count);
/* Moves "quanta" of a particle's mass (fewer than it has) to a copy: same x, v, r, memberships,
 * pins and forces; a new id, whose parent is the particle's id. A full chunk gets more slots: then
 * slot numbers may change, "slot" included, and lists of slots become invalid; external ids stay.
 */
pl_status pl_edit_divide(pl_edit* edit, uint32_t slot, uint64_t quanta, uint32_t* copy);
/* The same with new memberships for both, as for pl_edit_put; each has at least one. */
pl_status pl_edit_part(pl_edit* edit, uint32_t slot, uint64_t quanta, const pl_member* kept,
                       uint32_t kept_count, const pl_member* moved, uint32_t moved_count,
                       uint32_t* copy);
/* Merges two particles into one in the first one's slot, with the quanta of both, a new id
 * whose parent is the first one's id, and these memberships (at least one, clusters ascending). The
 * other slot becomes free. The caller sets position and velocity. It is the successor of both ids:
 * the body must be one that is resampled (resample.c). */
pl_status pl_edit_merge(pl_edit* edit, uint32_t slot, uint32_t other, const pl_member* members,
                        uint32_t count);

/* Flags chunks and clusters of the finest level whose normalisers or fades changed before the edit:
 * pl_edit_end refreshes their derived data too. The caller keeps the flags valid. Not allowed in an
 * edit that divides or merges particles. */
void pl_edit_refresh(pl_edit* edit, const uint8_t* chunks, const uint8_t* clusters);

/* Applies and frees the edit, also if it fails: chunk entries, rows, normalisers, parts, rest
 * centres, A_rr, widths, proxies, overlap maps, links of nested levels. *updates (may be NULL) is
 * the number of rewritten memberships. */
pl_status pl_edit_end(pl_edit* edit, uint64_t* updates);
/* Call it after an edit when a divided or merged particle was moved. */
void pl_edit_moved(pl_body* body, uint32_t slot);

/* The new memberships of a particle, clusters ascending. */
typedef struct pl_change
{
    uint32_t slot, count, room;
    pl_member* members; /* in the edit's pool */
    uint64_t among;     /* bit c % 64 for each of their clusters c, and perhaps more */
} pl_change;

/* The change of a slot, created from its memberships if there is none; NULL when out of memory. */
pl_change* pl_edit_change(pl_edit* edit, uint32_t slot);

/* Adds a membership of a cluster that the particle is not in. */
pl_status pl_edit_join(pl_edit* edit, uint32_t slot, const pl_member* member);

/* Inserts so many dead clusters at the end of a level. */
pl_status pl_clusters_room(pl_body* body, uint32_t level, uint32_t more);

/* rest.c: refreshes data derived from memberships, masses, fades and normalisers: moments of the
 * flagged chunks' parts, then rest centres, A_rr etc. of the flagged clusters of the finest level,
 * and of coarse clusters that contain them. Their parts must be valid or in flagged chunks. */
pl_status pl_rest_refresh(pl_body* body, const uint8_t* chunks, const uint8_t* clusters);

/* A link that there will be: a copy of an old one, or, behind them, of one that an edit has. */
typedef struct pl_link_copy
{
    uint32_t fine, coarse, from;
} pl_link_copy;

/* links.c: replaces all links; the list ascends by coarse, then fine cluster. "more" are those
 * that its numbers behind the old ones mean. */
pl_status pl_links_build(pl_body* body, const pl_link_copy* list, uint32_t count,
                         const pl_edit_link* more);

/* The body of the edit. */
pl_body* pl_edit_body(const pl_edit* edit);

#endif
