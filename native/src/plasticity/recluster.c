// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Falkenstein 2017, "Reclustering for Large Plasticity in Clustered Shape Matching", section 3.0.2.
 * A cluster whose F^p is badly conditioned fades out. Where that would leave a particle without a
 * cluster, the rest shape around it is embedded in space (embed.h) and a new cluster with F^p = 1
 * is made there, which fades in:
 *
 *   mark ──► fade ──► take out ──► seeds ──► region, embed, c-means ─────► put in
 *   cond     fade.c   faded        far       embed_region.c, embed.simd.c, edit.h
 *   of F^p            clusters     apart     new_cluster.c
 *
 * Positions and velocities do not change, to the bit.
 *
 * Departures. This runs at intervals of a fifth to an eighth of the fade-in time, not in every
 * substep. Each turn makes enough new clusters to replace those that go. Their seeds are far apart,
 * so that clusters can be made in parallel from the same state. A hash shuffles the seeds.
 */
#include "base/elementary.h"
#include "base/hash.h"
#include "body/edit/edit.h"
#include "body/validity.h"
#include "collision/broadphase/proxy.h"
#include "dynamics/material.h"
#include "plasticity/plasticity.h"
#include "plasticity/recluster_internal.h"

#include <string.h>

/* Radius of the embedded region around a seed, in radii of a cluster. */
#define REACH 1.75
#define WIDE_REACH 4
#define MOST_ITERATIONS 20
/* A turn makes at most one in so many clusters, which spreads the work. */
#define MOST_SHARE 12

/* Scratch of one body's turn. */
typedef struct turn
{
    pl_substep* step;
    pl_body* body;
    pl_fade_flags flags;
    uint8_t* enough;  /* by finest cluster: its members need no other cluster */
    uint8_t* lasting; /* by slot: number of clusters that stay; GOES_TOO: also in one that goes */
    pl_block_boxes boxes;
    pl_embed_region* patches; /* by worker */
    uint32_t workers;
    pl_new_cluster* new_cluster;
    pl_status* status;
    uint32_t count;   /* of new_cluster */
    uint32_t least;   /* wanted clusters that stay, for each particle */
    uint32_t waiting; /* particles that have fewer */
    double seconds;   /* since the last turn */
    double haste;     /* largest pl_fade_haste of a cluster */
    uint64_t updates;
} turn;

enum
{
    GOES_TOO = 128,
    ENOUGH = 127
};

/* ------------------------------------------------------------------ marking */

/* The root of l^3 - i1 l^2 + i2 l - i3 to which Newton's method converges from beyond all three. */
static double outer_root(double i1, double i2, double i3, double l)
{
    for (int n = 0; n < 24; ++n) /* at a double root each step halves the error */
    {
        double value = ((l - i1) * l + i2) * l - i3, slope = (3 * l - 2 * i1) * l + i2;
        double way = slope != 0 ? value / slope : 0;
        l -= way;
        if (fabs(way) <= 1e-5 * fabs(l))
            break;
    }
    return l;
}

double pl_plastic_condition(const float fp[9])
{
    mat3 f;
    for (int i = 0; i < 9; ++i)
        f.m[i / 3][i % 3] = fp[i];
    mat3 c = m3_mul(m3_transpose(f), f), cofactor = m3_cofactor(c);
    double i1 = m3_trace(c), i2 = m3_trace(cofactor), i3 = m3_det(c);
    double most = outer_root(i1, i2, i3, i1), least = outer_root(i1, i2, i3, 0);
    return least > 0 && most > 0 ? sqrt(most / least) : INFINITY;
}

/* The least |F^p|^2 of a matrix with determinant 1 and this condition number. */
static double least_square(double condition)
{
    double k2 = condition * condition, t = pl_cbrt(2 / (k2 * (k2 + 1)));
    return t * (k2 + 1) + 1 / (k2 * t * t);
}

/* Speed-up of a cluster's fade-out: its rest shape flows on meanwhile, and the cluster should be
 * gone before its condition number is the square of the limit. */
double pl_fade_haste(const pl_body* body, uint32_t c)
{
    double limit = pl_log(body->material.recluster_condition);
    double past = pl_log(fmin(pl_plastic_condition(body->clusters.fp[c]), 1e6)) / limit;
    return PL_CLAMP(past * past, 1, 16);
}

