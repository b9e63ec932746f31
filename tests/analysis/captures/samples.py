"""Random packets of known content, put together by scapy: the truth that decoding must meet."""

import random
from dataclasses import dataclass, replace

from scapy.layers.inet import ICMP, IP, TCP, UDP, IPOption_NOP
from scapy.layers.inet6 import (
    IPv6,
    IPv6ExtHdrDestOpt,
    IPv6ExtHdrFragment,
    IPv6ExtHdrHopByHop,
    IPv6ExtHdrRouting,
    PadN,
)
from scapy.layers.ipsec import AH
from scapy.layers.l2 import ARP, Dot1AD, Dot1Q, Ether
from scapy.layers.ppp import HDLC, PPP
from scapy.packet import Packet

from tests.analysis.captures import pcaps

MACS = {"src": "02:00:00:00:00:01", "dst": "02:00:00:00:00:02"}
LINKS = {
    "ppp": pcaps.PPP,
    "ppp with address and control": pcaps.PPP,
    "ppp with a short protocol field": pcaps.PPP,
    "ethernet": pcaps.ETHERNET,
    "ethernet with a tag": pcaps.ETHERNET,
    "ethernet with two tags": pcaps.ETHERNET,
    "raw": pcaps.RAW,
    "raw on a bsd": 12,
    "raw on openbsd": 14,
    "raw of one version": 0,
}
"""How a packet can be framed, and the link type of its capture; the last depends on the packet."""

EXTENSION_NUMBERS = {
    IPv6ExtHdrHopByHop: 0,
    IPv6ExtHdrRouting: 43,
    IPv6ExtHdrFragment: 44,
    AH: 51,
    IPv6ExtHdrDestOpt: 60,
}


@dataclass(frozen=True)
class Sample:
    """A frame as it was on the wire, and what must be read in it if all of it was captured."""

    ip: int
    protocol: int
    source: str
    target: str
    source_port: int = -1
    target_port: int = -1
    sequence: int = -1
    acknowledgment: int = -1
    flags: int = -1
    window: int = -1
    link_header: int = 0
    ip_header: int = 0
    transport_header: int = 0
    payload: bytes = b""
    fragment: bool = False
    link_type: int = -1
    frame: bytes = b""


def sample(rng: random.Random) -> Sample:
    """A random packet in a random frame."""
    version = rng.choice((4, 6))
    payload = rng.randbytes(rng.choice((0, 1, 7, 200, rng.randrange(1400))))
    draft = Sample(version, -1, _address(rng, version), _address(rng, version), payload=payload)
    header, draft = rng.choice((_tcp, _tcp, _udp, _other, _later_fragment))(rng, draft)
    place = 0
    if draft.fragment:
        place = rng.choice((1, 4096, 8191, rng.randrange(1, 8192)))
    elif rng.random() < 0.2:
        draft = replace(draft, fragment=True)
    wrap = _ipv4 if version == 4 else _ipv6
    head = wrap(rng, draft, len(header + draft.payload), place)
    packet = head + header + draft.payload
    link = rng.choice(list(LINKS))
    link_header, trailer = _framing(rng, link, version, len(packet))
    return replace(
        draft,
        link_header=len(link_header),
        ip_header=len(head),
        link_type=LINKS[link] or (228 if version == 4 else 229),
        frame=link_header + packet + trailer,
    )


def arp() -> Sample:
    """A packet that is not IP."""
    frame = bytes(Ether(**MACS) / ARP(hwsrc=MACS["src"], psrc="10.0.0.1"))
    return Sample(0, -1, "", "", link_header=14, link_type=pcaps.ETHERNET, frame=frame)


def _address(rng: random.Random, version: int) -> str:
    if version == 4:
        return ".".join(str(rng.randrange(256)) for _ in range(4))
    known = ("::1", "2001:db8::1:0:0:1", "fe80::1", "::ffff:10.0.0.1", "ff02::1", "1:0:2:0:3:0:4:0")
    return rng.choice((*known, ":".join(f"{rng.randrange(1, 65536):x}" for _ in range(8))))


