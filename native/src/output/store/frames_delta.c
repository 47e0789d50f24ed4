// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Layout delta against the previous layout. A split changes the particles of one cluster in a body
 * of thousands, so almost everything stays:
 *
 *   particles   ids of changed ones, with mass, nearest cluster, memberships and, if resampled,
 *               shares, successors and rest positions; of copies also parent and birth (they rest
 *               where their parents do)
 *   clusters    the pieces of all of them
 *   history     appended pieces, splits and divided particles
 *
 * If anything else has changed, there is no delta.
 */
#include "output/store/frames_layout.h"

#include <string.h>

typedef struct change_head
{
    uint32_t particles, clusters, changed, pieces, splits, divisions;
    uint64_t memberships; /* of the changed particles */
} change_head;

_Static_assert(sizeof(change_head) == 32, "raise PL_STORE_VERSION with it");

uint32_t pl_frame_ancestor(const pl_frame_body* final, uint32_t particle, uint32_t particles)
{
    uint32_t first = final->particles - final->copies;
    while (particle >= particles && particle >= first)
    {
        uint32_t parent = final->copy_parent[particle - first];
        if (parent == particle)
            break;
        particle = parent;
    }
    return particle < particles ? particle : 0;
}

/* ------------------------------------------------------------------ comparing */

static uint32_t parent_of(const pl_frame_body* b, uint32_t i)
{
    uint32_t first = b->particles - b->copies;
    return i < first ? i : b->copy_parent[i - first];
}

static bool same(const void* a, const void* b, uint64_t bytes)
{
    return bytes == 0 || memcmp(a, b, bytes) == 0;
}

/* Whether everything that a delta inherits is unchanged. */
static bool is_representable(const pl_frame_body* a, const pl_frame_body* b)
{
    uint64_t p = a->particles;
    if (p > b->particles || a->clusters > b->clusters || a->pieces > b->pieces ||
        a->splits > b->splits || a->divisions > b->divisions || a->spacing != b->spacing ||
        a->particles - a->copies != b->particles - b->copies ||
        (a->pieces == 0) != (b->pieces == 0))
        return false;
    if (!same(a->rest_origin, b->rest_origin, sizeof a->rest_origin) ||
        !same(a->rest, b->rest, 12 * p) || !same(a->shell, b->shell, 4 * p) ||
        !same(a->copy_parent, b->copy_parent, 4 * (uint64_t)a->copies) ||
        !same(a->copy_birth, b->copy_birth, 8 * (uint64_t)a->copies) ||
        !same(a->piece_parent, b->piece_parent, 4 * (uint64_t)a->pieces) ||
        !same(a->piece_birth, b->piece_birth, 8 * (uint64_t)a->pieces) ||
        !same(a->split, b->split, sizeof *a->split * (uint64_t)a->splits) ||
        !same(a->divided, b->divided, sizeof *a->divided * (uint64_t)a->divisions))
        return false;
    for (uint32_t i = a->particles; i < b->particles; ++i)
    {
        uint32_t parent = parent_of(b, i);
        if (parent == i || b->shell[i] != b->shell[parent] ||
            !same(b->rest + 3 * (size_t)i, b->rest + 3 * (size_t)parent, 12))
            return false;
    }
    return true;
}

static bool shares(const pl_frame_body* b)
{
    return pl_has_shares(b->copies, b->pieces);
}

/* Before resampling, a particle's share is its mass. */
static float share_of(const pl_frame_body* a, uint32_t i)
{
    return shares(a) ? a->share[i] : a->mass[i];
}

static const float NOWHERE[3] = {0, 0, 0};

static const float* offset_of(const pl_frame_body* a, uint32_t i)
{
    return shares(a) ? a->offset + 3 * (size_t)i : NOWHERE;
}

/* Number of memberships to write: merged particles have their successors'. */
static uint32_t count_of(const pl_frame_body* b, uint32_t i)
{
    return pl_frame_is_merged(b, i) ? 0 : b->begin[i + 1] - b->begin[i];
}

