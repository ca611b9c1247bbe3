"""A generated fictional world: facts no model can know."""
