#ifndef PYSIM_NEXT_HOP_ROUTING_H
#define PYSIM_NEXT_HOP_ROUTING_H

#include "ns3/ipv4-routing-protocol.h"
#include "ns3/ipv4.h"
#include "ns3/simple-ref-count.h"

#include <array>
#include <cstdint>
#include <vector>

namespace pysim
{

/**
 * The next hop from every node to every other, over the physical links that are up now.
 *
 * One table serves all nodes of a simulation. A source's row is computed by Dijkstra's algorithm
 * when it is first asked for after a change, so that changes cost nothing to those who do not
 * send off their links. Paths have the least total delay; ties go to fewer hops, then to the
 * lowest node.
 */
class NextHopTable : public ns3::SimpleRefCount<NextHopTable>
{
  public:
    /// One end's view of a physical link.
    struct Hop
    {
        uint32_t neighbor{UINT32_MAX};
        uint32_t link{UINT32_MAX};
        uint32_t interface{0};
        int64_t delay{0};
    };

    /// @param mesh whether all nodes share one channel, so that every node is one hop away
    explicit NextHopTable(bool mesh);

    void AddNode();

    /**
     * Enter a new physical link, which is up.
     * @param interfaces the IP interface index of each end
     * @return the link's number
     */
    uint32_t AddLink(std::array<uint32_t, 2> nodes,
                     std::array<uint32_t, 2> interfaces,
                     int64_t delay);
    /// @param delay the link's delay from now on, if it is up
    void SetLinkUp(uint32_t link, bool up, int64_t delay);

    /// @return the next hop from one node to another, nullptr if there is no way
    const Hop* Lookup(uint32_t from, uint32_t to);

    /// @return the hop over one particular link, nullptr if it does not end at this node
    const Hop* OverLink(uint32_t from, uint32_t link) const;

    /// @return the node that owns an address, UINT32_MAX if none does
    uint32_t Owner(ns3::Ipv4Address address) const;

  private:
    struct Link
    {
        std::array<uint32_t, 2> nodes;
        std::array<Hop, 2> hops; ///< hops[s] leads from nodes[s] to the other end
        bool up{true};
    };

    struct Row
    {
        uint64_t version{0};
        std::vector<const Hop*> next;
    };

    void Compute(uint32_t from, Row& row);

    bool m_mesh;
    Hop m_meshHop;
    uint64_t m_version{1};
    std::vector<Link> m_links;
    std::vector<std::vector<uint32_t>> m_linksOf; ///< link numbers by node
    std::vector<Row> m_rows;
};

/// Routes a node's packets by the shared NextHopTable and the address plan.
class NextHopRouting : public ns3::Ipv4RoutingProtocol
{
  public:
    static ns3::TypeId GetTypeId();

    void SetTable(ns3::Ptr<NextHopTable> table, uint32_t node);

    ns3::Ptr<ns3::Ipv4Route> RouteOutput(ns3::Ptr<ns3::Packet> p,
                                         const ns3::Ipv4Header& header,
                                         ns3::Ptr<ns3::NetDevice> oif,
                                         ns3::Socket::SocketErrno& sockerr) override;
    bool RouteInput(ns3::Ptr<const ns3::Packet> p,
                    const ns3::Ipv4Header& header,
                    ns3::Ptr<const ns3::NetDevice> idev,
                    const UnicastForwardCallback& ucb,
                    const MulticastForwardCallback& mcb,
                    const LocalDeliverCallback& lcb,
                    const ErrorCallback& ecb) override;
    void NotifyInterfaceUp(uint32_t interface) override;
    void NotifyInterfaceDown(uint32_t interface) override;
    void NotifyAddAddress(uint32_t interface, ns3::Ipv4InterfaceAddress address) override;
    void NotifyRemoveAddress(uint32_t interface, ns3::Ipv4InterfaceAddress address) override;
    void SetIpv4(ns3::Ptr<ns3::Ipv4> ipv4) override;
    void PrintRoutingTable(ns3::Ptr<ns3::OutputStreamWrapper> stream,
                           ns3::Time::Unit unit) const override;

  protected:
    void DoDispose() override;

  private:
    ns3::Ptr<ns3::Ipv4Route> RouteTo(ns3::Ipv4Address destination);

    ns3::Ptr<ns3::Ipv4> m_ipv4;
    ns3::Ptr<NextHopTable> m_table;
    uint32_t m_node{0};
};

} // namespace pysim

#endif