static bool has_changed(const pl_frame_body* a, const pl_frame_body* b, uint32_t i)
{
    if (i >= a->particles || a->mass[i] != b->mass[i] ||
        (shares(b) &&
         (share_of(a, i) != b->share[i] || pl_frame_successor(a, i) != b->successor[i] ||
          !same(offset_of(a, i), offset_of(b, i), 12))))
        return true;
    if (pl_frame_is_merged(b, i))
        return false;
    if (a->nearest[i] != b->nearest[i])
        return true;
    uint32_t count = b->begin[i + 1] - b->begin[i];
    return a->begin[i + 1] - a->begin[i] != count ||
           !same(a->cluster + a->begin[i], b->cluster + b->begin[i], 4 * (uint64_t)count) ||
           !same(a->weight + a->begin[i], b->weight + b->begin[i], 4 * (uint64_t)count);
}

static change_head head_of(const pl_frame_body* a, const pl_frame_body* b)
{
    change_head head = {b->particles, b->clusters, 0, b->pieces, b->splits, b->divisions, 0};
    for (uint32_t i = 0; i < b->particles; ++i)
        if (has_changed(a, b, i))
        {
            ++head.changed;
            head.memberships += count_of(b, i);
        }
    return head;
}

static bool will_share(const pl_frame_body* before, const change_head* h)
{
    return pl_has_shares(before->copies + h->particles - before->particles, h->pieces);
}

static uint64_t size_of(const pl_frame_body* before, const change_head* h)
{
    return (will_share(before, h) ? 36 : 16) * (uint64_t)h->changed + 8 * h->memberships +
           12 * (uint64_t)(h->particles - before->particles) +
           (h->pieces ? 4 * (uint64_t)h->clusters : 0) +
           12 * (uint64_t)(h->pieces - before->pieces) +
           sizeof(pl_frame_split) * (uint64_t)(h->splits - before->splits) +
           sizeof(pl_frame_divided) * (uint64_t)(h->divisions - before->divisions);
}

/* ------------------------------------------------------------------ packing */

static void pack_body(pl_packer* to, const pl_frame_body* a, const pl_frame_body* b)
{
    uint32_t fresh = b->particles - a->particles;
    static const uint32_t none = 0;
    for (int what = 0; what < (shares(b) ? 9 : 6); ++what)
        for (uint32_t i = 0; i < b->particles; ++i)
        {
            uint32_t begin = b->begin[i], count = count_of(b, i);
            if (!has_changed(a, b, i))
                continue;
            const void* data[9] = {&i,
                                   &b->mass[i],
                                   pl_frame_is_merged(b, i) ? &none : &b->nearest[i],
                                   &count,
                                   b->cluster + begin,
                                   b->weight + begin,
                                   shares(b) ? &b->share[i] : NULL,
                                   shares(b) ? &b->successor[i] : NULL,
                                   offset_of(b, i)};
            const uint64_t bytes[9] = {4, 4, 4, 4, 4 * (uint64_t)count, 4 * (uint64_t)count,
                                       4, 4, 12};
            pl_pack(to, data[what], bytes[what]);
        }
    if (fresh)
    {
        pl_pack(to, b->copy_parent + a->copies, 4 * (uint64_t)fresh);
        pl_pack(to, b->copy_birth + a->copies, 8 * (uint64_t)fresh);
    }
    if (b->pieces)
    {
        pl_pack(to, b->piece, 4 * (uint64_t)b->clusters);
        pl_pack(to, b->piece_parent + a->pieces, 4 * (uint64_t)(b->pieces - a->pieces));
        pl_pack(to, b->piece_birth + a->pieces, 8 * (uint64_t)(b->pieces - a->pieces));
    }
    if (b->splits > a->splits)
        pl_pack(to, b->split + a->splits, sizeof *b->split * (uint64_t)(b->splits - a->splits));
    if (b->divisions > a->divisions)
        pl_pack(to, b->divided + a->divisions,
                sizeof *b->divided * (uint64_t)(b->divisions - a->divisions));
}

