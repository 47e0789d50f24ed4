// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Changing memberships, clusters and particles of a body that moves. Fracture, reclustering and
 * resampling say here what changes; pl_edit_end rebuilds the chunks and clusters that were touched
 * and nothing else. Positions and velocities stay as they are, bit for bit.
 *
 *   pl_edit_begin ── members, slots, set, add_cluster, divide ... ──┬── pl_edit_end
 *                                                                   └── pl_edit_abandon
 *
 * Clusters that have no members are dead: their fade and mass are 0 and they wait at the end of the
 * finest level, or wherever they died, to be used again. The indices of living clusters of the
 * finest level never change; those of coarser levels do when more room is made.
 */
#ifndef PL_BODY_EDIT_EDIT_H
#define PL_BODY_EDIT_EDIT_H

#include "body/body.h"

/* A particle's place in a cluster of the finest level. */
typedef struct pl_member
{
    uint32_t cluster;
    float kernel;   /* before fades and normalising; positive */
    double rest[3]; /* r_ic, relative to the body's rest origin; in double, so that a place that is
                       read and set again is the same to the bit */
} pl_member;

/* How a cluster of the finest level lies in a coarse one of nested levels. */
typedef struct pl_edit_link
{
    uint32_t coarse; /* counted from the first that is not of the finest level: that stays */
    float u, b[9], q[3];
} pl_edit_link;

typedef struct pl_edit pl_edit;

/* Opens an edit. Bodies with independent levels or quadratic goals are refused. "now" is the
 * scene's substep: the birth of particles and clusters that are made. */
pl_status pl_edit_begin(pl_body* body, uint64_t now, pl_edit** edit);
/* Forgets what was asked; frees the edit. Room that was made stays, clusters and particles that
 * were added go. */
void pl_edit_abandon(pl_edit* edit);

/* As edited so far; valid until the next call. Clusters, slots ascend. NULL when out of memory
 * (then count is 0). */
const pl_member* pl_edit_members(pl_edit* edit, uint32_t slot, uint32_t* count);
const uint32_t* pl_edit_slots(pl_edit* edit, uint32_t cluster, uint32_t* count);
/* The same for whoever asks only whether there are fewer than "most": otherwise the list stops
 * somewhere from there on. */
const uint32_t* pl_edit_slots_up_to(pl_edit* edit, uint32_t cluster, uint32_t most,
                                    uint32_t* count);
/* Those that are in two clusters. */
const uint32_t* pl_edit_shared(pl_edit* edit, uint32_t cluster, uint32_t other, uint32_t* count);

/* Replaces a particle's memberships: at least one, clusters ascending. "members" may be what
 * pl_edit_members gave. */
pl_status pl_edit_set(pl_edit* edit, uint32_t slot, const pl_member* members, uint32_t count);
/* The same where they surely are others than before, which is not looked at. */
pl_status pl_edit_put(pl_edit* edit, uint32_t slot, const pl_member* members, uint32_t count);
/* A new cluster of the finest level, in all but its members as another is (F^p, hardening, painted
 * factors, fade, contact planes, links to coarse clusters). The caller may write what it likes to
 * the arrays of the body's clusters afterwards; these may have moved. */
pl_status pl_edit_add_cluster(pl_edit* edit, uint32_t like, uint32_t* cluster);
/* Takes back the cluster that was added last, which nobody has joined. */
void pl_edit_drop_cluster(pl_edit* edit, uint32_t cluster);
/* The links of a cluster that this edit has added, instead of those that it is like: coarse
 * clusters ascending, u adding up to 1, q for the rest centre that the body's clusters.rest has for
 * it now.
 */
pl_status pl_edit_set_links(pl_edit* edit, uint32_t cluster, const pl_edit_link* links,
                            uint32_t count);
/* Takes so many quanta of a particle's mass (fewer than it has) for a copy of it: same x, v, r,
 * memberships, pins, forces; a new id whose parent is the particle's. A full chunk gets more slots:
 * then all slots may have other numbers, "slot" included, and lists of slots are stale; external
 * ids stay. */
pl_status pl_edit_divide(pl_edit* edit, uint32_t slot, uint64_t quanta, uint32_t* copy);
/* The same with other memberships for both, as pl_edit_put has them: each keeps some. */
pl_status pl_edit_part(pl_edit* edit, uint32_t slot, uint64_t quanta, const pl_member* kept,
                       uint32_t kept_count, const pl_member* moved, uint32_t moved_count,
                       uint32_t* copy);
/* Two particles become one, with the quanta of both, a new id whose parent is the first's, and
 * these memberships (at least one, clusters ascending), in the first one's slot; the other's is
 * free afterwards. Where it is, and how fast, is the caller's to say. Both ids have it as
 * successor: the body must be one that is resampled (resample.c). */
pl_status pl_edit_merge(pl_edit* edit, uint32_t slot, uint32_t other, const pl_member* members,
                        uint32_t count);

/* Chunks and clusters of the finest level, by flags that the caller keeps, whose normalisers or
 * fades changed before the edit: with it, what follows from them is made right as well, in one go.
 * An edit that divides or merges particles cannot have such. */
void pl_edit_refresh(pl_edit* edit, const uint8_t* chunks, const uint8_t* clusters);

/* Makes it so and frees the edit, also if it fails: chunk entries, rows, normalisers, parts, rest
 * centres, A_rr, widths, proxies, overlap maps, links of nested levels. "updates" counts the
 * memberships that were rewritten; may be NULL. */
pl_status pl_edit_end(pl_edit* edit, uint64_t* updates);
/* After an edit: a particle that it divided or merged was put elsewhere. */
void pl_edit_moved(pl_body* body, uint32_t slot);

/* The new memberships of a particle, clusters ascending. */
typedef struct pl_change
{
    uint32_t slot, count, room;
    pl_member* members; /* in the edit's pool */
    uint64_t among;     /* bit c % 64 for each of their clusters c, and perhaps more */
} pl_change;

/* The change of a slot, made from what it has if there is none yet; NULL when out of memory. */
pl_change* pl_edit_change(pl_edit* edit, uint32_t slot);

/* Adds one to a particle's memberships, of a cluster that it is not in. */
pl_status pl_edit_join(pl_edit* edit, uint32_t slot, const pl_member* member);

/* Inserts so many dead clusters at the end of a level. */
pl_status pl_clusters_room(pl_body* body, uint32_t level, uint32_t more);

/* rest.c: what follows from memberships, masses, fades and normalisers: moments of the flagged
 * chunks' parts, then rest centres, A_rr and so on of the flagged clusters of the finest level, and
 * of coarse clusters that have such. Their parts must be in flagged chunks, or be right. */
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

/* The body that it changes. */
pl_body* pl_edit_body(const pl_edit* edit);

#endif
