#ifndef PYSIM_OVERLAY_NETWORK_H
#define PYSIM_OVERLAY_NETWORK_H

#include "../model/broker-application.h"
#include "../model/flow-book.h"
#include "../model/matrix-net-device.h"
#include "../model/next-hop-routing.h"
#include "settings.h"

#include "ns3/error-model.h"
#include "ns3/ipv4-l3-protocol.h"
#include "ns3/node.h"
#include "ns3/pcap-file-wrapper.h"
#include "ns3/point-to-point-net-device.h"

#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace pysim
{

/**
 * Builds the ns-3 side of a simulation and changes it while it runs.
 *
 * Three kinds of ground, chosen by the settings:
 *   links      each overlay link is a point-to-point link of its own between two brokers;
 *   routers    brokers and routers are nodes of an IP network of point-to-point links, and an
 *              overlay link is a TCP connection across it;
 *   matrix     every broker has one device on a channel with a delay for each pair.
 *
 * Names follow from numbers: broker 3 is node "b3", router 2 is "r2", the capture of b3's device
 * on its link to b7 is "b3-b7.pcap" (a second device pair between the same two, which exists only
 * if a link returns while packets of its former life are still in flight, "b3-b7.2.pcap"; a
 * matrix device is "b3.pcap").
 */
class OverlayNetwork
{
  public:
    explicit OverlayNetwork(const Settings& settings);
    ~OverlayNetwork();
    OverlayNetwork(const OverlayNetwork&) = delete;
    OverlayNetwork& operator=(const OverlayNetwork&) = delete;

    void AttachAgent(uint32_t broker, BrokerAgent* agent, bool serviceModel);
    /// A link of the IP network beneath; only on the ground "routers".
    void AddUnderlayLink(uint32_t a, uint32_t b, const LinkParameters& link);
    /// The delays of the ground "matrix", row by row, in nanoseconds.
    void SetDelayMatrix(std::vector<int64_t> delays);

    bool HasLink(uint32_t a, uint32_t b) const;
    void Connect(uint32_t a, uint32_t b, const LinkParameters& link);
    void Disconnect(uint32_t a, uint32_t b);
    void SetLoss(uint32_t a, uint32_t b, double loss);
    void Crash(uint32_t broker);
    void Restart(uint32_t broker);
    /// A connection sent rubbish or died: close both ends; a link that died is connected again.
    void CloseLink(uint32_t a, uint32_t b, bool reconnect);

    BrokerApplication& App(uint32_t broker);
    BrokerApplication::SendResult SendDirect(
        uint32_t source, uint32_t target, bool udp, const uint8_t* frame, uint32_t size);
    const FlowBook& Book() const;
    /// Whether a capture could not be written, as on a full disk.
    bool CapturesFailed() const;

  private:
    using Pair = std::pair<uint32_t, uint32_t>;
    using Device = ns3::Ptr<ns3::PointToPointNetDevice>;

    /// Two devices and the channel between them.
    struct PhysicalLink
    {
        uint32_t number{0};
        std::array<uint32_t, 2> nodes{};
        std::array<Device, 2> devices;
        std::array<uint32_t, 2> interfaces{};
        ns3::Time quiet; ///< when the last packet of its former life is gone
        bool up{true};
    };

    /// A wanted connection between two brokers.
    struct OverlayLink
    {
        uint64_t attempt{0}; ///< tells its lives apart
        uint32_t ground{0};  ///< the physical link beneath, on the ground "links"
        ns3::Ipv4Address address;
    };

    static Pair Ordered(uint32_t a, uint32_t b);
    ns3::Ptr<ns3::Node> MakeNode();
    std::string NodeName(uint32_t node) const;
    PhysicalLink& MakePhysicalLink(uint32_t a, uint32_t b, const LinkParameters& parameters);
    Device MakeDevice(uint32_t node, const LinkParameters& parameters);
    uint32_t MakeInterface(uint32_t node,
                           ns3::Ptr<ns3::NetDevice> device,
                           ns3::Ipv4Address address);
    /// Find or make the physical link for an overlay link of its own.
    PhysicalLink& GroundFor(Pair pair, const LinkParameters& parameters);
    void RaiseGround(PhysicalLink& link, const LinkParameters& parameters);
    void CutGround(PhysicalLink& link);
    void ApplyLoss(PhysicalLink& link, double loss);
    ns3::Ptr<ns3::ErrorModel> MakeErrorModel(double loss);
    void Dial(Pair pair);
    void HangUp(Pair pair);
    void Capture(ns3::Ptr<ns3::NetDevice> device, const std::string& name);
    void CaptureLink(const PhysicalLink& link, const std::string& suffix);
    bool IsCaptured(uint32_t node, uint32_t neighbor) const;
    void WatchDrops(ns3::Ptr<ns3::NetDevice> device);
    void OnDatagramDropped(ns3::Ptr<const ns3::Packet> packet);
    void OnIpDrop(const ns3::Ipv4Header& header,
                  ns3::Ptr<const ns3::Packet> packet,
                  ns3::Ipv4L3Protocol::DropReason reason,
                  ns3::Ptr<ns3::Ipv4> ipv4,
                  uint32_t interface);

    Settings m_settings;
    bool m_queueDiscs{false};
    FlowBook m_book;
    ns3::Ptr<NextHopTable> m_routes;
    std::vector<ns3::Ptr<ns3::Node>> m_nodes;
    std::vector<ns3::Ptr<BrokerApplication>> m_apps;
    ns3::Ptr<MatrixChannel> m_matrix;
    std::vector<PhysicalLink> m_physical;
    std::map<Pair, std::vector<uint32_t>> m_ground; ///< physical links made for an overlay link
    std::map<Pair, OverlayLink> m_links;
    uint64_t m_attempts{0};
    int64_t m_errorStreams{0};
    std::set<uint64_t> m_droppedDatagrams;
    std::vector<ns3::Ptr<ns3::PcapFileWrapper>> m_captures;
};

} // namespace pysim

#endif