pl_status pl_layout_delta_pack(uint32_t count, const pl_frame_body* before,
                               const pl_frame_body* bodies, void** block, uint64_t* bytes)
{
    pl_block_head start = {count, 1};
    change_head* heads = PL_NEW(change_head, count);
    *block = NULL;
    *bytes = sizeof start + count * (uint64_t)sizeof *heads;
    if (!heads)
        return pl_fail_memory(count * sizeof *heads);
    bool can = true;
    for (uint32_t i = 0; i < count && can; ++i)
    {
        can = is_representable(&before[i], &bodies[i]);
        if (!can)
            break;
        heads[i] = head_of(&before[i], &bodies[i]);
        *bytes += size_of(&before[i], &heads[i]);
    }
    if (can && (*block = pl_alloc(*bytes, 1)))
    {
        pl_packer to = {*block, (unsigned char*)*block + *bytes};
        pl_pack(&to, &start, sizeof start);
        pl_pack(&to, heads, count * sizeof *heads);
        for (uint32_t i = 0; i < count; ++i)
            pack_body(&to, &before[i], &bodies[i]);
        assert(to.at == to.end);
    }
    pl_free(heads);
    return !can || *block ? PLIANT_OK : pl_fail_memory(*bytes);
}

/* ------------------------------------------------------------------ unpacking */

/* The delta of one body. */
typedef struct change
{
    change_head head;
    uint32_t *id, *nearest, *count, *cluster, *copy_parent, *piece, *piece_parent, *successor;
    float *mass, *weight, *share, *offset;
    double *copy_birth, *piece_birth;
    pl_frame_split* split;
    pl_frame_divided* divided;
} change;

static void change_free(change* c)
{
    void* all[] = {c->id,          c->nearest,    c->count,        c->cluster,
                   c->copy_parent, c->piece,      c->piece_parent, c->mass,
                   c->weight,      c->copy_birth, c->piece_birth,  c->split,
                   c->divided,     c->share,      c->successor,    c->offset};
    for (size_t i = 0; i < PL_COUNTOF(all); ++i)
        pl_free(all[i]);
}

static pl_status read_change(pl_packer* from, const pl_frame_body* a, change* c)
{
    const change_head* h = &c->head;
    pl_status status = PLIANT_OK;
    if (h->particles < a->particles || h->clusters < a->clusters || h->changed > h->particles ||
        h->pieces < a->pieces || h->splits < a->splits || h->divisions < a->divisions ||
        h->memberships > UINT32_MAX || (h->pieces == 0) != (a->pieces == 0) ||
        size_of(a, h) > (uint64_t)(from->end - from->at))
        return PLIANT_ERROR_FORMAT;
    uint64_t n = h->changed, fresh = h->particles - a->particles, pieces = h->pieces - a->pieces;
    c->id = pl_unpack(from, 4 * n, &status);
    c->mass = pl_unpack(from, 4 * n, &status);
    c->nearest = pl_unpack(from, 4 * n, &status);
    c->count = pl_unpack(from, 4 * n, &status);
    c->cluster = pl_unpack(from, 4 * h->memberships, &status);
    c->weight = pl_unpack(from, 4 * h->memberships, &status);
    c->share = pl_unpack(from, will_share(a, h) ? 4 * n : 0, &status);
    c->successor = pl_unpack(from, will_share(a, h) ? 4 * n : 0, &status);
    c->offset = pl_unpack(from, will_share(a, h) ? 12 * n : 0, &status);
    c->copy_parent = pl_unpack(from, 4 * fresh, &status);
    c->copy_birth = pl_unpack(from, 8 * fresh, &status);
    c->piece = pl_unpack(from, h->pieces ? 4 * (uint64_t)h->clusters : 0, &status);
    c->piece_parent = pl_unpack(from, 4 * pieces, &status);
    c->piece_birth = pl_unpack(from, 8 * pieces, &status);
    c->split = pl_unpack(from, sizeof *c->split * (uint64_t)(h->splits - a->splits), &status);
    c->divided =
        pl_unpack(from, sizeof *c->divided * (uint64_t)(h->divisions - a->divisions), &status);
    return status;
}

/* Whether its particles are ascending and include all new ones. */
static bool change_fits(const change* c, const pl_frame_body* a)
{
    uint64_t memberships = 0;
    uint32_t fresh = 0;
    for (uint32_t i = 0; i < c->head.changed; ++i)
    {
        if (c->id[i] >= c->head.particles || (i && c->id[i - 1] >= c->id[i]) ||
            c->count[i] > c->head.memberships)
            return false;
        fresh += c->id[i] >= a->particles;
        memberships += c->count[i];
    }
    for (uint32_t i = 0; i < c->head.particles - a->particles; ++i)
        if (c->copy_parent[i] >= a->particles + i)
            return false;
    return memberships == c->head.memberships && fresh == c->head.particles - a->particles;
}