static double square_of(const float fp[9])
{
    double square = 0;
    for (int i = 0; i < 9; ++i)
        square += (double)fp[i] * fp[i];
    return square;
}

static void mark(pl_body* body)
{
    pl_clusters* k = &body->clusters;
    double limit = body->material.recluster_condition, least = .999 * least_square(limit);
    for (uint32_t c = 0; c < body->level_begin[1]; ++c)
        if (k->fading[c] == PL_STAYS && k->fade[c] > 0 && square_of(k->fp[c]) > least &&
            pl_plastic_condition(k->fp[c]) > limit)
            k->fading[c] = PL_GOES;
}

/* Whether a turn is due. */
static bool is_due(const pl_body* body)
{
    const pl_clusters* k = &body->clusters;
    double part = body->recluster_clock, whole = body->material.recluster_fade_in * (1 - 1e-6);
    if (part * PL_FADE_STEPS >= whole)
        return true;
    if (part * PL_FADE_STEPS_IN_HASTE < whole)
        return false;
    double least = least_square(pl_power(body->material.recluster_condition, PL_HASTE));
    for (uint32_t c = 0; c < body->level_begin[1]; ++c)
        if (k->fade[c] > PL_FADE_LEAST && square_of(k->fp[c]) > least)
            return true;
    return false;
}

/* Whether any cluster fades. */
static bool any_fades(const pl_body* body)
{
    for (uint32_t c = 0; c < body->level_begin[1]; ++c)
        if (body->clusters.fading[c])
            return true;
    return false;
}

/* ------------------------------------------------------------------ taking out */

/* Flags the clusters in turn->flags.moved that are to be taken out. */
static bool find_ending(const turn* t)
{
    const pl_body* body = t->body;
    const pl_clusters* k = &body->clusters;
    uint8_t* ending = t->flags.moved;
    bool any = false;
    for (uint32_t c = 0; c < k->count; ++c)
        ending[c] =
            c < body->level_begin[1] && k->fading[c] == PL_GOES && k->fade[c] <= PL_FADE_LEAST;
    for (uint32_t i = 0; i < body->chunk_count; ++i)
    {
        const pl_chunk* chunk = &body->chunks[i];
        for (uint32_t b = 0; b < chunk->block_count; ++b)
            for (uint32_t e = chunk->block_begin[b]; e < chunk->block_begin[b + 1]; ++e)
            {
                uint32_t c = chunk->rows[chunk->entry_row[e]];
                const float* norm = body->particles.norm + chunk->slot_begin + 8 * (size_t)b;
                for (uint32_t lane = 0; lane < 8 && ending[c]; ++lane)
                    if (chunk->entry_kernel[8 * (size_t)e + lane] * k->fade[c] * norm[lane] >
                        PL_FADE_SHARE)
                        ending[c] = 0;
            }
    }
    for (uint32_t c = 0; c < body->level_begin[1]; ++c)
        any = any || ending[c];
    return any;
}

/* The lanes of a block that are in a flagged cluster. */
static uint32_t lanes_ending(const pl_chunk* chunk, uint32_t block, const uint8_t* ending)
{
    uint32_t lanes = 0;
    for (uint32_t e = chunk->block_begin[block]; e < chunk->block_begin[block + 1]; ++e)
        for (uint32_t lane = 0; lane < 8 && ending[chunk->rows[chunk->entry_row[e]]]; ++lane)
            lanes |= (uint32_t)(chunk->entry_kernel[8 * (size_t)e + lane] > 0) << lane;
    return lanes;
}

static pl_status leave(pl_edit* edit, uint32_t slot, const uint8_t* ending)
{
    uint32_t kept = 0;
    pl_change* change = pl_edit_change(edit, slot);
    if (!change)
        return pl_fail_memory(64);
    for (uint32_t i = 0; i < change->count; ++i)
        if (!ending[change->members[i].cluster])
            change->members[kept++] = change->members[i];
    change->count = kept;
    if (kept == 0)
        return pl_fail(PLIANT_ERROR_INTERNAL, "Particle %u would be in no cluster",
                       pl_edit_body(edit)->particles.id[slot]);
    return PLIANT_OK;
}

