# SPDX-License-Identifier: GPL-3.0-or-later
"""Values that change from frame to frame, as attributes of a mesh, without Pliant running.

Blender plays positions from files, but no other attribute. So the values are stored as the
positions of a companion: an object in no collection, whose own Mesh Cache modifier moves its
vertices. A Geometry Nodes modifier copies them from there, bit for bit, in any Blender that opens
the file.
"""

import bpy

from .. import compat

OFFSET_NODE = "Pliant Offset"
BALL = 2.1  # voxel ball radius in particle radii: large enough to leave no holes,
SHRINK = 1.7  # and the distance by which the mesh is shrunk again


def companion(name, vertices):
    """An object of loose, invisible vertices."""
    mesh = bpy.data.meshes.new(name)
    mesh.vertices.add(vertices)
    return bpy.data.objects.new(name, mesh)


def remove_companion(obj):
    mesh = obj.data
    bpy.data.objects.remove(obj)
    if mesh.users == 0:
        bpy.data.meshes.remove(mesh)


def remove_played(obj):
    """An object of points that plays a bake, with its nodes and the companion that they read."""
    source = obj.pliant.result.values
    groups = [m.node_group for m in obj.modifiers if m.type == "NODES" and m.node_group]
    remove_companion(obj)
    for group in groups:
        if group.users == 0:
            bpy.data.node_groups.remove(group)
    if source is not None and source.users <= 1:
        remove_companion(source)


class Builder:
    """A Geometry Nodes group under construction: one geometry in, one out."""

    def __init__(self, name):
        self.group = bpy.data.node_groups.new(name, "GeometryNodeTree")
        for direction in ("INPUT", "OUTPUT"):
            self.group.interface.new_socket("Geometry", in_out=direction, socket_type="NodeSocketGeometry")
        self._column = 0
        self._given = self.node("NodeGroupInput")
        self._geometry = self._given.outputs[0]

    def setting(self, name, kind, default, least, most, text):
        """An input that the artist can change in the modifier."""
        socket = self.group.interface.new_socket(name, in_out="INPUT", socket_type=kind)
        socket.default_value, socket.description = default, text
        socket.min_value, socket.max_value = least, most
        return self._given.outputs[name]

    def node(self, kind, inputs=(), **settings):
        """Adds a node; inputs: a value or an output for each name."""
        node = self.group.nodes.new(kind)
        node.location.x, self._column = 200 * self._column, self._column + 1
        for name, value in settings.items():
            setattr(node, name, value)
        for name, value in dict(inputs).items():
            socket = next(s for s in node.inputs if s.name == name and s.enabled)
            if isinstance(value, bpy.types.NodeSocket):
                self.group.links.new(value, socket)
            else:
                socket.default_value = value
        return node

    def computed(self, operation, *values, kind="ShaderNodeMath"):
        """Output of a math node of values and outputs."""
        node = self.node(kind, operation=operation)
        for socket, value in zip((s for s in node.inputs if s.enabled), values):
            if isinstance(value, bpy.types.NodeSocket):
                self.group.links.new(value, socket)
            else:
                socket.default_value = value
        return next(s for s in node.outputs if s.enabled)

    def named(self, name, data_type):
        """A point attribute of the geometry."""
        return self.node("GeometryNodeInputNamedAttribute", {"Name": name}, data_type=data_type).outputs[0]

    def at(self, geometry, value, index, data_type):
        """A value of another geometry's point."""
        node = self.node("GeometryNodeSampleIndex", {"Geometry": geometry}, data_type=data_type, domain="POINT")
        for name, given in (("Value", value), ("Index", index)):
            self.group.links.new(given, next(s for s in node.inputs if s.name == name and s.enabled))
        return next(s for s in node.outputs if s.enabled)

    def sampled(self, source, part, count):
        """The position of the companion's vertex index + part * count."""
        info = self.node("GeometryNodeObjectInfo", {"Object": source}, transform_space="ORIGINAL")
        index = self.node("GeometryNodeInputIndex").outputs[0]
        if part:
            # whole numbers, exact up to 16 million vertices in any Blender
            index = self.computed("ADD", index, part * count)
            index.node.name = f"{OFFSET_NODE} {part}"
        position = self.node("GeometryNodeInputPosition").outputs[0]
        return self.at(info.outputs["Geometry"], position, index, "FLOAT_VECTOR")

    def parts(self, vector):
        return self.node("ShaderNodeSeparateXYZ", {"Vector": vector}).outputs

    def store(self, name, value, data_type):
        """Stores a value as a point attribute of the geometry."""
        node = self.node(
            "GeometryNodeStoreNamedAttribute",
            {"Geometry": self._geometry, "Name": name},
            data_type=data_type,
            domain="POINT",
        )
        self.group.links.new(value, next(s for s in node.inputs if s.name == "Value" and s.enabled))
        self._geometry = node.outputs[0]

    def through(self, kind, inputs=(), **settings):
        """Passes the geometry through a node whose first socket it is."""
        node = self.node(kind, inputs, **settings)
        self.group.links.new(self._geometry, node.inputs[0])
        self._geometry = node.outputs[0]
        return node

    @property
    def geometry(self):
        """The geometry at this point of the construction."""
        return self._geometry

    def finish(self):
        self.node("NodeGroupOutput", {"Geometry": self._geometry})
        return self.group