def _tcp(rng: random.Random, draft: Sample) -> tuple[bytes, Sample]:
    packet = TCP(
        sport=rng.randrange(65536),
        dport=rng.randrange(65536),
        seq=rng.choice((0, 2**32 - 1, rng.randrange(2**32))),
        ack=rng.choice((0, 2**32 - 1, rng.randrange(2**32))),
        flags=rng.randrange(512),
        window=rng.randrange(65536),
        options=[("NOP", None)] * rng.choice((0, 0, 4, 12, 40)),
    )
    header = bytes(packet)
    return header, replace(
        draft,
        protocol=6,
        source_port=packet.sport,
        target_port=packet.dport,
        sequence=packet.seq,
        acknowledgment=packet.ack,
        flags=int(packet.flags),
        window=packet.window,
        transport_header=len(header),
    )


def _udp(rng: random.Random, draft: Sample) -> tuple[bytes, Sample]:
    source, target = rng.randrange(65536), rng.randrange(65536)
    header = bytes(UDP(sport=source, dport=target, len=8 + len(draft.payload)))
    filled = replace(draft, protocol=17, source_port=source, target_port=target)
    return header, replace(filled, transport_header=8)


def _other(rng: random.Random, draft: Sample) -> tuple[bytes, Sample]:
    return b"", replace(draft, protocol=1, payload=bytes(ICMP()) + draft.payload)


def _later_fragment(rng: random.Random, draft: Sample) -> tuple[bytes, Sample]:
    """A fragment that has no transport header, whatever its first bytes look like."""
    return b"", replace(draft, protocol=rng.choice((6, 17)), fragment=True)


def _ipv4(rng: random.Random, draft: Sample, size: int, place: int) -> bytes:
    options = [IPOption_NOP()] * rng.choice((0, 0, 4, 40))
    more = rng.choice(("MF", "")) if place else "MF" if draft.fragment else rng.choice(("", "DF"))
    head = IP(
        src=draft.source,
        dst=draft.target,
        proto=draft.protocol,
        options=options,
        flags=more,
        frag=place,
        len=20 + len(options) + size,
    )
    return bytes(head)


def _ipv6(rng: random.Random, draft: Sample, size: int, place: int) -> bytes:
    extensions = rng.sample(_extensions(rng), rng.choice((0, 0, 1, 3)))
    if draft.fragment:
        more = rng.randrange(2) if place else 1
        extensions.append(IPv6ExtHdrFragment(offset=place, m=more))
    elif rng.random() < 0.2:  # the header is there, but nothing is fragmented
        extensions.append(IPv6ExtHdrFragment(offset=0, m=0))
    following, content = draft.protocol, b""
    for extension in reversed(extensions):
        extension.nh = following
        following, content = EXTENSION_NUMBERS[type(extension)], bytes(extension) + content
    head = IPv6(src=draft.source, dst=draft.target, plen=len(content) + size, nh=following)
    return bytes(head) + content


def _extensions(rng: random.Random) -> list[Packet]:
    return [
        IPv6ExtHdrHopByHop(options=[PadN(optdata=bytes(rng.randrange(100)))]),
        IPv6ExtHdrRouting(addresses=["2001:db8::5"] * rng.randrange(3)),
        IPv6ExtHdrDestOpt(options=[PadN(optdata=bytes(rng.randrange(100)))]),
        AH(payloadlen=4, spi=1, seq=1, icv=bytes(12)),
    ]


def _framing(rng: random.Random, link: str, version: int, size: int) -> tuple[bytes, bytes]:
    """What goes before and behind an IP packet of this size."""
    kind = 0x0800 if version == 4 else 0x86DD
    number = 0x21 if version == 4 else 0x57
    if link.startswith("raw"):
        return b"", b""
    if link.startswith("ppp"):
        if link == "ppp with a short protocol field":
            return bytes([number]), b""
        front = HDLC() if link == "ppp with address and control" else None
        return bytes(front or b"") + bytes(PPP(proto=number))[-2:], b""
    tags = {"ethernet": [], "ethernet with a tag": [0x8100]}.get(link, [0x88A8, 0x8100])
    kinds = [*tags, kind]
    header = bytes(Ether(type=kinds[0], **MACS))
    for tag, following in zip(tags, kinds[1:], strict=True):
        layer = Dot1AD if tag == 0x88A8 else Dot1Q
        header += bytes(layer(vlan=rng.randrange(4096), type=following))
    return header, bytes(max(0, 60 - len(header) - size)) + rng.randbytes(rng.choice((0, 4)))
