"""From an experiment to finished trajectories."""