/* Concatenates the previous array and the appended part. */
static void* appended(const void* a, uint64_t bytes, const void* more, uint64_t more_bytes)
{
    unsigned char* all = pl_alloc(bytes + more_bytes, 1);
    if (all && bytes)
        memcpy(all, a, bytes);
    if (all && more_bytes)
        memcpy(all + bytes, more, more_bytes);
    return all;
}

static void merge_members(const pl_frame_body* a, const change* c, pl_frame_body* b)
{
    uint32_t next = 0, from = 0, to = 0;
    for (uint32_t i = 0; i < b->particles; ++i)
    {
        bool changed = next < c->head.changed && c->id[next] == i;
        uint32_t count = changed ? c->count[next] : count_of(a, i);
        const uint32_t* cluster = changed ? c->cluster + from : a->cluster + a->begin[i];
        const float* weight = changed ? c->weight + from : a->weight + a->begin[i];
        if (count)
        {
            memcpy(b->cluster + to, cluster, 4 * (size_t)count);
            memcpy(b->weight + to, weight, 4 * (size_t)count);
        }
        if (changed)
        {
            b->mass[i] = c->mass[next];
            if (shares(b))
            {
                b->share[i] = c->share[next];
                b->successor[i] = c->successor[next];
                memcpy(b->offset + 3 * (size_t)i, c->offset + 3 * (size_t)next, 12);
            }
            b->nearest[i] = c->nearest[next++];
            from += count;
        }
        to += count;
        b->begin[i + 1] = to;
    }
}

static uint64_t memberships_of(const pl_frame_body* a, const change* c)
{
    uint64_t total = c->head.memberships;
    for (uint32_t i = 0; i < a->particles; ++i)
        total += count_of(a, i);
    for (uint32_t i = 0; i < c->head.changed; ++i)
        if (c->id[i] < a->particles)
            total -= count_of(a, c->id[i]);
    return total;
}

static pl_status apply(const pl_frame_body* a, const change* c, pl_frame_body* b)
{
    const change_head* h = &c->head;
    uint64_t p = a->particles, fresh = h->particles - p;
    *b = (pl_frame_body){.particles = h->particles,
                         .clusters = h->clusters,
                         .memberships = memberships_of(a, c),
                         .spacing = a->spacing,
                         .copies = a->copies + (uint32_t)fresh,
                         .pieces = h->pieces,
                         .splits = h->splits,
                         .divisions = h->divisions};
    memcpy(b->rest_origin, a->rest_origin, sizeof b->rest_origin);
    b->rest = appended(a->rest, 12 * p, NULL, 0);
    b->rest = b->rest ? pl_realloc(b->rest, 12 * (p + fresh), 1) : NULL;
    b->shell = appended(a->shell, 4 * p, NULL, 0);
    b->shell = b->shell ? pl_realloc(b->shell, 4 * (p + fresh), 1) : NULL;
    b->mass = appended(a->mass, 4 * p, NULL, 0);
    b->mass = b->mass ? pl_realloc(b->mass, 4 * (p + fresh), 1) : NULL;
    b->nearest = appended(a->nearest, 4 * p, NULL, 0);
    b->nearest = b->nearest ? pl_realloc(b->nearest, 4 * (p + fresh), 1) : NULL;
    b->begin = PL_NEW(uint32_t, p + fresh + 1);
    b->cluster = PL_NEW(uint32_t, b->memberships);
    b->weight = PL_NEW(float, b->memberships);
    b->copy_parent = appended(a->copy_parent, 4 * (uint64_t)a->copies, c->copy_parent, 4 * fresh);
    b->share = PL_NEW(float, shares(b) ? p + fresh : 0);
    b->successor = PL_NEW(uint32_t, shares(b) ? p + fresh : 0);
    b->offset = PL_NEW(float, shares(b) ? 3 * (p + fresh) : 0);
    b->copy_birth = appended(a->copy_birth, 8 * (uint64_t)a->copies, c->copy_birth, 8 * fresh);
    b->piece = appended(c->piece, h->pieces ? 4 * (uint64_t)h->clusters : 0, NULL, 0);
    b->piece_parent = appended(a->piece_parent, 4 * (uint64_t)a->pieces, c->piece_parent,
                               4 * (uint64_t)(h->pieces - a->pieces));
    b->piece_birth = appended(a->piece_birth, 8 * (uint64_t)a->pieces, c->piece_birth,
                              8 * (uint64_t)(h->pieces - a->pieces));
    b->split = appended(a->split, sizeof *a->split * (uint64_t)a->splits, c->split,
                        sizeof *a->split * (uint64_t)(h->splits - a->splits));
    b->divided = appended(a->divided, sizeof *a->divided * (uint64_t)a->divisions, c->divided,
                          sizeof *a->divided * (uint64_t)(h->divisions - a->divisions));
    pl_frame_channel channels[PL_LAYOUT_CHANNELS];
    pl_layout_channels(b, channels);
    for (int k = 0; k < PL_LAYOUT_CHANNELS; ++k)
        if (!*channels[k].array)
            return pl_fail_memory((size_t)h->particles * 60);
    for (uint64_t i = p; i < p + fresh; ++i)
    {
        uint32_t parent = c->copy_parent[i - p];
        memcpy(b->rest + 3 * i, b->rest + 3 * (size_t)parent, 12);
        b->shell[i] = b->shell[parent];
    }
    for (uint32_t i = 0; i < a->particles && shares(b); ++i)
    {
        b->share[i] = share_of(a, i);
        b->successor[i] = pl_frame_successor(a, i);
        memcpy(b->offset + 3 * (size_t)i, offset_of(a, i), 12);
    }
    merge_members(a, c, b);
    return PLIANT_OK;
}