static pl_status take_out(const turn* t, pl_edit* edit)
{
    const pl_body* body = t->body;
    for (uint32_t i = 0; i < body->chunk_count; ++i)
    {
        const pl_chunk* chunk = &body->chunks[i];
        for (uint32_t b = 0; b < chunk->block_count; ++b)
        {
            uint32_t lanes = lanes_ending(chunk, b, t->flags.moved);
            for (uint32_t lane = 0; lane < 8; ++lane)
                if (lanes >> lane & 1)
                    PL_TRY(leave(edit, chunk->slot_begin + 8 * b + lane, t->flags.moved));
        }
    }
    return PLIANT_OK;
}

/* ------------------------------------------------------------------ seeds */

/* By lane of a block: the number of clusters that stay, and of those that go. */
static void count_block(const turn* t, const pl_chunk* chunk, uint32_t block, float stay[8],
                        float go[8])
{
    memset(stay, 0, 8 * sizeof *stay);
    memset(go, 0, 8 * sizeof *go);
    for (uint32_t e = chunk->block_begin[block]; e < chunk->block_begin[block + 1]; ++e)
    {
        const float* kernel = chunk->entry_kernel + 8 * (size_t)e;
        uint32_t c = chunk->rows[chunk->entry_row[e]];
        float* count = t->body->clusters.fading[c] == PL_GOES ? go : stay;
        float one = t->enough[c] ? ENOUGH : 1;
        for (uint32_t lane = 0; lane < 8; ++lane)
            count[lane] += kernel[lane] > 0 ? one : 0.0f;
    }
}

/* Counts the clusters that stay, by slot; free slots get ENOUGH. Flags clusters that go while a
 * member is in none that stays. */
static void count_lasting(const turn* t)
{
    const pl_body* body = t->body;
    memset(t->flags.held, 0, body->clusters.count);
    for (uint32_t i = 0; i < body->chunk_count; ++i)
    {
        const pl_chunk* chunk = &body->chunks[i];
        uint8_t* lasting = t->lasting + chunk->slot_begin;
        const float* mass = body->particles.mass + chunk->slot_begin;
        memset(lasting, ENOUGH, chunk->slot_count);
        for (uint32_t b = 0; b < chunk->block_count; ++b)
        {
            float stay[8], go[8], bare[8], any = 0;
            count_block(t, chunk, b, stay, go);
            for (uint32_t lane = 0; lane < 8; ++lane)
            {
                uint8_t count =
                    mass[8 * b + lane] > 0 && stay[lane] < ENOUGH ? (uint8_t)stay[lane] : ENOUGH;
                lasting[8 * b + lane] = go[lane] > 0 ? count | GOES_TOO : count;
                bare[lane] = count == 0 && go[lane] > 0 ? 1.0f : 0.0f;
                any += bare[lane];
            }
            for (uint32_t e = chunk->block_begin[b]; e < chunk->block_begin[b + 1] && any > 0; ++e)
            {
                const float* kernel = chunk->entry_kernel + 8 * (size_t)e;
                uint32_t c = chunk->rows[chunk->entry_row[e]];
                float in = 0;
                for (uint32_t lane = 0; lane < 8; ++lane)
                    in += kernel[lane] * bare[lane];
                t->flags.held[c] |= in > 0 && body->clusters.fading[c] == PL_GOES;
            }
        }
    }
}

static uint32_t count_living(const pl_body* body)
{
    uint32_t count = 0;
    for (uint32_t c = 0; c < body->level_begin[1]; ++c)
        count += body->clusters.fading[c] != PL_GOES && body->clusters.fade[c] > 0;
    return count;
}

/* Whether a particle with this value of t->lasting needs another cluster. */
static bool needs_cluster(const turn* t, uint32_t count)
{
    return (count / GOES_TOO) & (count % GOES_TOO < t->least);
}

/* Sets t->least, the wanted number of clusters that stay per particle, and returns the number of
 * clusters to seed now: the wanted ones spread over a quarter of the fade-in time.
 *
 * By default the mean number of memberships is kept. Covering only bare particles would leave fewer
 * (half as many on a beam), with gaps, and no fixed number per particle is right everywhere. So
 * more than one is required only while there are too few in total. No more copies than the initial
 * number of particles count: otherwise a body that breaks while it flows would get ever more
 * clusters with ever fewer members. */
