// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What cuts leave of a body's material, for whoever touches it. Whoever divides material says so
 * here, with the memberships:
 *
 *   pl_edit_begin ... pl_edit_divide (copies inherit the cuts of their parents) ... pl_edit_end
 *   pl_cuts_plane   one plane, for each cluster that was split
 *   pl_cuts_note    for every particle that was in that cluster, copies too: which side it went to,
 *                   which is not always the side that it is on: a copy that went with clusters
 *                   across the plane is on the wrong side, and has no material around it
 *
 * Contacts, pairs and colliders follow by themselves, with all later changes of memberships. What
 * one may ask is in cut_query.h.
 */
#ifndef PL_FRACTURE_CUTS_CUTS_H
#define PL_FRACTURE_CUTS_CUTS_H

#include "body/body.h"

/* Adds a plane; "index" is its number. The normal gets length 1. collision/broadphase/pose.h makes
 * one from a plane in the world. */
pl_status pl_cuts_plane(pl_body* body, const pl_cut_plane* cut, uint32_t* index);
/* The particle (an external id) went with what is above the plane, or below it. */
pl_status pl_cuts_note(pl_body* body, uint32_t particle, uint32_t plane, bool above);

/* A copy has the cuts of what it is a copy of. */
pl_status pl_cuts_copy(pl_body* body, uint32_t from, uint32_t to);
/* Particles whose ids are no longer given were never there. */
void pl_cuts_trim(pl_body* body);

/* Brings what follows from cuts and memberships up to date: pieces, sides, ghosts. Does nothing
 * without cuts. */
pl_status pl_cuts_refresh(pl_body* body);
/* ghosts.c: before contacts, of a body whose cuts are up to date: which ghosts are touched now. */
pl_status pl_ghosts_follow(pl_body* body);
/* cracks.c: the same for the distances of cracks; rest_shape has been built. */
pl_status pl_cracks_refresh(pl_body* body);
void pl_cuts_free(pl_cuts* cuts);

#endif
