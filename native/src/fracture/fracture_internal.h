// SPDX-License-Identifier: GPL-3.0-or-later
/* What the files of fracture share (fracture.h is what others see). */
#ifndef PL_FRACTURE_FRACTURE_INTERNAL_H
#define PL_FRACTURE_FRACTURE_INTERNAL_H

#include "body/edit/edit.h"
#include "body/rest_query.h"
#include "dynamics/substep.h"
#include "fracture/fracture.h"

/* A finest cluster as its members are now, in double. Positions are relative to the body's origin,
 * rest positions to its rest origin. */
typedef struct pl_fit
{
    uint32_t count; /* of members */
    double mass;
    vec3 x;         /* centre of mass now */
    vec3 in_body;   /* and in the body's rest shape */
    mat3 f;         /* from its own rest shape; completed where it has no extent */
    double reach;   /* of its members from its centre, in its own rest shape */
    double stretch; /* the largest elastic one */
    vec3 normal;    /* the direction that is stretched so, in the world */
} pl_fit;

/* Who goes where in a split. */
typedef struct pl_planned
{
    uint32_t id;
    uint32_t side;        /* 1: of the new cluster */
    uint32_t kept, moved; /* memberships: of the particle, then those of its copy, one list */
    uint32_t first;       /* of them all, in pl_plan.members */
    uint64_t quanta;      /* for the copy; 0: there is none */
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
    bool by_cells;      /* members go by their cells, and none is divided */
    uint8_t* cell_side; /* by cell, of those that the cluster has: as pl_planned.side */
    size_t cell_side_capacity;
    vec3 rest_point, rest_normal; /* of the plane between them */
    uint32_t* turned; /* other clusters that are not on the side that their centres are on */
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
    uint32_t* begin; /* by place in pl_breaking.ids, and one more */
    size_t begin_capacity;
} pl_known;

static inline pl_list_of pl_known_of(const pl_known* known, size_t i)
{
    return (pl_list_of){known->members + known->begin[i], known->begin[i + 1] - known->begin[i]};
}

/* Where clusters were found last among those that others share particles with: particles of a split
 * ask for the same ones again and again. */
typedef struct pl_share_places
{
    uint32_t at[128];
} pl_share_places;

/* A connected part of the graph, found while looking whether a piece fell apart. */
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
    uint32_t* ids; /* members of the cluster at hand */
    size_t id_capacity;
    pl_known known;
    pl_plan plan;
    /* Clusters that lost a neighbour, each once. */
    uint32_t* lost;
    size_t lost_count, lost_capacity;
    pl_share_places places;
    uint8_t* marks; /* of a list of memberships: in which others each of them is */
    size_t mark_capacity;
    pl_parts_found found;
    uint8_t* parted; /* by finest cluster: lost a neighbour in this substep */
    size_t parted_capacity;
    uint32_t* label; /* by finest cluster: scratch of the search, 0 between calls */
    size_t label_capacity;
    pl_outlier_list outliers;
    uint32_t* small; /* clusters that lost members, each once */
    size_t small_count, small_capacity;
    pl_member *before, *after; /* of a particle that is changed */
    size_t before_capacity, after_capacity;
    bool any; /* something was changed */
} pl_breaking;

/* fracture.c: strain that a cluster bears, but for the boost. What its stiffness lacks in these
 * substeps is made up for. */
double pl_toughness_of(const pl_breaking* b, uint32_t c);
/* fracture.c: frees the scratch. */
void pl_breaking_free(pl_breaking* b);

/* fit.c: the ids of a cluster's members as edited so far, in b->ids; if there are "most"
 * or more, perhaps not all. */
pl_status pl_list_ids(pl_breaking* b, uint32_t cluster, uint32_t most, uint32_t* count);
/* The cluster as edited so far. b->ids lists its members, b->known what they are in. */
pl_status pl_fracture_fit(pl_breaking* b, uint32_t cluster, pl_fit* fit);
/* The largest singular value of a, and the left singular vector that belongs to it. */
double pl_largest_stretch_of(mat3 a, vec3* direction);
/* F^e of a cluster with this F. */
mat3 pl_elastic_of(const pl_body* body, uint32_t cluster, mat3 f);

/* split.c: splits a cluster across fit->normal if limits allow it; *done says so. */
pl_status pl_split_cluster(pl_breaking* b, uint32_t cluster, const pl_fit* fit, bool* done);

/* pieces.c: the graph of shared particles. A particle's memberships become those that it keeps and
 * those that a copy of it has; clusters that share none any more are noted as lost. */
bool pl_shares_change(pl_breaking* b, pl_list_of before, pl_list_of kept, pl_list_of moved);
/* And back again. */
bool pl_shares_undo(pl_breaking* b, pl_list_of before, pl_list_of kept, pl_list_of moved);
/* Notes a cluster as lost; b->lost_count is set to 0 before the first. */
bool pl_pieces_lose(pl_breaking* b, uint32_t cluster);
/* The graph and the pieces as memberships have them, if they are not known. */
pl_status pl_pieces_ready(pl_body* body, uint64_t substep, double moment);
/* The connected parts of the piece in which clusters were lost, all but one of them listed in
 * b->found; the last one has count 0: it has the rest. */
pl_status pl_pieces_look(pl_breaking* b);
/* Gives numbers to the parts that pl_pieces_look found: the heaviest keeps the old one. */
pl_status pl_pieces_part(pl_breaking* b);

/* voronoi_cells.c: which cells of a cluster go where; *parts: it has more than one. b->ids lists
 * its members. */
pl_status pl_voronoi_cells_divide(pl_breaking* b, const pl_fit* fit, bool* parts);
/* The side of a member then. */
uint32_t pl_voronoi_cells_side(const pl_breaking* b, uint32_t id);

/* split_levels.c: coarse clusters come apart where what they are made of has; after the edit. */
pl_status pl_levels_part(pl_breaking* b);

/* outliers.c: members that are too far from their clusters, before anything is edited; and that
 * they leave them. */
pl_status pl_outliers_find(pl_breaking* b);
pl_status pl_outliers_leave(pl_breaking* b);

/* weak_links.c: clusters beside cracks that share too few particles part. */
pl_status pl_weak_links_split(pl_breaking* b);

/* small_pieces.c: changes the memberships of a particle, unless what comes off is too small. */
pl_status pl_members_change(pl_breaking* b, uint32_t id, const pl_member* before, uint32_t count,
                            const pl_member* after, uint32_t kept);
/* The same: it leaves a cluster, if it has others. */
pl_status pl_member_leave(pl_breaking* b, uint32_t id, uint32_t cluster);
/* Notes a cluster that lost members; false when out of memory. */
bool pl_note_small(pl_breaking* b, uint32_t cluster);
/* What becomes of those that have too few left. */
pl_status pl_small_dissolve(pl_breaking* b);
/* Small pieces turn on. */
void pl_small_pieces_move(pl_breaking* b);

#endif