static uint32_t wanted_seeds(turn* t)
{
    const pl_body* body = t->body;
    uint32_t bare = 0, lasting = 0, living = PL_MAX(count_living(body), 1u), like[256] = {0};
    for (uint32_t s = 0; s < body->particles.slot_count; ++s)
        ++like[t->lasting[s]];
    for (uint32_t value = 0; value < 256; ++value)
    {
        uint32_t count = value % GOES_TOO;
        bare += count == 0 ? like[value] : 0;
        lasting += count < ENOUGH ? count * like[value] : 0;
    }
    double particles = body->particles.count, each = fmax(particles / living, 8);
    double free = (double)body->particles.slot_count - particles; /* counted as ENOUGH, too */
    double counted = particles - ((double)like[ENOUGH] + like[ENOUGH | GOES_TOO] - free);
    if (body->fracture)
        counted = fmin(counted, 2.0 * pl_first_particles(&body->particles));
    double wanted = bare / each, missing = body->first_overlap * counted - (double)lasting;
    t->least = PL_MAX(body->material.recluster_least, 1u);
    if (!body->material.recluster_least && missing > 0)
    {
        t->least = (uint32_t)fmax(1, floor(body->first_overlap + .5));
        wanted = fmax(wanted, missing / fmax((double)lasting / living, 8));
    }
    t->waiting = 0;
    for (uint32_t value = 0; value < 256; ++value)
        t->waiting += needs_cluster(t, value) ? like[value] : 0;
    double time = .25 * body->material.recluster_fade_in;
    double share = time > 0 ? fmin(t->haste * t->seconds / time, 1) : 1;
    uint32_t most = PL_MAX(body->level_begin[1] / MOST_SHARE, 1u);
    return t->waiting ? PL_CLAMP((uint32_t)ceil(share * wanted), 1u, most) : 0;
}

/* Sort key of seeds: fewest clusters first, shuffled by a hash. */
static uint64_t seed_key(const turn* t, uint32_t slot)
{
    uint64_t key[2] = {t->body->particles.id[slot], t->step->scene->substep};
    return (uint64_t)t->lasting[slot] << 56 | pl_hash(PL_HASH_START, key, sizeof key) >> 8;
}

/* A particle that needs a cluster, and its sort key. */
typedef struct waiting
{
    uint64_t key;
    uint32_t slot;
} waiting;

static uint32_t list_waiting(const turn* t, waiting* list)
{
    uint32_t count = 0;
    for (uint32_t s = 0; s < t->body->particles.slot_count; ++s)
        if (needs_cluster(t, t->lasting[s]))
            list[count++] = (waiting){seed_key(t, s), s};
    return count;
}

/* Chooses seeds that are far apart, each the first of the remaining ones. */
static void choose_seeds(turn* t, uint32_t wanted, waiting* list, uint32_t count)
{
    const pl_particles* p = &t->body->particles;
    float apart = (float)(2 * t->body->level_radius[0]);
    for (t->count = 0; t->count < wanted && count; ++t->count)
    {
        uint32_t best = 0, kept = 0;
        for (uint32_t i = 1; i < count; ++i)
            if (list[i].key < list[best].key)
                best = i;
        uint32_t seed = t->new_cluster[t->count].seed = list[best].slot;
        for (uint32_t i = 0; i < count; ++i)
        {
            float sum = 0;
            for (int k = 0; k < 3; ++k)
            {
                float d = p->x[k][list[i].slot] - p->x[k][seed];
                sum += d * d;
            }
            if (sum > apart * apart)
                list[kept++] = list[i];
        }
        count = kept;
    }
}

/* ------------------------------------------------------------------ making clusters */

static pl_status make_from(const turn* t, pl_embed_region* region, bool wide,
                           pl_new_cluster* new_cluster)
{
    const pl_body* body = t->body;
    bool world = body->material.recluster == PLIANT_RECLUSTER_WORLD;
    double reach = (wide ? WIDE_REACH : REACH) * body->level_radius[0];
    PL_TRY(pl_embed_region_collect(body, &t->boxes, new_cluster->seed, reach, region));
    region->embedding.most = world ? 0 : MOST_ITERATIONS;
    region->embedding.share = 1e-8f;
    region->embedding.enough = (float)(1.5e-5 * body->spacing * body->spacing);
    region->embedding.measure = body->links.count > 0; /* links need the rotations */
    t->step->scene->kernels->embed(&region->embedding);
    new_cluster->rounds = region->embedding.rounds;
    return pl_new_cluster_make(body, region, !world, wide, new_cluster);
}