static pl_status unpack_body(const char* name, pl_packer* from, const pl_frame_body* before,
                             change* c, pl_frame_body* body)
{
    pl_status status = read_change(from, before, c);
    if (status == PLIANT_ERROR_MEMORY)
        return pl_fail_memory((size_t)c->head.changed * 16);
    if (status != PLIANT_OK || !change_fits(c, before))
        return pl_fail(PLIANT_ERROR_FORMAT, "%s is damaged: it is no delta of the layout before it",
                       name);
    PL_TRY(apply(before, c, body));
    const char* fault = pl_layout_fault(body);
    return fault ? pl_fail(PLIANT_ERROR_FORMAT, "%s is damaged: %s", name, fault)
                 : pl_merged_take_in(name, body);
}

pl_status pl_layout_delta_unpack(const char* name, const void* block, uint64_t bytes,
                                 uint32_t count, const pl_frame_body* before,
                                 pl_frame_body** bodies)
{
    pl_block_head start = {0, 0};
    if (bytes >= sizeof start)
        memcpy(&start, block, sizeof start);
    *bodies = NULL;
    if (bytes < sizeof start || start.bodies != count ||
        count > (bytes - sizeof start) / sizeof(change_head))
        return pl_fail(PLIANT_ERROR_FORMAT,
                       "%s is damaged: its bodies are not those of the layout before it", name);
    const unsigned char* heads = (const unsigned char*)block + sizeof start;
    pl_packer from = {(unsigned char*)(uintptr_t)heads + count * sizeof(change_head),
                      (unsigned char*)(uintptr_t)block + bytes};
    pl_frame_body* fresh = PL_NEW(pl_frame_body, count);
    pl_status status = fresh ? PLIANT_OK : pl_fail_memory(count * sizeof *fresh);
    for (uint32_t i = 0; i < count && status == PLIANT_OK; ++i)
    {
        change c = {0};
        memcpy(&c.head, heads + i * sizeof c.head, sizeof c.head);
        status = unpack_body(name, &from, &before[i], &c, &fresh[i]);
        change_free(&c);
    }
    if (status == PLIANT_OK && from.at != from.end)
        status = pl_fail(PLIANT_ERROR_FORMAT, "%s is damaged: it is too long", name);
    if (status != PLIANT_OK)
        pl_layouts_free(count, fresh);
    else
        *bodies = fresh;
    return status;
}
