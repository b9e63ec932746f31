#include "matrix-net-device.h"

#include "address-plan.h"

#include "ns3/ipv4-header.h"
#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/packet.h"
#include "ns3/ppp-header.h"
#include "ns3/simulator.h"

using namespace ns3;

namespace pysim
{

NS_LOG_COMPONENT_DEFINE("PysimMatrixNetDevice");
NS_OBJECT_ENSURE_REGISTERED(MatrixChannel);
NS_OBJECT_ENSURE_REGISTERED(MatrixNetDevice);

namespace
{

constexpr uint16_t ETHER_IPV4 = 0x0800;
constexpr uint16_t PPP_IPV4 = 0x0021;

} // namespace

TypeId
MatrixChannel::GetTypeId()
{
    static TypeId tid = TypeId("pysim::MatrixChannel")
                            .SetParent<Channel>()
                            .SetGroupName("pysim")
                            .AddConstructor<MatrixChannel>();
    return tid;
}

void
MatrixChannel::SetDelays(std::vector<int64_t> delays, uint32_t hosts)
{
    m_delays = std::move(delays);
    m_hosts = hosts;
}

void
MatrixChannel::Attach(Ptr<MatrixNetDevice> device)
{
    m_devices.push_back(device);
}

void
MatrixChannel::Transmit(Ptr<Packet> packet, uint32_t from, uint32_t to, Time duration)
{
    const Time delay = NanoSeconds(m_delays[std::size_t(from) * m_hosts + to]);
    Ptr<MatrixNetDevice> device = m_devices[to];
    Simulator::ScheduleWithContext(device->GetNode()->GetId(),
                                   duration + delay,
                                   &MatrixNetDevice::Receive,
                                   device,
                                   packet->Copy());
}

std::size_t
MatrixChannel::GetNDevices() const
{
    return m_devices.size();
}

Ptr<NetDevice>
MatrixChannel::GetDevice(std::size_t i) const
{
    return m_devices[i];
}

TypeId
MatrixNetDevice::GetTypeId()
{
    static TypeId tid =
        TypeId("pysim::MatrixNetDevice")
            .SetParent<NetDevice>()
            .SetGroupName("pysim")
            .AddConstructor<MatrixNetDevice>()
            .AddTraceSource("PromiscSniffer",
                            "A packet begins to leave, or has fully arrived.",
                            MakeTraceSourceAccessor(&MatrixNetDevice::m_snifferTrace),
                            "ns3::Packet::TracedCallback")
            .AddTraceSource("MacTxDrop",
                            "The queue had no room for a packet.",
                            MakeTraceSourceAccessor(&MatrixNetDevice::m_txDropTrace),
                            "ns3::Packet::TracedCallback")
            .AddTraceSource("PhyRxDrop",
                            "The error model took a packet.",
                            MakeTraceSourceAccessor(&MatrixNetDevice::m_rxDropTrace),
                            "ns3::Packet::TracedCallback");
    return tid;
}

void
MatrixNetDevice::SetHost(uint32_t host, DataRate rate, Ptr<Queue<Packet>> queue)
{
    m_host = host;
    m_rate = rate;
    m_queue = queue;
}

void
MatrixNetDevice::SetReceiveErrorModel(Ptr<ErrorModel> model)
{
    m_errorModel = model;
}

void
MatrixNetDevice::AttachTo(Ptr<MatrixChannel> channel)
{
    m_channel = channel;
    channel->Attach(this);
}

bool
MatrixNetDevice::Send(Ptr<Packet> packet, const Address& dest, uint16_t protocol)
{
    if (protocol != ETHER_IPV4)
    {
        m_txDropTrace(packet);
        return false;
    }
    PppHeader ppp;
    ppp.SetProtocol(PPP_IPV4);
    packet->AddHeader(ppp);
    if (!m_queue->Enqueue(packet))
    {
        m_txDropTrace(packet);
        return false;
    }
    if (!m_busy)
    {
        TransmitNext();
    }
    return true;
}

void
MatrixNetDevice::TransmitNext()
{
    Ptr<Packet> packet = m_queue->Dequeue();
    m_busy = packet != nullptr;
    if (!m_busy)
    {
        return;
    }
    m_snifferTrace(packet);
    PppHeader ppp;
    Ipv4Header ip;
    packet->RemoveHeader(ppp);
    packet->PeekHeader(ip);
    packet->AddHeader(ppp);
    const Time duration = m_rate.CalculateBytesTxTime(packet->GetSize());
    m_channel->Transmit(packet, m_host, plan::NodeOf(ip.GetDestination()), duration);
    Simulator::Schedule(duration, &MatrixNetDevice::TransmitNext, this);
}

void
MatrixNetDevice::Receive(Ptr<Packet> packet)
{
    if (m_errorModel && m_errorModel->IsCorrupt(packet))
    {
        m_rxDropTrace(packet);
        return;
    }
    m_snifferTrace(packet);
    PppHeader ppp;
    packet->RemoveHeader(ppp);
    m_receive(this, packet, ETHER_IPV4, GetBroadcast());
}

void
MatrixNetDevice::DoDispose()
{
    m_node = nullptr;
    m_channel = nullptr;
    m_queue = nullptr;
    m_errorModel = nullptr;
    m_receive = NetDevice::ReceiveCallback();
    NetDevice::DoDispose();
}

void
MatrixNetDevice::SetIfIndex(const uint32_t index)
{
    m_ifIndex = index;
}

uint32_t
MatrixNetDevice::GetIfIndex() const
{
    return m_ifIndex;
}

Ptr<Channel>
MatrixNetDevice::GetChannel() const
{
    return m_channel;
}

void
MatrixNetDevice::SetAddress(Address address)
{
    m_address = Mac48Address::ConvertFrom(address);
}

Address
MatrixNetDevice::GetAddress() const
{
    return m_address;
}

bool
MatrixNetDevice::SetMtu(const uint16_t mtu)
{
    return mtu == MTU;
}

uint16_t
MatrixNetDevice::GetMtu() const
{
    return MTU;
}

bool
MatrixNetDevice::IsLinkUp() const
{
    return true;
}

void
MatrixNetDevice::AddLinkChangeCallback(Callback<void> callback)
{
}

bool
MatrixNetDevice::IsBroadcast() const
{
    return false;
}

Address
MatrixNetDevice::GetBroadcast() const
{
    return Mac48Address::GetBroadcast();
}

bool
MatrixNetDevice::IsMulticast() const
{
    return false;
}

Address
MatrixNetDevice::GetMulticast(Ipv4Address group) const
{
    return Mac48Address::GetMulticast(group);
}

Address
MatrixNetDevice::GetMulticast(Ipv6Address group) const
{
    return Mac48Address::GetMulticast(group);
}

bool
MatrixNetDevice::IsBridge() const
{
    return false;
}

bool
MatrixNetDevice::IsPointToPoint() const
{
    return false;
}

bool
MatrixNetDevice::SendFrom(Ptr<Packet> packet,
                          const Address& source,
                          const Address& dest,
                          uint16_t protocol)
{
    return Send(packet, dest, protocol);
}

Ptr<Node>
MatrixNetDevice::GetNode() const
{
    return m_node;
}

void
MatrixNetDevice::SetNode(Ptr<Node> node)
{
    m_node = node;
}

bool
MatrixNetDevice::NeedsArp() const
{
    return false;
}

void
MatrixNetDevice::SetReceiveCallback(NetDevice::ReceiveCallback callback)
{
    m_receive = callback;
}

void
MatrixNetDevice::SetPromiscReceiveCallback(NetDevice::PromiscReceiveCallback callback)
{
}

bool
MatrixNetDevice::SupportsSendFrom() const
{
    return true;
}

} // namespace pysim