static pl_status make_one(const turn* t, pl_embed_region* region, pl_new_cluster* new_cluster)
{
    PL_TRY(make_from(t, region, false, new_cluster));
    if (new_cluster->drawn)
        PL_TRY(make_from(t, region, true, new_cluster));
    return pl_new_cluster_link(t->body, region, new_cluster);
}

static void make_items(void* context, uint32_t begin, uint32_t end, uint32_t worker)
{
    turn* t = context;
    for (uint32_t i = begin; i < end; ++i)
        t->status[i] = make_one(t, &t->patches[worker], &t->new_cluster[i]);
}

/* Adds the new cluster to the memberships of one of its members. */
static pl_status join(pl_edit* edit, uint32_t cluster, const pl_new_cluster_member* member)
{
    const pl_member new_cluster = {
        cluster, member->kernel, {member->rest.x, member->rest.y, member->rest.z}};
    return pl_edit_join(edit, member->slot, &new_cluster);
}

static pl_status put_in(turn* t, pl_edit* edit, const pl_new_cluster* new_cluster)
{
    pl_body* body = t->body;
    pl_clusters* k = &body->clusters;
    uint32_t c;
    float* arrays[PL_NEW_CLUSTER_VALUES];
    PL_TRY(pl_edit_add_cluster(edit, new_cluster->like, &c));
    pl_proxies_drop_planes(&body->proxies, c);
    pl_new_cluster_values(k, arrays);
    for (int v = 0; v < PL_NEW_CLUSTER_VALUES; ++v)
        arrays[v][c] = (float)new_cluster->value[v];
    for (int i = 0; i < 9; ++i)
        k->fp[c][i] = i % 4 ? 0.0f : 1.0f;
    k->fade[c] = (float)PL_FADE_BEGIN;
    k->fading[c] = PL_COMES;
    k->settling[c] = k->cracked[c] = 0;
    k->shape_width[c] = new_cluster->shape_width;
    k->radius[c] = (float)new_cluster->reach;
    v3_store(new_cluster->centre, k->centre[c]);
    v3_store(new_cluster->centre, k->rest[c]);
    if (new_cluster->link_count)
        PL_TRY(pl_edit_set_links(edit, c, new_cluster->links, new_cluster->link_count));
    pl_status status = PLIANT_OK;
    for (uint32_t i = 0; i < new_cluster->count && status == PLIANT_OK; ++i)
        status = join(edit, c, &new_cluster->members[i]);
    ++body->recluster_events;
    return status;
}

static pl_status make_clusters(turn* t)
{
    uint32_t wanted = wanted_seeds(t);
    t->new_cluster = PL_NEW(pl_new_cluster, wanted);
    t->status = PL_NEW(pl_status, wanted);
    if (!t->new_cluster || !t->status)
        return pl_fail_memory(wanted * sizeof *t->new_cluster);
    if (!wanted)
        return PLIANT_OK;
    waiting* list = PL_NEW(waiting, t->waiting);
    if (!list)
        return pl_fail_memory(t->waiting * sizeof *list);
    choose_seeds(t, wanted, list, list_waiting(t, list));
    pl_free(list);
    PL_TRY(pl_block_boxes_make(t->body, &t->boxes));
    t->workers = pl_pool_threads(t->step->scene->pool);
    t->patches = PL_NEW(pl_embed_region, t->workers);
    if (!t->patches)
        return pl_fail_memory(t->workers * sizeof *t->patches);
    pl_parallel_for(t->step->scene->pool, t->count, 1, make_items, t);
    for (uint32_t i = 0; i < t->count; ++i)
        PL_TRY(t->status[i]);
    return PLIANT_OK;
}

/* ------------------------------------------------------------------ one body */

