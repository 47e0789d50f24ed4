// SPDX-License-Identifier: GPL-3.0-or-later
/* Declarations shared by the files of fracture; fracture.h is the public part. */
#ifndef PL_FRACTURE_FRACTURE_INTERNAL_H
#define PL_FRACTURE_FRACTURE_INTERNAL_H

#include "body/edit/edit.h"
#include "body/rest_query.h"
#include "dynamics/substep.h"
#include "fracture/fracture.h"

/* Fit of a finest cluster to its current members, in double precision. Positions are relative to
 * the body's origin, rest positions to its rest origin. */
typedef struct pl_fit
{
    uint32_t count; /* of members */
    double mass;
    vec3 x;         /* current centre of mass */
    vec3 in_body;   /* centre of mass in the body's rest shape */
    mat3 f;         /* F from the cluster's own rest shape; completed where it has no extent */
    double reach;   /* largest distance of a member from the centre, in the own rest shape */
    double stretch; /* largest elastic stretch */
    vec3 normal;    /* direction of that stretch in the world */
} pl_fit;

/* What a split does with one member. */
typedef struct pl_planned
{
    uint32_t id;
    uint32_t side;        /* 1: it moves to the new cluster */
    uint32_t kept, moved; /* number of memberships of the particle, then of its copy */
    uint32_t first;       /* index of these memberships in pl_plan.members */
    uint64_t quanta;      /* mass of the copy; 0: no copy */
} pl_planned;

typedef struct pl_plan
{
    uint32_t cluster, fresh;
    pl_planned* items;
    size_t count, capacity;
    pl_member* members;
    size_t member_count, member_capacity;
    double mass[2]; /* of the two sides */
    vec3 x[2];
    bool by_cells;      /* the cell of a member decides its side, and no particle is divided */
    uint8_t* cell_side; /* side of each cell in the cluster, as pl_planned.side */
    size_t cell_side_capacity;
    vec3 rest_point, rest_normal; /* of the plane between the sides */
    uint32_t* turned;             /* other clusters assigned to the side opposite to their centre */
    size_t turned_count, turned_capacity;
} pl_plan;

/* Memberships of a particle; clusters ascend. */
typedef struct pl_list_of
{
    const pl_member* members;
    uint32_t count;
} pl_list_of;

/* Memberships of the members of the cluster that was fitted last. */
typedef struct pl_known
{
    pl_member* members;
    size_t count, capacity;
    uint32_t* begin; /* CSR offsets, in the order of pl_breaking.ids */
    size_t begin_capacity;
} pl_known;

static inline pl_list_of pl_known_of(const pl_known* known, size_t i)
{
    return (pl_list_of){known->members + known->begin[i], known->begin[i + 1] - known->begin[i]};
}

/* Cache of positions in the share lists: the particles of a split look up the same pairs
 * repeatedly. */
typedef struct pl_share_places
{
    uint32_t at[128];
} pl_share_places;

/* A connected component of a piece, found by pl_pieces_look. */
typedef struct pl_part_found
{
    double mass;
    uint32_t count, first; /* of its clusters, in pl_parts_found.clusters */
} pl_part_found;

typedef struct pl_parts_found
{
    pl_part_found* parts;
    uint32_t count;
    size_t part_capacity;
    uint32_t* clusters;
    size_t cluster_count, cluster_capacity;
} pl_parts_found;

/* A member that leaves a cluster. */
typedef struct pl_outlier
{
    uint32_t id, cluster;
    double far;
} pl_outlier;

typedef struct pl_outlier_list
{
    pl_outlier* items;
    size_t count, capacity;
} pl_outlier_list;

/* Fracture of one body in one substep. */
typedef struct pl_breaking
{
    pl_scene* scene;
    pl_body* body;
    pl_fracture* fracture;
    pl_edit* edit;
    uint64_t substep;
    double moment, time; /* in frames; in seconds of the scene */
    double dt;
    uint32_t* ids; /* members of the current cluster */
    size_t id_capacity;
    pl_known known;
    pl_plan plan;
    /* Clusters that lost an edge of the graph, without duplicates. */
    uint32_t* lost;
    size_t lost_count, lost_capacity;
    pl_share_places places;
    uint8_t* marks; /* scratch of change_pairs: bits per membership of a list */
    size_t mark_capacity;
    pl_parts_found found;
    uint8_t* parted; /* by finest cluster: lost an edge in this substep */
    size_t parted_capacity;
    uint32_t* label; /* by finest cluster: scratch of the search, 0 between calls */
    size_t label_capacity;
    pl_outlier_list outliers;
    uint32_t* small; /* clusters that lost members, without duplicates */
    size_t small_count, small_capacity;
    pl_member *before, *after; /* memberships of a particle before and after a change */
    size_t before_capacity, after_capacity;
    bool any; /* something was changed */
} pl_breaking;

