# SPDX-License-Identifier: GPL-3.0-or-later
"""Breaks a mesh: all steps from a mesh and particles to the mesh with cracks."""

import numpy as np

from . import assemble, binding, cells, cut, graph, coincident_vertices, open_meshes, sheets, slivers
from .datatypes import Broken, Look, check

OPEN = (
    "The mesh is not a closed solid (it has holes, or edges with more than two faces): it comes apart"
    " along its own faces, without crack faces inside."
)
NOT_SOLID = (
    "The mesh could not be cut as a solid (it may intersect itself or be inside out): it comes apart "
    "along its own faces, without crack faces inside."
)


def break_mesh(surface, particles, look=None, progress=lambda part: None):
    """A datatypes.Broken of a Surface and Particles. Raises CrackError with a sentence.

    If nothing parted, the surface is returned unchanged. progress: called with the finished share,
    estimated by typical times.
    """
    look = look or Look()
    surface, particles = check(surface, particles)
    spacing = cells.spacing_of(particles)
    points = surface.vertices if len(surface.vertices) else particles.rest
    low = np.minimum(points.min(0), particles.rest.min(0))
    high = np.maximum(points.max(0), particles.rest.max(0))
    space = cells.divide(particles, low, high, spacing, look)
    partings = cells.Partings(particles, spacing)
    pairs, squares, times = slivers.absorb(space, particles, partings, spacing)
    part = pieces_of(particles, pairs, times)
    progress(0.15)
    opened = sheets.open_cracks(space, squares, times, particles, spacing, look)
    progress(0.35)
    broken = make(surface, opened, space, partings, part, particles, spacing, look)
    progress(0.7)
    before, birth = coincident_vertices.leaders(len(broken.copy), *broken.were_one)
    coincident_vertices.rejoin(
        broken.surface.vertices, np.flatnonzero(broken.birth < np.inf), 1e-6 * space.step, broken.birth, before, birth
    )
    broken.binding = binding.bind(
        broken.surface.vertices, broken.copy, before, birth, particles, pairs, times, spacing, look.support
    )
    progress(0.95)
    broken.were_one = ()
    _, broken.piece = np.unique(broken.piece, return_inverse=True)
    sizes = np.diff(broken.surface.face_start) if len(broken.surface.face_start) > 1 else []
    if len(sizes):
        broken.face_piece = broken.piece[broken.surface.corners[broken.surface.face_start[:-1]]]
    return broken


def make(surface, opened, space, partings, part, particles, spacing, look):
    if opened is None or not len(surface.corners):
        return untouched(surface, space, part)
    split = cut.triangulate(surface)
    triangles = surface.corners[split.corner]
    if not cut.closed(triangles):
        return warned(open_meshes.unzip(surface, space, partings, part), OPEN)
    pieces = cut.cut(surface.vertices, triangles, opened)
    if pieces is None:
        return warned(open_meshes.unzip(surface, space, partings, part), NOT_SOLID)
    if not pieces.inside.any():
        return untouched(surface, space, part)
    return assemble.assemble(surface, split, pieces, opened, space, part, partings, spacing, look)


def pieces_of(particles, pairs, times):
    """The component of each copy: joined in the last frame, or neighbours that never parted."""
    joined = particles.pairs[particles.until == np.inf]
    held = pairs[times == np.inf]
    both = np.concatenate([joined, held])
    return graph.components(len(particles.rest), both[:, 0], both[:, 1])


def untouched(surface, space, part):
    copy = space.copy_at(surface.vertices) if len(surface.vertices) else np.zeros(0, np.int64)
    faces = len(surface.face_start) - 1
    first = surface.corners[surface.face_start[:-1]]
    return Broken(
        surface,
        np.zeros(faces, bool),
        part[copy][first],
        part[copy],
        np.full(faces, np.inf),
        np.full(len(copy), np.inf),
        copy,
        np.arange(len(copy)),
        np.arange(faces),
        np.full((len(copy), 2), -1),
        (np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0)),
        untouched=True,
    )


def warned(broken, sentence):
    broken.warnings.append(sentence)
    return broken
