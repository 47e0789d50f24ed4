// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The oracle: one step of clustered shape matching in plain double precision, written to be read.
 * It is what the library is compared with, in results and in speed. It starts from plain arrays or
 * from a body's channels, so that both can run from the same state; it shares no code with the
 * library's step.
 */
#ifndef PLIANT_REFERENCE_H
#define PLIANT_REFERENCE_H

#include "base/math3.h"

#include <pliant.h>
#include <stdbool.h>
#include <stdint.h>

/* Every field but "material" may be left zero. Of the material, pressure and drag are not done. */
typedef struct reference_settings
{
    pliant_material_desc material;
    double gravity[3];
    /* The papers' step with its flaws: polar(F) with its torque, damping toward the mean velocity,
     * strain limiting that loses momentum, one alpha for all clusters. */
    bool literal;
    bool every_iteration; /* strain limiting goes on where nothing is violated, as published code */
    /* A ground plane: particles stay above height along the axis (0 x, 1 y, 2 z). */
    bool plane;
    int plane_axis;
    double plane_height, plane_friction, plane_restitution;
    bool plastic; /* the material's yield, flow and hardening count; with one level */
    /* One level breaks, if "breaks" is set; limits on pieces are not done. */
    bool breaks;
    pliant_fracture_desc fracture;
} reference_settings;

/* One level of clusters, as PLIANT_MEMBER_* give it. Members are particles or, in a nested coarse
 * level, clusters of the level before. */
typedef struct reference_level_desc
{
    bool nested;
    uint32_t clusters;
    const uint32_t* begin;     /* clusters + 1 */
    const uint32_t* member;    /* particle or finer cluster; may occur twice in a cluster */
    const double* weight;      /* normalised again in double: each member's sum to 1 */
    const double (*offset)[3]; /* rest offsets, or NULL: from the rest positions */
    double level_weight;       /* on alpha and kappa */
    double level_damping;      /* on the damping rate */
} reference_level_desc;

typedef struct reference_desc
{
    uint32_t particles;
    const double (*rest)[3];
    const double (*position)[3]; /* NULL: at rest */
    const double (*velocity)[3]; /* NULL: none */
    const double* mass;
    /* Painted factors, one a particle, or NULL: 1. Averaged to the clusters by m w. */
    const double *stiffness_factor, *damping_factor, *limit_factor;
    uint32_t levels;
    const reference_level_desc* level; /* finest first */
    const double (*plastic)[10];       /* of the finest clusters: F^p, plastic strain; NULL: I, 0 */
    double thickness;                  /* of the material across a sheet of particles */
} reference_desc;

/* What nested coarse levels want of a cluster's member with rest offset p and weight w:
 *   dt dv = w (a p + b - alpha x - kappa dt v) */
typedef struct reference_pull
{
    mat3 a;
    vec3 b;
    double alpha, kappa;
} reference_pull;

typedef struct reference_cluster
{
    /* At rest */
    vec3 rest;
    double mass;
    mat3 arr;         /* sum m w p p^T */
    mat3 arr_inverse; /* without the missing directions */
    mat3 missing;     /* projector on directions in which the cluster has no extent */
    bool flat;        /* has missing directions */
    double width_rms, width_max;
    double stiffness_factor, damping_factor, limit_factor;
    /* For the current substep length, level weights included */
    double alpha, kappa;
    /* As last matched */
    vec3 x, v, spin; /* centre, velocity, sum m w (x - x_c) x v */
    mat3 axr, f, r, t;
    mat3 lever;          /* F without what completes it in missing directions */
    mat3 turn_inverse;   /* J^-1 */
    vec3 omega;          /* of the rigid motion that damping tends to */
    reference_pull pull; /* its own if it is nested, and what was handed down to it */
    /* Plastic flow */
    mat3 fp, fp_inverse;
    double plastic_strain;
    /* Fracture */
    double split_time; /* when it was split last; 0: never */
    bool settling, cracked;
} reference_cluster;

/* Quadratic goals (Mueller et al. 2005) in units of the cluster's width: q = (xx yy zz xy yz zx) of
 * p / width, less its mean and less its part that is linear in p, so that the 9x9 system falls
 * apart into A_rr and the 6x6 one of q. */
typedef struct reference_quadratic
{
    double inverse[36]; /* (sum m w q q^T)^-1 */
    double mean[6], slope[6][3];
    double axq[3][6];    /* sum m w (x - x_c) q^T */
    double arq[3][6];    /* sum m w p q^T: nil but for directions that count as missing */
    double t[3][6];      /* goal = T p + t q + x_c */
    double bend[18][18]; /* of materials: from the moments in the rest frame to t there */
} reference_quadratic;

typedef struct reference_member
{
    double weight;
    vec3 p;
    uint32_t index;
} reference_member;

typedef struct reference_level
{
    bool nested;
    uint32_t clusters;
    uint32_t* begin;
    reference_member* member;
    reference_cluster* cluster;
    reference_quadratic* quadratic; /* NULL: none on this level */
    double level_weight, level_damping;
} reference_level;