static pl_status change_clusters(turn* t, bool faded)
{
    pl_body* body = t->body;
    pl_edit* edit = NULL;
    uint64_t updates = 0;
    bool ending = find_ending(t);
    PL_TRY(make_clusters(t));
    for (uint32_t i = 0; i < t->count; ++i)
        ending = ending || t->new_cluster[i].count;
    if (!ending)
        return faded ? pl_rest_refresh(body, t->flags.chunks, t->flags.clusters) : PLIANT_OK;
    PL_TRY(pl_edit_begin(body, t->step->scene->substep + 1, &edit));
    if (faded)
        pl_edit_refresh(edit, t->flags.chunks, t->flags.clusters);
    pl_status status = take_out(t, edit);
    for (uint32_t i = 0; i < t->count && status == PLIANT_OK; ++i)
        if (t->new_cluster[i].count)
            status = put_in(t, edit, &t->new_cluster[i]);
    if (status != PLIANT_OK)
    {
        pl_edit_abandon(edit);
        return status;
    }
    PL_TRY(pl_edit_end(edit, &updates));
    t->updates += updates;
    pl_rest_shape_changed(body);
    return PLIANT_OK;
}

static void turn_free(turn* t)
{
    pl_free(t->flags.chunks);
    pl_free(t->flags.clusters);
    pl_free(t->flags.moved);
    pl_free(t->flags.held);
    pl_free(t->lasting);
    pl_free(t->enough);
    pl_free(t->boxes.box);
    for (uint32_t w = 0; t->patches && w < t->workers; ++w)
        pl_embed_region_free(&t->patches[w]);
    pl_free(t->patches);
    for (uint32_t i = 0; t->new_cluster && i < t->count; ++i)
        pl_new_cluster_free(&t->new_cluster[i]);
    pl_free(t->new_cluster);
    pl_free(t->status);
}

static pl_status recluster_body(pl_substep* step, pl_body* body)
{
    turn t = {.step = step,
              .body = body,
              .seconds = body->recluster_clock,
              .flags = {.chunks = PL_NEW(uint8_t, body->chunk_count),
                        .clusters = PL_NEW(uint8_t, body->clusters.count),
                        .moved = PL_NEW(uint8_t, body->clusters.count),
                        .held = PL_NEW(uint8_t, body->clusters.count)},
              .enough = PL_NEW(uint8_t, body->level_begin[1]),
              .lasting = PL_NEW(uint8_t, body->particles.slot_count)};
    bool fine = t.flags.chunks && t.flags.clusters && t.flags.moved && t.flags.held && t.lasting &&
                t.enough;
    pl_status status = fine ? PLIANT_OK : pl_fail_memory(body->particles.slot_count);
    body->recluster_clock = 0;
    if (status == PLIANT_OK)
        status = pl_absorb_flow(body, step->scene->substep + 1, t.enough);
    if (status == PLIANT_OK)
    {
        count_lasting(&t);
        status = pl_keep_connected(body, t.flags.held);
    }
    uint32_t finest = body->level_begin[1];
    if (status == PLIANT_OK)
        status = change_clusters(&t, pl_fade(body, t.seconds, &t.flags, &t.haste, &t.updates));
    if (status == PLIANT_OK && pl_fade_widths(body, t.flags.clusters, finest))
        pl_rest_shape_changed(body);
    turn_free(&t);
    body->recluster_updates = PL_MAX(body->recluster_updates, t.updates);
    if (status == PLIANT_OK && body->valid.material_dt == 0)
        pl_material_apply(body, step->dt);
    return status;
}

static bool takes_part(const pl_body* body)
{
    return !body->asleep && body->plastic && !body->pins.follow &&
           body->material.goal != PLIANT_GOAL_QUADRATIC &&
           (body->level_kind == PLIANT_LEVELS_NESTED || body->level_count == 1);
}

pl_status pl_recluster(pl_substep* step)
{
    pl_scene* scene = step->scene;
    bool any = false;
    double since = pl_now_ms();
    for (uint32_t b = 0; b < scene->body_count; ++b)
    {
        pl_body* body = scene->bodies[b];
        const pliant_material_desc* m = &body->material;
        if (!takes_part(body))
            continue;
        body->recluster_clock += step->dt;
        if (!is_due(body))
            continue;
        if (m->recluster != PLIANT_RECLUSTER_OFF && m->yield < INFINITY)
            mark(body);
        if (!any_fades(body))
        {
            body->recluster_clock = 0;
            continue;
        }
        PL_TRY(recluster_body(step, body));
        any = true;
    }
    if (any)
    {
        PL_TRY(pl_task_lists_make(scene));
        pl_substep_run(step, &scene->chunks, 1, pl_gather_items);
    }
    pl_substep_lap(scene, PLIANT_STAGE_RECLUSTER, since);
    return PLIANT_OK;
}
