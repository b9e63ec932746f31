"""A protocol of others for tests, as the text of its file."""

MINE = '''
from typing import Annotated

from pysim.brokers import Broker, register
from pysim.wire import Message, message_type


@message_type(231)
class Wave(Message):
    text: str
    steps: tuple[int, ...] = ()


@register
class Mine(Broker):
    """Floods events on a tree, and waves at neighbors."""

    name = "mine"

    def __init__(self, world, *, waves: Annotated[int, "how often it waves"] = 1):
        super().__init__(world)
        self.waves = waves

    def link_up(self, neighbor, notice):
        for number in range(self.waves):
            self.world.send(neighbor, Wave("hello", (number,)))

    def on_wave(self, sender, envelope):
        self.world.record("waves", len(envelope.message.steps))

    def publish(self, client, event):
        self.on_event(self.world.id, event)

    def on_event(self, sender, event):
        self.deliver_locally(event)
        for neighbor in self.world.neighbors:
            if neighbor != sender:
                self.world.send(neighbor, event)
'''