/* fracture.c: toughness of a cluster without the boost, scaled by the loss of stiffness that the
 * substep causes. */
double pl_toughness_of(const pl_breaking* b, uint32_t c);
/* fracture.c: frees the scratch. */
void pl_breaking_free(pl_breaking* b);

/* fit.c: lists the ids of a cluster's members, with the pending edit applied, in b->ids. Once there
 * are "most" or more the list may be incomplete. */
pl_status pl_list_ids(pl_breaking* b, uint32_t cluster, uint32_t most, uint32_t* count);
/* Fits the cluster with the pending edit applied. Fills b->ids with its members and b->known with
 * their memberships. */
pl_status pl_fracture_fit(pl_breaking* b, uint32_t cluster, pl_fit* fit);
/* Largest singular value of a, and its left singular vector (direction may be NULL). */
double pl_largest_stretch_of(mat3 a, vec3* direction);
/* F^e of a cluster with this F. */
mat3 pl_elastic_of(const pl_body* body, uint32_t cluster, mat3 f);

/* split.c: splits a cluster across fit->normal. *done: false if the limits do not allow it. */
pl_status pl_split_cluster(pl_breaking* b, uint32_t cluster, const pl_fit* fit, bool* done);

/* pieces.c: updates the graph of shared particles. The memberships "before" of a particle are
 * replaced by "kept" (the particle) and "moved" (its copy). Clusters that lose an edge are added to
 * b->lost. */
bool pl_shares_change(pl_breaking* b, pl_list_of before, pl_list_of kept, pl_list_of moved);
/* Reverts pl_shares_change with the same arguments. */
bool pl_shares_undo(pl_breaking* b, pl_list_of before, pl_list_of kept, pl_list_of moved);
/* Adds a cluster to b->lost; the caller resets b->lost_count. */
bool pl_pieces_lose(pl_breaking* b, uint32_t cluster);
/* Rebuilds the graph and the pieces from the memberships unless they are current. */
pl_status pl_pieces_ready(pl_body* body, uint64_t substep, double moment);
/* Finds the connected components of the piece of b->lost. b->found lists the clusters of all but
 * the last component, which has count 0 and stands for the remaining clusters. */
pl_status pl_pieces_look(pl_breaking* b);
/* Numbers the components that pl_pieces_look found: the heaviest keeps the old number. */
pl_status pl_pieces_part(pl_breaking* b);

/* voronoi_cells.c: assigns the cells of a cluster (members in b->ids) to the two sides. *parts:
 * whether it has more than one cell. */
pl_status pl_voronoi_cells_divide(pl_breaking* b, const pl_fit* fit, bool* parts);
/* Side of a member after that. */
uint32_t pl_voronoi_cells_side(const pl_breaking* b, uint32_t id);

/* split_levels.c: divides coarse clusters whose fine clusters are no longer connected. Call it
 * after the edit. */
pl_status pl_levels_part(pl_breaking* b);

/* outliers.c: finds members that are too far from their clusters, before any edit; then removes
 * these memberships. */
pl_status pl_outliers_find(pl_breaking* b);
pl_status pl_outliers_leave(pl_breaking* b);

/* weak_links.c: separates clusters beside cracks that share too few particles. */
pl_status pl_weak_links_split(pl_breaking* b);

/* small_pieces.c: changes the memberships of a particle, unless that would detach a piece smaller
 * than allowed or one too many. */
pl_status pl_members_change(pl_breaking* b, uint32_t id, const pl_member* before, uint32_t count,
                            const pl_member* after, uint32_t kept);
/* Removes a particle from a cluster if it has others, under the same conditions. */
pl_status pl_member_leave(pl_breaking* b, uint32_t id, uint32_t cluster);
/* Adds a cluster that lost members to b->small; false when out of memory. */
bool pl_note_small(pl_breaking* b, uint32_t cluster);
/* Dissolves the clusters of b->small that have too few members left. */
pl_status pl_small_dissolve(pl_breaking* b);
/* Advances the orientations of small pieces by a substep. */
void pl_small_pieces_move(pl_breaking* b);

#endif
