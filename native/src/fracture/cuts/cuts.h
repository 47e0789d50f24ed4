// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Cuts of a body's material, as contacts need them. Code that divides material records it here:
 *
 *   pl_edit_begin ... pl_edit_divide (copies inherit the cuts of their parents) ... pl_edit_end
 *   pl_cuts_plane   one plane for each cluster that was split
 *   pl_cuts_note    for every particle of that cluster, and its copy: the side that it went to.
 *                   A copy that went to clusters across the plane lies on the wrong side and owns
 *                   no material
 *
 * Contacts, pairs and colliders are updated from that, also after later changes of memberships.
 * Queries are in cut_query.h.
 */
#ifndef PL_FRACTURE_CUTS_CUTS_H
#define PL_FRACTURE_CUTS_CUTS_H

#include "body/body.h"

/* Adds a plane and normalises it; *index becomes its number. collision/broadphase/pose.h converts a
 * plane in the world. */
pl_status pl_cuts_plane(pl_body* body, const pl_cut_plane* cut, uint32_t* index);
/* Records that a particle (external id) went to the side above the plane, or below it. */
pl_status pl_cuts_note(pl_body* body, uint32_t particle, uint32_t plane, bool above);

/* Copies the cuts of a particle to its copy. */
pl_status pl_cuts_copy(pl_body* body, uint32_t from, uint32_t to);
/* Removes cuts of ids beyond the current id count. */
void pl_cuts_trim(pl_body* body);

/* Updates the data derived from cuts and memberships: pieces, sides, ghosts. No-op without cuts. */
pl_status pl_cuts_refresh(pl_body* body);
/* ghosts.c: before contacts, with current cuts: updates which ghosts have contacts. */
pl_status pl_ghosts_follow(pl_body* body);
/* cracks.c: updates the distances to cracks; the rest SDF must have been built. */
pl_status pl_cracks_refresh(pl_body* body);
void pl_cuts_free(pl_cuts* cuts);

#endif
