"""tshark reads our captures as we do."""
