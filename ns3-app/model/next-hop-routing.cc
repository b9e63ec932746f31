#include "next-hop-routing.h"

#include "address-plan.h"

#include "ns3/ipv4-route.h"
#include "ns3/log.h"
#include "ns3/output-stream-wrapper.h"

#include <queue>
#include <tuple>

using namespace ns3;

namespace pysim
{

NS_LOG_COMPONENT_DEFINE("PysimNextHopRouting");
NS_OBJECT_ENSURE_REGISTERED(NextHopRouting);

NextHopTable::NextHopTable(bool mesh)
    : m_mesh(mesh)
{
    m_meshHop.interface = 1; // the one device every node has besides its loopback
}

void
NextHopTable::AddNode()
{
    m_linksOf.emplace_back();
    m_rows.emplace_back();
    m_version++;
}

uint32_t
NextHopTable::AddLink(std::array<uint32_t, 2> nodes,
                      std::array<uint32_t, 2> interfaces,
                      int64_t delay)
{
    const uint32_t link = m_links.size();
    Link entry;
    entry.nodes = nodes;
    for (uint32_t side : {0, 1})
    {
        entry.hops[side] = Hop{nodes[1 - side], link, interfaces[side], delay};
        m_linksOf[nodes[side]].push_back(link);
    }
    m_links.push_back(entry);
    m_version++;
    return link;
}

void
NextHopTable::SetLinkUp(uint32_t link, bool up, int64_t delay)
{
    m_links[link].up = up;
    m_links[link].hops[0].delay = m_links[link].hops[1].delay = delay;
    m_version++;
}

const NextHopTable::Hop*
NextHopTable::Lookup(uint32_t from, uint32_t to)
{
    if (m_mesh)
    {
        return to < m_rows.size() ? &m_meshHop : nullptr;
    }
    Row& row = m_rows[from];
    if (row.version != m_version)
    {
        Compute(from, row);
    }
    return to < row.next.size() ? row.next[to] : nullptr;
}

void
NextHopTable::Compute(uint32_t from, Row& row)
{
    // (delay, hops, node, first hop) in ascending order: the order settles ties.
    using Candidate = std::tuple<int64_t, uint32_t, uint32_t, const Hop*>;
    auto later = [](const Candidate& a, const Candidate& b) {
        return std::tie(std::get<0>(a), std::get<1>(a), std::get<2>(a), std::get<3>(a)->neighbor) >
               std::tie(std::get<0>(b), std::get<1>(b), std::get<2>(b), std::get<3>(b)->neighbor);
    };
    std::priority_queue<Candidate, std::vector<Candidate>, decltype(later)> candidates(later);
    row.next.assign(m_linksOf.size(), nullptr);
    row.version = m_version;

    auto visit = [&](uint32_t node, int64_t delay, uint32_t hops, const Hop* first) {
        for (uint32_t number : m_linksOf[node])
        {
            const Link& link = m_links[number];
            const Hop& hop = link.hops[link.nodes[0] == node ? 0 : 1];
            if (link.up && hop.neighbor != from && !row.next[hop.neighbor])
            {
                candidates.emplace(delay + hop.delay, hops + 1, hop.neighbor, first ? first : &hop);
            }
        }
    };
    visit(from, 0, 0, nullptr);
    while (!candidates.empty())
    {
        const auto [delay, hops, node, first] = candidates.top();
        candidates.pop();
        if (!row.next[node])
        {
            row.next[node] = first;
            visit(node, delay, hops, first);
        }
    }
}

const NextHopTable::Hop*
NextHopTable::OverLink(uint32_t from, uint32_t link) const
{
    if (link >= m_links.size() || !m_links[link].up)
    {
        return nullptr;
    }
    const Link& entry = m_links[link];
    for (uint32_t side : {0, 1})
    {
        if (entry.nodes[side] == from)
        {
            return &entry.hops[side];
        }
    }
    return nullptr;
}

uint32_t
NextHopTable::Owner(Ipv4Address address) const
{
    if (plan::IsNodeAddress(address))
    {
        return plan::NodeOf(address);
    }
    if (plan::IsLinkAddress(address) && plan::LinkOf(address) < m_links.size() &&
        plan::SideOf(address) < 2)
    {
        return m_links[plan::LinkOf(address)].nodes[plan::SideOf(address)];
    }
    return UINT32_MAX;
}

TypeId
NextHopRouting::GetTypeId()
{
    static TypeId tid = TypeId("pysim::NextHopRouting")
                            .SetParent<Ipv4RoutingProtocol>()
                            .SetGroupName("pysim")
                            .AddConstructor<NextHopRouting>();
    return tid;
}

void
NextHopRouting::SetTable(Ptr<NextHopTable> table, uint32_t node)
{
    m_table = table;
    m_node = node;
}

Ptr<Ipv4Route>
NextHopRouting::RouteTo(Ipv4Address destination)
{
    // A link's addresses are spoken to over that link or not at all: nothing goes around a cut.
    const bool ownLink = plan::IsLinkAddress(destination);
    const NextHopTable::Hop* hop = ownLink ? m_table->OverLink(m_node, plan::LinkOf(destination))
                                           : m_table->Lookup(m_node, m_table->Owner(destination));
    if (!hop)
    {
        return nullptr;
    }
    auto route = Create<Ipv4Route>();
    route->SetDestination(destination);
    // A packet over one of our own links carries that link's address, all others carry the node's.
    route->SetSource(ownLink ? m_ipv4->GetAddress(hop->interface, 0).GetLocal()
                             : plan::NodeAddress(m_node));
    route->SetGateway(Ipv4Address::GetZero());
    route->SetOutputDevice(m_ipv4->GetNetDevice(hop->interface));
    return route;
}

Ptr<Ipv4Route>
NextHopRouting::RouteOutput(Ptr<Packet> p,
                            const Ipv4Header& header,
                            Ptr<NetDevice> oif,
                            Socket::SocketErrno& sockerr)
{
    Ptr<Ipv4Route> route = RouteTo(header.GetDestination());
    sockerr = route ? Socket::ERROR_NOTERROR : Socket::ERROR_NOROUTETOHOST;
    return route;
}

bool
NextHopRouting::RouteInput(Ptr<const Packet> p,
                           const Ipv4Header& header,
                           Ptr<const NetDevice> idev,
                           const UnicastForwardCallback& ucb,
                           const MulticastForwardCallback& mcb,
                           const LocalDeliverCallback& lcb,
                           const ErrorCallback& ecb)
{
    if (m_table->Owner(header.GetDestination()) == m_node)
    {
        lcb(p, header, m_ipv4->GetInterfaceForDevice(idev));
        return true;
    }
    if (Ptr<Ipv4Route> route = RouteTo(header.GetDestination()))
    {
        ucb(route, p, header);
        return true;
    }
    ecb(p, header, Socket::ERROR_NOROUTETOHOST);
    return false;
}

// The table is told of link changes by whoever makes them, so there is nothing to learn from these.
void
NextHopRouting::NotifyInterfaceUp(uint32_t interface)
{
}

void
NextHopRouting::NotifyInterfaceDown(uint32_t interface)
{
}

void
NextHopRouting::NotifyAddAddress(uint32_t interface, Ipv4InterfaceAddress address)
{
}

void
NextHopRouting::NotifyRemoveAddress(uint32_t interface, Ipv4InterfaceAddress address)
{
}

void
NextHopRouting::SetIpv4(Ptr<Ipv4> ipv4)
{
    m_ipv4 = ipv4;
}

void
NextHopRouting::PrintRoutingTable(Ptr<OutputStreamWrapper> stream, Time::Unit unit) const
{
    *stream->GetStream() << "node " << m_node << " routes by the shared next-hop table\n";
}

void
NextHopRouting::DoDispose()
{
    m_ipv4 = nullptr;
    m_table = nullptr;
    Ipv4RoutingProtocol::DoDispose();
}

} // namespace pysim
