"""Reads the files of finished runs and turns them into answers; it never touches the simulator."""
