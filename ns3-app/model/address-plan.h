#ifndef PYSIM_ADDRESS_PLAN_H
#define PYSIM_ADDRESS_PLAN_H

#include "ns3/ipv4-address.h"

#include <cstdint>

namespace pysim
{

/**
 * The one place that says which address belongs to what.
 *
 *   10.0.0.0/9     node addresses: node n (brokers first, then routers) is 10.0.0.1 + n
 *   10.128.0.0/9   link addresses: link k owns four of them; its two ends are .1 and .2 of these
 *
 * TCP port 7471 takes overlay links, port 7472 takes unicast off the overlay (TCP and UDP).
 */
namespace plan
{

constexpr uint32_t NODE_BASE = 0x0a000001;
constexpr uint32_t LINK_BASE = 0x0a800000;
constexpr uint32_t LINK_LIMIT = 0x0b000000;
constexpr uint16_t OVERLAY_PORT = 7471;
constexpr uint16_t DIRECT_PORT = 7472;

inline ns3::Ipv4Address
NodeAddress(uint32_t node)
{
    return ns3::Ipv4Address(NODE_BASE + node);
}

/// @param side 0 or 1
inline ns3::Ipv4Address
LinkAddress(uint32_t link, uint32_t side)
{
    return ns3::Ipv4Address(LINK_BASE + 4 * link + 1 + side);
}

inline bool
IsNodeAddress(ns3::Ipv4Address address)
{
    return address.Get() >= NODE_BASE && address.Get() < LINK_BASE;
}

inline bool
IsLinkAddress(ns3::Ipv4Address address)
{
    return address.Get() >= LINK_BASE && address.Get() < LINK_LIMIT;
}

inline uint32_t
NodeOf(ns3::Ipv4Address nodeAddress)
{
    return nodeAddress.Get() - NODE_BASE;
}

inline uint32_t
LinkOf(ns3::Ipv4Address linkAddress)
{
    return (linkAddress.Get() - LINK_BASE) / 4;
}

/// @return the side (0 or 1) of a link that an address belongs to
inline uint32_t
SideOf(ns3::Ipv4Address linkAddress)
{
    return (linkAddress.Get() - LINK_BASE) % 4 - 1;
}

} // namespace plan
} // namespace pysim

#endif
