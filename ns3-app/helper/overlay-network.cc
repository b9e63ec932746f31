#include "overlay-network.h"

#include "../model/address-plan.h"
#include "../model/datagram-tag.h"
#include "tcp-profile.h"

#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/double.h"
#include "ns3/drop-tail-queue.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-l3-protocol.h"
#include "ns3/ipv4-routing-helper.h"
#include "ns3/net-device-queue-interface.h"
#include "ns3/point-to-point-channel.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/traffic-control-helper.h"
#include "ns3/traffic-control-layer.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>

using namespace ns3;

namespace pysim
{

namespace
{

constexpr uint32_t DATA_LINK_PPP = 9;
constexpr uint32_t LONGEST_PACKET = 1502;

/// Gives every node a NextHopRouting over the same table.
class NextHopRoutingHelper : public Ipv4RoutingHelper
{
  public:
    NextHopRoutingHelper(Ptr<NextHopTable> table, uint32_t node)
        : m_table(table),
          m_node(node)
    {
    }

    Ipv4RoutingHelper* Copy() const override
    {
        return new NextHopRoutingHelper(*this);
    }

    Ptr<Ipv4RoutingProtocol> Create(Ptr<Node> node) const override
    {
        auto routing = CreateObject<NextHopRouting>();
        routing->SetTable(m_table, m_node);
        return routing;
    }

  private:
    Ptr<NextHopTable> m_table;
    uint32_t m_node;
};

/// A cut cable: nothing that was in flight arrives.
class CutErrorModel : public ErrorModel
{
    bool DoCorrupt(Ptr<Packet> packet) override
    {
        return true;
    }