typedef struct reference
{
    reference_settings settings;
    uint32_t particles;
    vec3 *x, *v, *rest;
    double* mass;
    vec3* acceleration; /* zero; may be set */
    vec3* old;          /* positions at the start of the step */
    vec3* change;       /* of velocities, then of positions */
    vec3* scratch;      /* corrections of one cluster's members */
    uint8_t* touch;     /* the plane acted on it in the last step */
    uint32_t levels;
    reference_level level[PLIANT_MAX_LEVELS];
    double width; /* of the body, for stiffness and damping */
    double thickness;
    double alpha_dt; /* what alpha and kappa belong to; 0: compute them; negative: given */
    uint64_t pairs_tested, pairs_violated; /* of the last step's strain limiting */
    double least_violated;                 /* share of pairs, of its least violated iteration */
    uint64_t membership_passes;            /* since creation, or since the caller set it to 0 */
    bool matched;                          /* as created: it has flowed and broken already */
    double time;                           /* seconds; may be set */
    uint64_t substep;                      /* may be set */
    uint64_t splits;                       /* since creation */
} reference;

/* Aborts when out of memory. */
reference* reference_create(const reference_desc* desc, const reference_settings* settings);
/* From what a body is now, as its channels give it, relative to "origin" (NULL: zero); levels as in
 * the descriptor that made the body. NULL if a channel cannot be read (pliant_last_error()). */
reference* reference_from_body(pliant_body body, const double origin[3],
                               const pliant_levels_desc* levels,
                               const reference_settings* settings);
/* Takes each cluster's alpha and kappa from the body's last substep instead of computing them:
 * where stiffness was moved between levels or painted. */
bool reference_use_body_alpha(reference* oracle, pliant_body body);
void reference_free(reference* oracle);

/* One substep. */
void reference_step(reference* oracle, double dt);
/* The step's first part, without moving anything: fits all clusters, finds dt dv (in change). */
void reference_match(reference* oracle, double dt);

/* Each cluster's alpha and kappa for a substep of this length; a step does it when that changes. */
void reference_set_stiffness(reference* oracle, double dt);

/* native/oracle/damping.c: adds the damping of whole bodies to change. */
void reference_damp(reference* oracle, double dt);
/* The share of its speed beside the rigid motion that a member of a cluster loses in a step. */
double reference_body_kappa(const reference* oracle, const reference_cluster* cluster, double dt);

/* The width of a cluster over that of the body, at most 1. */
double reference_part(const reference* oracle, const reference_cluster* cluster);

/* bend.c: sets bend of a cluster's quadratic modes, whose matrix (6 x 6, for its mass) is
 * given, with modes below "least" left out. */
void reference_bend(const reference* oracle, reference_level* level, uint32_t c,
                    const double matrix[36], double least);
/* The modes that the goals follow, from the fit's moments. */
void reference_follow(const reference_cluster* cluster, reference_quadratic* quad);
/* How much stiffer linear maps are than the rest, and the factor on a level's stiffness. */
double reference_firmness(const pliant_material_desc* material);
double reference_firm(const reference* oracle, uint32_t level);

/* plastic.c: F^p takes up what a cluster's elastic strain has over the yield strain. */
void reference_flow(const reference_settings* settings, reference_cluster* cluster, double dt);

/* native/oracle/fracture.c: splits clusters that are stretched too far as they were last matched,
 * lets members leave that are too far away, dissolves small clusters. True if anything changed: the
 * body has other clusters and particles then, and must be matched again. */
bool reference_break(reference* oracle, double dt);
/* native/oracle/setup.c: the level's clusters anew, from its memberships; factors are all 1. */
void reference_prepare(reference* oracle, reference_level* level);
/* A_rr^-1 and the directions that are missing in it, from A_rr. */
void reference_invert(reference_cluster* cluster);

/* u and v with det +1, a = u diag(sigma) v^T, sigma descending, the last one signed. */
void reference_svd(mat3 a, mat3* u, double sigma[3], mat3* v);
/* The six monomials of a rest offset, as quadratic goals use them. */
void reference_monomials(vec3 p, double width, const reference_quadratic* quad, double q[6]);

/* Finest clusters that share a particle: one byte for each pair. Freed by the caller. */
uint8_t* reference_shares(const reference* body);
/* Contacts of all bodies with each other and with themselves, found by asking every pair of
 * clusters, less those that share a particle: how many members are inside of another cluster's
 * sphere, and how deep in all. Nothing is moved. */
uint64_t reference_brute_force(uint32_t count, reference* const* bodies, uint8_t* const* shares,
                               double* depth);

/* native/oracle/colliders.c */
typedef struct reference_triangle
{
    vec3 corner[3], normal;
} reference_triangle;

typedef struct reference_triangles
{
    pliant_collider_desc desc;
    uint32_t count;
    reference_triangle* at;
} reference_triangles;

/* A mesh that stands still, two-sided. */
reference_triangles* reference_triangles_create(const pliant_collider_desc* desc,
                                                uint32_t triangle_count, const float* vertices,
                                                const uint32_t* triangles);
void reference_triangles_free(reference_triangles* all);
/* From the surface of a simple shape about zero with such extents, negative inside. */
double reference_distance(uint32_t shape, const double e[3], vec3 p);
/* After a step: every particle against every shape and every triangle (NULL: none). How often one
 * was touched. */
uint64_t reference_collide(reference* body, uint32_t count, const pliant_collider_desc* colliders,
                           const reference_triangles* mesh);

typedef struct reference_measure
{
    double mass;
    vec3 centre, momentum, angular_momentum; /* about the origin */
    double kinetic;
    double momentum_scale, angular_scale; /* sum m |v|, sum m |x| |v| */
} reference_measure;

reference_measure reference_measure_now(const reference* oracle);

#endif