def velocity_group(source):
    """A group that gives each vertex the companion's position as its "velocity"."""
    builder = Builder("Pliant Velocity")
    builder.store("velocity", builder.sampled(source, 0, 0), "FLOAT_VECTOR")
    return builder.finish()


def attributes_group(source, names):
    """A group that gives each vertex the companion's x, y and z as attributes of up to three names."""
    builder = Builder("Pliant Attributes")
    for name, value in zip(names, builder.parts(builder.sampled(source, 0, 0))):
        builder.store(name, value, "FLOAT")
    return builder.finish()


def debris_group(source):
    """Gives points the companion's positions as their "velocity", and shows each for some frames
    from its birth on."""
    builder = Builder("Pliant Debris")
    life = builder.setting("Life", "NodeSocketFloat", 24.0, 0.0, 1e6, "Frames that a point is shown")
    builder.store("velocity", builder.sampled(source, 0, 0), "FLOAT_VECTOR")
    frame = builder.node("GeometryNodeInputSceneTime").outputs["Frame"]
    age = builder.computed("SUBTRACT", frame, builder.named("birth", "FLOAT"))
    builder.store("age", age, "FLOAT")
    late = builder.computed("GREATER_THAN", age, life)
    early = builder.computed("LESS_THAN", age, 0.0)
    node = builder.through("GeometryNodeDeleteGeometry", domain="POINT", mode="ALL")
    builder.group.links.new(builder.computed("ADD", early, late), node.inputs["Selection"])
    return builder.finish()


# The companion has one vertex per particle for each of these, in this order: velocity; stretch,
# plastic strain and radius; the three columns of the deformation; the cluster's number and the
# share of the particle's weight in new clusters.
PARTS = 6
DEFORMATION = ("deformation_x", "deformation_y", "deformation_z")


def particle_group(source, count, as_points):
    """Gives particles the values of the companion; as_points: as a point cloud."""
    builder = Builder("Pliant Particles")
    builder.store("velocity", builder.sampled(source, 0, count), "FLOAT_VECTOR")
    stretch, plastic, radius = builder.parts(builder.sampled(source, 1, count))
    builder.store("stretch", stretch, "FLOAT")
    builder.store("plastic_strain", plastic, "FLOAT")
    for axis, name in enumerate(DEFORMATION):
        builder.store(name, builder.sampled(source, 2 + axis, count), "FLOAT_VECTOR")
    cluster, renewed, _ = builder.parts(builder.sampled(source, 5, count))
    builder.store("cluster", cluster, "INT")
    builder.store("renewed", renewed, "FLOAT")
    if as_points:
        builder.through("GeometryNodeMeshToPoints", {"Radius": radius})
    else:
        builder.store("radius", radius, "FLOAT")
    return builder.finish()


