"""What the project needs to be kept in order; nothing here is part of pysim."""
