"""Random streams split by purpose, so that adding a draw in one place moves nothing elsewhere."""

import hashlib
import random


class Streams:
    """Hands out independent generators: the same seed and purpose always give the same stream."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def stream(self, *purpose: str | int) -> random.Random:
        """A generator for one purpose, such as ``stream("broker", 7)``."""
        name = "/".join(str(part) for part in (self.seed, *purpose))
        digest = hashlib.blake2b(name.encode(), digest_size=16).digest()
        return random.Random(int.from_bytes(digest, "big"))