    void DoReset() override
    {
    }
};

void
WritePacket(Ptr<PcapFileWrapper> file, Ptr<const Packet> packet)
{
    if (!file->Fail()) // on a full disk ns-3 would end the process; we report it and stop
    {
        file->Write(Simulator::Now(), packet);
    }
}

} // namespace

OverlayNetwork::OverlayNetwork(const Settings& settings)
    : m_settings(settings),
      m_routes(Create<NextHopTable>(settings.ground == "matrix"))
{
    m_queueDiscs = ApplyTcpProfile(settings.tcp, settings.capturePolicy != "none");
    Config::SetGlobal("SimulatorImplementationType",
                      StringValue("pysim::InterruptibleSimulatorImpl"));
    RngSeedManager::SetSeed(1 + settings.seed % 0x7fffffff); // ns-3 takes no zero
    RngSeedManager::SetRun(1);
    RngSeedManager::ResetNextStreamIndex();
    if (settings.tcp != "stock")
    {
        Simulator::SetScheduler(ObjectFactory("ns3::PriorityQueueScheduler"));
    }
    for (uint32_t node = 0; node < settings.brokers + settings.routers; node++)
    {
        m_nodes.push_back(MakeNode());
    }
    for (uint32_t broker = 0; broker < settings.brokers; broker++)
    {
        auto app = CreateObject<BrokerApplication>();
        app->SetAttribute("Broker", UintegerValue(broker));
        app->SetAttribute("MaxFrameSize", UintegerValue(settings.maxFrame));
        m_nodes[broker]->AddApplication(app);
        m_apps.push_back(app);
    }
}

OverlayNetwork::~OverlayNetwork()
{
    Simulator::Destroy();
}

Ptr<Node>
OverlayNetwork::MakeNode()
{
    const uint32_t number = m_nodes.size();
    m_routes->AddNode();
    auto node = CreateObject<Node>();
    InternetStackHelper stack;
    stack.SetIpv6StackInstall(m_queueDiscs);
    stack.SetRoutingHelper(NextHopRoutingHelper(m_routes, number));
    stack.Install(node);
    auto ipv4 = node->GetObject<Ipv4L3Protocol>();
    ipv4->TraceConnectWithoutContext("Drop", MakeCallback(&OverlayNetwork::OnIpDrop, this));
    if (m_settings.ground != "matrix")
    {
        ipv4->AddAddress(0, Ipv4InterfaceAddress(plan::NodeAddress(number), Ipv4Mask::GetOnes()));
    }
    return node;
}

void
OverlayNetwork::AttachAgent(uint32_t broker, BrokerAgent* agent, bool serviceModel)
{
    auto app = m_apps[broker];
    app->SetAttribute("ServiceModel", BooleanValue(serviceModel));
    app->Setup(
        agent,
        &m_book,
        [this](Ipv4Address address) { return m_routes->Owner(address); },
        [this, broker](uint32_t neighbor, bool malformed) {
            CloseLink(broker, neighbor, !malformed);
        });
}

OverlayNetwork::Pair
OverlayNetwork::Ordered(uint32_t a, uint32_t b)
{
    return {std::min(a, b), std::max(a, b)};
}

std::string
OverlayNetwork::NodeName(uint32_t node) const
{
    return node < m_settings.brokers ? "b" + std::to_string(node)
                                     : "r" + std::to_string(node - m_settings.brokers);
}

// The ground -------------------------------------------------------------------------------------

OverlayNetwork::Device
OverlayNetwork::MakeDevice(uint32_t node, const LinkParameters& parameters)
{
    auto device = CreateObject<PointToPointNetDevice>();
    device->SetAddress(Mac48Address::Allocate());
    device->SetDataRate(DataRate(parameters.rate));
    auto queue = CreateObject<DropTailQueue<Packet>>();
    queue->SetMaxSize(QueueSize(QueueSizeUnit::PACKETS, parameters.queue));
    device->SetQueue(queue);
    m_nodes[node]->AddDevice(device);
    WatchDrops(device);
    if (m_queueDiscs)
    {
        auto interface = CreateObject<NetDeviceQueueInterface>();
        interface->GetTxQueue(0)->ConnectQueueTraces(queue);
        device->AggregateObject(interface);
    }
    return device;
}

uint32_t
OverlayNetwork::MakeInterface(uint32_t node, Ptr<NetDevice> device, Ipv4Address address)
{
    auto ipv4 = m_nodes[node]->GetObject<Ipv4>();
    const uint32_t interface = ipv4->AddInterface(device);
    ipv4->AddAddress(interface, Ipv4InterfaceAddress(address, Ipv4Mask("/30")));
    ipv4->SetMetric(interface, 1);
    ipv4->SetUp(interface);
    if (m_queueDiscs)
    {
        auto discs = TrafficControlHelper::Default().Install(device);
        m_nodes[node]->GetObject<TrafficControlLayer>()->ScanDevices();
        discs.Get(0)->Initialize();
    }
    return interface;
}

OverlayNetwork::PhysicalLink&
OverlayNetwork::MakePhysicalLink(uint32_t a, uint32_t b, const LinkParameters& parameters)
{
    PhysicalLink link;
    link.number = m_physical.size();
    link.nodes = {a, b};
    auto channel = CreateObject<PointToPointChannel>();
    channel->SetAttribute("Delay", TimeValue(NanoSeconds(parameters.delay)));
    for (uint32_t side : {0, 1})
    {
        link.devices[side] = MakeDevice(link.nodes[side], parameters);
        link.devices[side]->Attach(channel);
    }
    for (uint32_t side : {0, 1})
    {
        link.interfaces[side] = MakeInterface(
            link.nodes[side], link.devices[side], plan::LinkAddress(link.number, side));
    }
    m_routes->AddLink(link.nodes, link.interfaces, parameters.delay);
    m_physical.push_back(link);
    return m_physical.back();
}

void
OverlayNetwork::AddUnderlayLink(uint32_t a, uint32_t b, const LinkParameters& parameters)
{
    PhysicalLink& link = MakePhysicalLink(a, b, parameters);
    ApplyLoss(link, parameters.loss);
    CaptureLink(link, "");
}

void
OverlayNetwork::SetDelayMatrix(std::vector<int64_t> delays)
{
    m_matrix = CreateObject<MatrixChannel>();
    m_matrix->SetDelays(std::move(delays), m_settings.brokers);
    for (uint32_t host = 0; host < m_settings.brokers; host++)
    {
        auto queue = CreateObject<DropTailQueue<Packet>>();
        queue->SetMaxSize(QueueSize(QueueSizeUnit::PACKETS, m_settings.access.queue));
        auto device = CreateObject<MatrixNetDevice>();
        device->SetHost(host, DataRate(m_settings.access.rate), queue);
        device->SetReceiveErrorModel(MakeErrorModel(m_settings.access.loss));
        m_nodes[host]->AddDevice(device);
        device->AttachTo(m_matrix);
        WatchDrops(device);
        MakeInterface(host, device, plan::NodeAddress(host));
        if (m_settings.capturePolicy == "both" || m_settings.capturePolicy == "one")
        {
            Capture(device, NodeName(host) + ".pcap");
        }
    }
}

OverlayNetwork::PhysicalLink&
OverlayNetwork::GroundFor(Pair pair, const LinkParameters& parameters)
{
    auto& made = m_ground[pair];
    for (uint32_t number : made)
    {
        PhysicalLink& link = m_physical[number];
        if (!link.up && link.quiet < Simulator::Now())
        {
            RaiseGround(link, parameters);
            return link;
        }
    }
    PhysicalLink& link = MakePhysicalLink(pair.first, pair.second, parameters);
    made.push_back(link.number);
    ApplyLoss(link, parameters.loss);
    CaptureLink(link, made.size() == 1 ? "" : "." + std::to_string(made.size()));
    return link;
}

void
OverlayNetwork::RaiseGround(PhysicalLink& link, const LinkParameters& parameters)
{
    link.up = true;
    for (uint32_t side : {0, 1})
    {
        Device device = link.devices[side];
        device->SetDataRate(DataRate(parameters.rate));
        device->GetChannel()->SetAttribute("Delay", TimeValue(NanoSeconds(parameters.delay)));
        device->GetQueue()->SetMaxSize(QueueSize(QueueSizeUnit::PACKETS, parameters.queue));
        m_nodes[link.nodes[side]]->GetObject<Ipv4>()->SetUp(link.interfaces[side]);
    }
    ApplyLoss(link, parameters.loss);
    m_routes->SetLinkUp(link.number, true, parameters.delay);
}

void
OverlayNetwork::CutGround(PhysicalLink& link)
{
    link.up = false;
    m_routes->SetLinkUp(link.number, false, 0);
    TimeValue delay;
    link.devices[0]->GetChannel()->GetAttribute("Delay", delay);
    DataRateValue rate;
    link.devices[0]->GetAttribute("DataRate", rate);
    link.quiet = Simulator::Now() + delay.Get() + rate.Get().CalculateBytesTxTime(LONGEST_PACKET);
    for (uint32_t side : {0, 1})
    {
        Device device = link.devices[side];
        m_nodes[link.nodes[side]]->GetObject<Ipv4>()->SetDown(link.interfaces[side]);
        device->SetReceiveErrorModel(CreateObject<CutErrorModel>());
        while (Ptr<Packet> packet = device->GetQueue()->Dequeue())
        {
            OnDatagramDropped(packet);
        }
    }
}

Ptr<ErrorModel>
OverlayNetwork::MakeErrorModel(double loss)
{
    if (loss == 0)
    {
        return nullptr;
    }
    auto model = CreateObject<RateErrorModel>();
    model->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
    model->SetRate(loss);
    model->AssignStreams(m_errorStreams++);
    return model;
}

void
OverlayNetwork::ApplyLoss(PhysicalLink& link, double loss)
{
    for (auto& device : link.devices)
    {
        device->SetReceiveErrorModel(MakeErrorModel(loss));
    }
}

// Overlay links ----------------------------------------------------------------------------------

bool
OverlayNetwork::HasLink(uint32_t a, uint32_t b) const
{
    return m_links.count(Ordered(a, b)) > 0;
}

void
OverlayNetwork::Connect(uint32_t a, uint32_t b, const LinkParameters& parameters)
{
    const Pair pair = Ordered(a, b);
    OverlayLink& link = m_links[pair];
    link.address = plan::NodeAddress(pair.second);
    if (m_settings.ground == "links")
    {
        link.ground = GroundFor(pair, parameters).number;
        link.address = plan::LinkAddress(link.ground, 1);
    }
    Dial(pair);
}

void
OverlayNetwork::Dial(Pair pair)
{
    const uint64_t attempt = m_links[pair].attempt = ++m_attempts;
    // As an event of the caller's node: ns-3 cannot send before the simulation runs.
    Simulator::ScheduleWithContext(m_nodes[pair.first]->GetId(), Time(0), [this, pair, attempt]() {
        auto found = m_links.find(pair);
        if (found == m_links.end() || found->second.attempt != attempt)
        {
            return; // cut before it was dialled
        }
        m_apps[pair.second]->AwaitLink(pair.first);
        m_apps[pair.first]->OpenLink(pair.second,
                                     InetSocketAddress(found->second.address, plan::OVERLAY_PORT));
    });
}

void
OverlayNetwork::Disconnect(uint32_t a, uint32_t b)
{
    const Pair pair = Ordered(a, b);
    const OverlayLink link = m_links.at(pair);
    m_links.erase(pair);
    if (m_settings.ground == "links")
    {
        CutGround(m_physical[link.ground]);
    }
    HangUp(pair);
}

void
OverlayNetwork::HangUp(Pair pair)
{
    const bool firstKnew = m_apps[pair.first]->CutLink(pair.second);
    const bool secondKnew = m_apps[pair.second]->CutLink(pair.first);
    if (firstKnew)
    {
        m_apps[pair.first]->AnnounceLinkDown(pair.second);
    }
    if (secondKnew)
    {
        m_apps[pair.second]->AnnounceLinkDown(pair.first);
    }
}

void
OverlayNetwork::CloseLink(uint32_t a, uint32_t b, bool reconnect)
{
    const Pair pair = Ordered(a, b);
    auto found = m_links.find(pair);
    if (found == m_links.end())
    {
        return;
    }
    // Later, as an event: the socket that reports its failure is still at work.
    const uint64_t attempt = found->second.attempt;
    Simulator::ScheduleNow([this, pair, attempt, reconnect]() {
        auto found = m_links.find(pair);
        if (found == m_links.end() || found->second.attempt != attempt)
        {
            return;
        }
        if (reconnect)
        {
            HangUp(pair);
            Dial(pair);
        }
        else
        {
            Disconnect(pair.first, pair.second);
        }
    });
}

void
OverlayNetwork::SetLoss(uint32_t a, uint32_t b, double loss)
{
    ApplyLoss(m_physical[m_links.at(Ordered(a, b)).ground], loss);
}

void
OverlayNetwork::Crash(uint32_t broker)
{
    std::vector<Pair> links;
    for (const auto& [pair, link] : m_links)
    {
        if (pair.first == broker || pair.second == broker)
        {
            links.push_back(pair);
        }
    }
    m_apps[broker]->Crash();
    for (Pair pair : links)
    {
        Disconnect(pair.first, pair.second);
    }
    for (auto& app : m_apps)
    {
        app->ForgetDirect(broker);
    }
}

void
OverlayNetwork::Restart(uint32_t broker)
{
    m_apps[broker]->Restart();
}

BrokerApplication&
OverlayNetwork::App(uint32_t broker)
{
    return *m_apps[broker];
}

BrokerApplication::SendResult
OverlayNetwork::SendDirect(
    uint32_t source, uint32_t target, bool udp, const uint8_t* frame, uint32_t size)
{
    return m_apps[source]->SendDirect(target, plan::NodeAddress(target), udp, frame, size);
}

const FlowBook&
OverlayNetwork::Book() const
{
    return m_book;
}

// Captures and drops -----------------------------------------------------------------------------

bool
OverlayNetwork::IsCaptured(uint32_t node, uint32_t neighbor) const
{
    const std::string& policy = m_settings.capturePolicy;
    if (policy == "chosen")
    {
        const auto& chosen = m_settings.captured;
        return std::any_of(chosen.begin(), chosen.end(), [&](const auto& link) {
            return Ordered(link.first, link.second) == Ordered(node, neighbor);
        });
    }
    return policy == "both" || (policy == "one" && node < neighbor);
}

void
OverlayNetwork::CaptureLink(const PhysicalLink& link, const std::string& suffix)
{
    for (uint32_t side : {0, 1})
    {
        const uint32_t node = link.nodes[side];
        const uint32_t neighbor = link.nodes[1 - side];
        if (IsCaptured(node, neighbor))
        {
            Capture(link.devices[side],
                    NodeName(node) + "-" + NodeName(neighbor) + suffix + ".pcap");
        }
    }
}

void
OverlayNetwork::Capture(Ptr<NetDevice> device, const std::string& name)
{
    const std::string path = m_settings.captureDirectory + "/" + name;
    auto file = CreateObject<PcapFileWrapper>();
    errno = 0;
    file->Open(path, std::ios::out | std::ios::binary);
    file->Init(DATA_LINK_PPP);
    if (file->Fail())
    {
        throw std::runtime_error("cannot write the capture " + path + ": " + std::strerror(errno));
    }
    device->TraceConnectWithoutContext("PromiscSniffer", MakeBoundCallback(&WritePacket, file));
    m_captures.push_back(file);
}

bool
OverlayNetwork::CapturesFailed() const
{
    return std::any_of(
        m_captures.begin(), m_captures.end(), [](const auto& file) { return file->Fail(); });
}

void
OverlayNetwork::WatchDrops(Ptr<NetDevice> device)
{
    auto callback = MakeCallback(&OverlayNetwork::OnDatagramDropped, this);
    device->TraceConnectWithoutContext("MacTxDrop", callback);
    device->TraceConnectWithoutContext("PhyRxDrop", callback);
}

void
OverlayNetwork::OnDatagramDropped(Ptr<const Packet> packet)
{
    DatagramTag tag;
    // A datagram may have travelled in fragments: it is lost once.
    if (packet->PeekPacketTag(tag) && m_droppedDatagrams.insert(tag.serial).second)
    {
        m_book.Find(tag.source, tag.target, ChannelKind::UDP).Count(tag.type).lostPacket++;
    }
}

void
OverlayNetwork::OnIpDrop(const Ipv4Header& header,
                         Ptr<const Packet> packet,
                         Ipv4L3Protocol::DropReason reason,
                         Ptr<Ipv4> ipv4,
                         uint32_t interface)
{
    OnDatagramDropped(packet);
}

} // namespace pysim