def set_particle_count(group, count):
    """Sets the number of particles of a particle_group()."""
    for part in range(1, PARTS):
        node = group.nodes.get(f"{OFFSET_NODE} {part}")
        if node is not None:
            node.inputs[1].default_value = part * count


def surface_group(material):
    """A closed mesh around the particles of a particle_group(), for flow beyond what a fixed mesh
    can follow. Each particle stands for a cell of material; eight points in it, moved by its
    deformation gradient, keep drawn-out parts from falling into beads. Balls around them become
    a volume, which becomes a mesh; it is smoothed and gets the particles' velocity and plastic
    strain."""
    builder = Builder("Pliant Surface")
    size = builder.setting("Size", "NodeSocketFloat", 1.0, 0.1, 5.0, "Size of the balls around particles")
    detail = builder.setting(
        "Detail", "NodeSocketFloat", 3.0, 0.5, 20.0, "Voxels from one particle to the next: more is finer, and slower"
    )
    smooth = builder.setting("Smooth", "NodeSocketInt", 4, 0, 200, "Iterations of smoothing")
    particles = builder.geometry
    radius = builder.named("radius", "FLOAT")
    number = builder.through("GeometryNodeDuplicateElements", {"Amount": 8}, domain="POINT").outputs["Duplicate Index"]
    builder.through("GeometryNodeSetPosition", {"Offset": _in_its_cell(builder, number, radius)})
    usual = builder.node("GeometryNodeAttributeStatistic", {"Geometry": particles, "Attribute": radius})
    spacing = builder.computed("MULTIPLY", usual.outputs["Mean"], 2.0)
    voxel = builder.computed("DIVIDE", spacing, detail)
    ball = builder.computed("MULTIPLY", builder.computed("MULTIPLY", radius, BALL), size)
    node = builder.through("GeometryNodePointsToVolume", {"Radius": ball})
    compat.voxels_by_size(node)
    builder.group.links.new(voxel, compat.voxel_size_socket(node))
    builder.through("GeometryNodeVolumeToMesh", {"Threshold": 0.5})
    position = builder.node("GeometryNodeInputPosition").outputs[0]
    blur = builder.node(
        "GeometryNodeBlurAttribute", {"Value": position, "Iterations": smooth}, data_type="FLOAT_VECTOR"
    )
    builder.through("GeometryNodeSetPosition", {"Position": next(s for s in blur.outputs if s.enabled)})
    inwards = builder.node(
        "ShaderNodeVectorMath",
        {
            "Vector": builder.node("GeometryNodeInputNormal").outputs[0],
            "Scale": builder.computed("MULTIPLY", spacing, -SHRINK / 2),
        },
        operation="SCALE",
    ).outputs[0]
    builder.through("GeometryNodeSetPosition", {"Offset": inwards})
    nearest = builder.node("GeometryNodeSampleNearest", {"Geometry": particles}, domain="POINT").outputs[0]
    for name, kind in (("velocity", "FLOAT_VECTOR"), ("plastic_strain", "FLOAT")):
        builder.store(name, builder.at(particles, builder.named(name, kind), nearest, kind), kind)
    builder.through("GeometryNodeSetShadeSmooth")
    if material is not None:
        builder.through("GeometryNodeSetMaterial", {"Material": material})
    return builder.finish()


def _in_its_cell(builder, number, radius):
    """From a particle to the number-th of eight points of its cell, which is twice the radius wide
    at rest."""
    sides = (
        builder.computed("MODULO", number, 2.0),
        builder.computed("MODULO", builder.computed("FLOOR", builder.computed("DIVIDE", number, 2.0)), 2.0),
        builder.computed("FLOOR", builder.computed("DIVIDE", number, 4.0)),
    )
    whole = None
    for side, name in zip(sides, DEFORMATION):
        length = builder.computed("MULTIPLY", builder.computed("SUBTRACT", side, 0.5), radius)
        scaled = builder.node(
            "ShaderNodeVectorMath", {"Vector": builder.named(name, "FLOAT_VECTOR"), "Scale": length}, operation="SCALE"
        ).outputs[0]
        whole = scaled if whole is None else builder.computed("ADD", whole, scaled, kind="ShaderNodeVectorMath")
    return whole
