// SPDX-License-Identifier: GPL-3.0-or-later
#include "native/support/paper.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

const char* paper_algorithm(uint32_t algorithm)
{
    static const char* const names[] = {"fuzzy", "k-means", "random"};
    return names[algorithm];
}

const char* paper_kernel(uint32_t kernel)
{
    static const char* const names[] = {"invsq", "box", "poly6", "blend", "fcm"};
    return names[kernel];
}

void paper_line(const char* format, ...)
{
    const char* path = getenv("PLIANT_PAPERS_CSV");
    FILE* file = path && path[0] ? fopen(path, "a") : NULL;
    va_list args;
    if (!file)
        return;
    va_start(args, format);
    vfprintf(file, format, args);
    va_end(args);
    fputc('\n', file);
    fclose(file);
}

void paper_open(const char* name, scene* opened)
{
    if (!scene_open(name, opened))
        test_failed(__FILE__, __LINE__, "there is no scene %s", name);
    opened->scene.threads = 1;
}

scene_played paper_play(scene* opened, const char* label, uint32_t frames)
{
    scene_played p;
    pliant_status status = scene_play(opened, frames, &p);
    if (status != PLIANT_OK)
        test_failed(__FILE__, __LINE__, "%s, %s: %s", opened->name, label, pliant_last_error());
    paper_line("%s%s,%s,%u,%u,%u,%.3f,%.3f,%.4f,%.4f,%.1f,%.3f,%.3f", opened->name,
               opened->generated ? " (generated)" : "", label, p.particles, p.clusters[0], p.levels,
               p.peak, p.peak_detail, p.late, p.late_swirl, p.turned, p.height, p.farthest);
    scene_close(opened);
    return p;
}

scene_played paper_levels(const char* name, const paper_weighting* weighting, uint32_t frames)
{
    scene s;
    paper_open(name, &s);
    s.body.levels.weighting = weighting->weighting;
    s.body.levels.favour_fine = weighting->favour_fine;
    s.body.levels.a = weighting->a > 0 ? weighting->a : -1;
    s.body.levels.b = weighting->b > 0 ? weighting->b : -1;
    memcpy(s.body.levels.weights, weighting->weights, sizeof weighting->weights);
    return paper_play(&s, weighting->name, frames);
}

scene_played paper_baseline(const char* name, uint32_t clusters, uint32_t frames)
{
    scene s;
    char label[32];
    paper_open(name, &s);
    s.body.levels.count = 1;
    if (clusters)
    {
        s.body.cluster.count = clusters;
        s.body.cluster.radius = 0;
    }
    snprintf(label, sizeof label, "%u clusters", s.body.cluster.count);
    return paper_play(&s, label, frames);
}
