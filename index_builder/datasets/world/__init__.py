"""A generated fictional world: facts no model can know, as datasets in the official formats."""

from index_builder.datasets.world.write import SetSummary, WorldSummary, write_world

__all__ = ["SetSummary", "WorldSummary", "write_world"]
