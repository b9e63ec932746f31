#include "broker-application.h"

#include "address-plan.h"
#include "datagram-tag.h"
#include "tcp-mending.h"

#include "ns3/boolean.h"
#include "ns3/log.h"
#include "ns3/packet.h"
#include "ns3/simulator.h"
#include "ns3/tcp-socket-factory.h"
#include "ns3/trace-source-accessor.h"
#include "ns3/udp-socket-factory.h"
#include "ns3/uinteger.h"

using namespace ns3;

namespace pysim
{

NS_LOG_COMPONENT_DEFINE("PysimBrokerApplication");
NS_OBJECT_ENSURE_REGISTERED(BrokerApplication);

namespace
{

void
Unhook(Ptr<Socket> socket)
{
    socket->SetConnectCallback(MakeNullCallback<void, Ptr<Socket>>(),
                               MakeNullCallback<void, Ptr<Socket>>());
    socket->SetCloseCallbacks(MakeNullCallback<void, Ptr<Socket>>(),
                              MakeNullCallback<void, Ptr<Socket>>());
    socket->SetRecvCallback(MakeNullCallback<void, Ptr<Socket>>());
    socket->SetSendCallback(MakeNullCallback<void, Ptr<Socket>, uint32_t>());
}

} // namespace

TypeId
BrokerApplication::GetTypeId()
{
    static TypeId tid =
        TypeId("pysim::BrokerApplication")
            .SetParent<Application>()
            .SetGroupName("pysim")
            .AddConstructor<BrokerApplication>()
            .AddAttribute("Broker",
                          "The broker's number.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&BrokerApplication::m_broker),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute("MaxFrameSize",
                          "The longest frame that is sent or taken, in bytes.",
                          UintegerValue(1 << 20),
                          MakeUintegerAccessor(&BrokerApplication::m_maxFrame),
                          MakeUintegerChecker<uint32_t>(FrameHeader::SIZE))
            .AddAttribute("ServiceModel",
                          "Whether input passes a queue with one server.",
                          BooleanValue(false),
                          MakeBooleanAccessor(&BrokerApplication::m_serviceModel),
                          MakeBooleanChecker())
            .AddTraceSource("FrameSent",
                            "The agent handed over a frame: source, target, type, size.",
                            MakeTraceSourceAccessor(&BrokerApplication::m_sentTrace),
                            "pysim::BrokerApplication::FrameCallback")
            .AddTraceSource("FrameReceived",
                            "A whole frame reached the agent: source, target, type, size.",
                            MakeTraceSourceAccessor(&BrokerApplication::m_receivedTrace),
                            "pysim::BrokerApplication::FrameCallback")
            .AddTraceSource("LinkChange",
                            "An overlay link came up or went down: broker, neighbor, up.",
                            MakeTraceSourceAccessor(&BrokerApplication::m_linkTrace),
                            "pysim::BrokerApplication::LinkCallback")
            .AddTraceSource("QueueLength",
                            "Frames that wait for the server.",
                            MakeTraceSourceAccessor(&BrokerApplication::m_queueLength),
                            "ns3::TracedValueCallback::Uint32");
    return tid;
}

BrokerApplication::BrokerApplication() = default;
BrokerApplication::~BrokerApplication() = default;

void
BrokerApplication::Setup(BrokerAgent* agent, FlowBook* book, Resolver resolver, LinkFailure failure)
{
    m_agent = agent;
    m_book = book;
    m_resolver = std::move(resolver);
    m_failure = std::move(failure);
}

uint32_t
BrokerApplication::GetBroker() const
{
    return m_broker;
}

void
BrokerApplication::DoDispose()
{
    for (auto& [serial, connection] : m_connections)
    {
        Unhook(connection->socket);
        connection->socket = nullptr;
    }
    m_connections.clear();
    m_links.clear();
    m_directOut.clear();
    for (auto& listener : {m_linkListener, m_directListener, m_udp})
    {
        if (listener)
        {
            listener->SetRecvCallback(MakeNullCallback<void, Ptr<Socket>>());
            listener->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address&>(),
                                        MakeNullCallback<void, Ptr<Socket>, const Address&>());
        }
    }
    m_linkListener = m_directListener = m_udp = nullptr;
    m_inputs.clear();
    m_outputs.clear();
    m_serviceEnd.Cancel();
    m_resolver = nullptr;
    m_failure = nullptr;
    Application::DoDispose();
}

void
BrokerApplication::StartApplication()
{
    m_linkListener = Listen(plan::OVERLAY_PORT);
    m_linkListener->SetAcceptCallback(MakeCallback(&BrokerApplication::OnRequest, this),
                                      MakeCallback(&BrokerApplication::OnAcceptLink, this));
    m_directListener = Listen(plan::DIRECT_PORT);
    m_directListener->SetAcceptCallback(MakeCallback(&BrokerApplication::OnRequest, this),
                                        MakeCallback(&BrokerApplication::OnAcceptDirect, this));
    m_udp = Socket::CreateSocket(GetNode(), UdpSocketFactory::GetTypeId());
    m_udp->Bind(InetSocketAddress(Ipv4Address::GetAny(), plan::DIRECT_PORT));
    m_udp->SetRecvCallback(MakeCallback(&BrokerApplication::OnDatagram, this));
}

void
BrokerApplication::StopApplication()
{
}

Ptr<Socket>
BrokerApplication::Listen(uint16_t port)
{
    auto socket = Socket::CreateSocket(GetNode(), TcpSocketFactory::GetTypeId());
    socket->Bind(InetSocketAddress(Ipv4Address::GetAny(), port));
    socket->Listen();
    return socket;
}

// Connections ------------------------------------------------------------------------------------

BrokerApplication::ConnectionPtr
BrokerApplication::MakeLink(uint32_t neighbor)
{
    auto connection = std::make_shared<Connection>();
    connection->peer = neighbor;
    connection->outgoing = &m_book->Find(m_broker, neighbor, ChannelKind::LINK);
    connection->incoming = &m_book->Find(neighbor, m_broker, ChannelKind::LINK);
    m_links[neighbor] = connection;
    return connection;
}

BrokerApplication::ConnectionPtr
BrokerApplication::MakeDirect(uint32_t broker, bool outgoing)
{
    auto connection = std::make_shared<Connection>();
    connection->peer = broker;
    connection->overlay = false;
    if (outgoing)
    {
        connection->outgoing = &m_book->Find(m_broker, broker, ChannelKind::TCP);
    }
    else
    {
        connection->incoming = &m_book->Find(broker, m_broker, ChannelKind::TCP);
    }
    return connection;
}

void
BrokerApplication::OpenLink(uint32_t neighbor, InetSocketAddress remote)
{
    Connect(MakeLink(neighbor), remote);
}

void
BrokerApplication::AwaitLink(uint32_t neighbor)
{
    MakeLink(neighbor);
}

bool
BrokerApplication::Connect(ConnectionPtr connection, InetSocketAddress remote)
{
    auto socket = Socket::CreateSocket(GetNode(), TcpSocketFactory::GetTypeId());
    socket->Bind();
    socket->SetConnectCallback(MakeCallback(&BrokerApplication::OnConnected, this, connection),
                               MakeCallback(&BrokerApplication::OnFailed, this, connection));
    Attach(connection, socket);
    return socket->Connect(remote) == 0;
}

void
BrokerApplication::Attach(ConnectionPtr connection, Ptr<Socket> socket)
{
    MendTcp(socket);
    connection->socket = socket;
    connection->serial = ++m_serial;
    m_connections[connection->serial] = connection;
}

Ptr<Socket>
BrokerApplication::Detach(const ConnectionPtr& connection)
{
    connection->open = false;
    connection->unsent.clear();
    connection->received.clear();
    if (connection->outgoing)
    {
        connection->outgoing->LoseUnderWay();
    }
    Ptr<Socket> socket = connection->socket;
    if (socket)
    {
        Unhook(socket);
        m_connections.erase(connection->serial);
        connection->socket = nullptr;
    }
    return socket;
}

void
BrokerApplication::Abort(const ConnectionPtr& connection)
{
    if (Ptr<Socket> socket = Detach(connection))
    {
        AbortTcp(socket);
    }
}

void
BrokerApplication::Adopt(ConnectionPtr connection, Ptr<Socket> socket)
{
    Attach(connection, socket);
    Established(connection);
}

void
BrokerApplication::Established(ConnectionPtr connection)
{
    auto socket = connection->socket;
    socket->SetRecvCallback(MakeCallback(&BrokerApplication::OnReadable, this, connection));
    socket->SetSendCallback(MakeCallback(&BrokerApplication::OnWritable, this, connection));
    socket->SetCloseCallbacks(MakeCallback(&BrokerApplication::OnFailed, this, connection),
                              MakeCallback(&BrokerApplication::OnFailed, this, connection));
    connection->established = true;
    if (connection->overlay)
    {
        connection->announced = true;
        m_linkTrace(m_broker, connection->peer, true);
        m_agent->LinkUp(connection->peer);
    }
    else
    {
        OnWritable(connection, socket, socket->GetTxAvailable());
    }
}

bool
BrokerApplication::CutLink(uint32_t neighbor)
{
    auto found = m_links.find(neighbor);
    if (found == m_links.end())
    {
        return false;
    }
    ConnectionPtr connection = found->second;
    m_links.erase(found);
    Abort(connection);
    // After the link is down its agent hears nothing of its past.
    std::erase_if(m_inputs, [&](const Input& input) { return input.flow == connection->incoming; });
    m_queueLength = m_inputs.size();
    return connection->announced;
}

void
BrokerApplication::AnnounceLinkDown(uint32_t neighbor)
{
    m_linkTrace(m_broker, neighbor, false);
    m_agent->LinkDown(neighbor);
}

bool
BrokerApplication::OnRequest(Ptr<Socket> socket, const Address& from)
{
    return m_up;
}

void
BrokerApplication::OnAcceptLink(Ptr<Socket> socket, const Address& from)
{
    const uint32_t peer = m_resolver(InetSocketAddress::ConvertFrom(from).GetIpv4());
    auto found = m_links.find(peer);
    if (found == m_links.end() || found->second->socket)
    {
        Unhook(socket); // the connection of a link that was cut while it was being made
        AbortTcp(socket);
        return;
    }
    Adopt(found->second, socket);
}

void
BrokerApplication::OnAcceptDirect(Ptr<Socket> socket, const Address& from)
{
    const uint32_t peer = m_resolver(InetSocketAddress::ConvertFrom(from).GetIpv4());
    Adopt(MakeDirect(peer, false), socket);
}

void
BrokerApplication::OnConnected(ConnectionPtr connection, Ptr<Socket> socket)
{
    Established(connection);
}

void
BrokerApplication::OnFailed(ConnectionPtr connection, Ptr<Socket> socket)
{
    Fail(connection, false);
}

void
BrokerApplication::Reject(const ConnectionPtr& connection)
{
    m_malformed++;
    connection->socket->SetRecvCallback(MakeNullCallback<void, Ptr<Socket>>());
    Fail(connection, true);
}

void
BrokerApplication::Fail(const ConnectionPtr& connection, bool malformed)
{
    if (connection->overlay)
    {
        m_failure(connection->peer, malformed); // the network closes both ends
        return;
    }
    Detach(connection);
    auto found = m_directOut.find(connection->peer);
    if (found != m_directOut.end() && found->second == connection)
    {
        m_directOut.erase(found);
    }
}

// Input ------------------------------------------------------------------------------------------

bool
BrokerApplication::IsWhole(const uint8_t* frame, uint32_t size) const
{
    return size >= FrameHeader::SIZE && size <= m_maxFrame && FrameHeader::Number(frame) == size;
}

void
BrokerApplication::OnReadable(ConnectionPtr connection, Ptr<Socket> socket)
{
    while (connection->open)
    {
        Ptr<Packet> packet = socket->Recv();
        if (!packet || packet->GetSize() == 0)
        {
            return;
        }
        // An upcall may come back here for another connection, so the buffer is taken, not shared.
        std::string data = std::move(m_scratch);
        data.resize(packet->GetSize());
        packet->CopyData(reinterpret_cast<uint8_t*>(data.data()), data.size());
        Take(connection, reinterpret_cast<const uint8_t*>(data.data()), data.size());
        m_scratch = std::move(data);
    }
}

void
BrokerApplication::Take(const ConnectionPtr& connection, const uint8_t* data, uint32_t size)
{
    std::string joined;
    if (!connection->received.empty())
    {
        joined = std::move(connection->received);
        connection->received.clear();
        joined.append(reinterpret_cast<const char*>(data), size);
        data = reinterpret_cast<const uint8_t*>(joined.data());
        size = joined.size();
    }
    while (size >= 4)
    {
        const uint32_t length = FrameHeader::Number(data);
        if (length < FrameHeader::SIZE || length > m_maxFrame)
        {
            Reject(connection);
            return;
        }
        if (length > size)
        {
            break;
        }
        TakeFrame(connection->peer, *connection->incoming, data, length);
        if (!connection->open)
        {
            return;
        }
        data += length;
        size -= length;
    }
    connection->received.assign(reinterpret_cast<const char*>(data), size);
}

void
BrokerApplication::TakeFrame(uint32_t sender, Flow& flow, const uint8_t* frame, uint32_t size)
{
    TypeCount& count = flow.Count(frame[FrameHeader::TYPE_AT]);
    count.received++;
    count.receivedBytes += size;
    if (m_serviceModel)
    {
        Enqueue(Input{sender, &flow, {reinterpret_cast<const char*>(frame), size}, {}, {}});
    }
    else
    {
        Handle(sender, flow, frame, size);
    }
}

Time
BrokerApplication::Handle(uint32_t sender, Flow& flow, const uint8_t* frame, uint32_t size)
{
    const uint8_t type = frame[FrameHeader::TYPE_AT];
    TypeCount& count = flow.Count(type);
    count.served++;
    count.servedBytes += size;
    m_receivedTrace(sender, m_broker, type, size);
    return m_agent->FrameArrived(sender, frame, size);
}

void
BrokerApplication::OnDatagram(Ptr<Socket> socket)
{
    Address from;
    while (Ptr<Packet> packet = socket->RecvFrom(from))
    {
        const uint32_t sender = m_resolver(InetSocketAddress::ConvertFrom(from).GetIpv4());
        std::string data(packet->GetSize(), '\0');
        auto bytes = reinterpret_cast<uint8_t*>(data.data());
        packet->CopyData(bytes, data.size());
        if (!IsWhole(bytes, data.size()))
        {
            m_malformed++;
            continue;
        }
        Flow& flow = m_book->Find(sender, m_broker, ChannelKind::UDP);
        if (m_up)
        {
            TakeFrame(sender, flow, bytes, data.size());
        }
        else
        {
            flow.Count(bytes[FrameHeader::TYPE_AT]).lostLink++;
        }
    }
}

// Output -----------------------------------------------------------------------------------------

BrokerApplication::SendResult
BrokerApplication::Send(uint32_t neighbor, const uint8_t* frame, uint32_t size)
{
    auto found = m_links.find(neighbor);
    if (found == m_links.end() || !found->second->established)
    {
        return SendResult::NO_LINK;
    }
    if (!IsWhole(frame, size))
    {
        return SendResult::BAD_FRAME;
    }
    const ConnectionPtr& connection = found->second;
    const uint8_t type = frame[FrameHeader::TYPE_AT];
    TypeCount& count = connection->outgoing->Count(type);
    count.sent++;
    count.sentBytes += size;
    m_book->Stamp(Simulator::Now().GetNanoSeconds(), m_broker, neighbor, size);
    m_sentTrace(m_broker, neighbor, type, size);
    if (m_holding)
    {
        m_outputs.push_back(
            {connection, connection->outgoing, {}, {reinterpret_cast<const char*>(frame), size}});
    }
    else
    {
        Write(connection, Create<Packet>(frame, size));
    }
    return SendResult::OK;
}

BrokerApplication::SendResult
BrokerApplication::SendDirect(
    uint32_t broker, Ipv4Address remote, bool udp, const uint8_t* frame, uint32_t size)
{
    if (!IsWhole(frame, size) || (udp && size > MAX_DATAGRAM))
    {
        return SendResult::BAD_FRAME;
    }
    Flow& flow = m_book->Find(m_broker, broker, udp ? ChannelKind::UDP : ChannelKind::TCP);
    const uint8_t type = frame[FrameHeader::TYPE_AT];
    TypeCount& count = flow.Count(type);
    count.sent++;
    count.sentBytes += size;
    m_book->Stamp(Simulator::Now().GetNanoSeconds(), m_broker, broker, size);
    m_sentTrace(m_broker, broker, type, size);
    ConnectionPtr connection = udp ? nullptr : DirectTo(broker, remote);
    if (!udp && !connection)
    {
        return SendResult::OK; // no route: it is booked as lost
    }
    Output output{connection, &flow, remote, {reinterpret_cast<const char*>(frame), size}};
    if (m_holding)
    {
        m_outputs.push_back(std::move(output));
    }
    else
    {
        Emit(std::move(output));
    }
    return SendResult::OK;
}

BrokerApplication::ConnectionPtr
BrokerApplication::DirectTo(uint32_t broker, Ipv4Address remote)
{
    auto found = m_directOut.find(broker);
    if (found != m_directOut.end())
    {
        return found->second;
    }
    auto connection = MakeDirect(broker, true);
    if (!Connect(connection, InetSocketAddress(remote, plan::DIRECT_PORT)))
    {
        Detach(connection);
        return nullptr;
    }
    m_directOut[broker] = connection;
    return connection;
}

bool
BrokerApplication::Inject(uint32_t neighbor, const uint8_t* bytes, uint32_t size)
{
    auto found = m_links.find(neighbor);
    if (found == m_links.end() || !found->second->established)
    {
        return false;
    }
    Write(found->second, Create<Packet>(bytes, size));
    return true;
}

void
BrokerApplication::Emit(Output output)
{
    auto bytes = reinterpret_cast<const uint8_t*>(output.frame.data());
    if (!output.connection)
    {
        WriteDatagram(*output.flow, output.remote, bytes, output.frame.size());
    }
    else if (output.connection->open) // otherwise it was booked as lost when its link was cut
    {
        Write(output.connection, Create<Packet>(bytes, output.frame.size()));
    }
}

void
BrokerApplication::Write(const ConnectionPtr& connection, Ptr<Packet> packet)
{
    const bool room = connection->established && connection->unsent.empty() &&
                      connection->socket->GetTxAvailable() >= packet->GetSize();
    if (!room || connection->socket->Send(packet) < 0)
    {
        connection->unsent.push_back(packet);
    }
}

void
BrokerApplication::OnWritable(ConnectionPtr connection, Ptr<Socket> socket, uint32_t available)
{
    auto& unsent = connection->unsent;
    while (!unsent.empty() && socket->GetTxAvailable() > 0)
    {
        // A frame longer than the socket's buffer goes out in pieces.
        Ptr<Packet> packet = unsent.front();
        const uint32_t room = socket->GetTxAvailable();
        if (packet->GetSize() <= room)
        {
            unsent.pop_front();
            socket->Send(packet);
        }
        else
        {
            socket->Send(packet->CreateFragment(0, room));
            packet->RemoveAtStart(room);
        }
    }
}

void
BrokerApplication::WriteDatagram(Flow& flow,
                                 Ipv4Address remote,
                                 const uint8_t* frame,
                                 uint32_t size)
{
    auto packet = Create<Packet>(frame, size);
    DatagramTag tag;
    tag.source = flow.source;
    tag.target = flow.target;
    tag.type = frame[FrameHeader::TYPE_AT];
    tag.serial = packet->GetUid();
    packet->AddPacketTag(tag);
    if (m_udp->SendTo(packet, 0, InetSocketAddress(remote, plan::DIRECT_PORT)) < 0)
    {
        flow.Count(tag.type).lostLink++; // no route
    }
}

// The service model ------------------------------------------------------------------------------

void
BrokerApplication::Submit(Task task)
{
    if (m_serviceModel)
    {
        Enqueue(Input{0, nullptr, {}, std::move(task), {}});
    }
    else
    {
        task();
    }
}

void
BrokerApplication::Enqueue(Input input)
{
    input.arrival = Simulator::Now();
    m_inputs.push_back(std::move(input));
    // The one whose service begins at this very instant does not wait.
    m_queueLength = m_inputs.size() - (m_holding ? 0 : 1);
    m_statistics.longest = std::max<uint32_t>(m_statistics.longest, m_queueLength);
    m_statistics.delayed += m_queueLength > 0;
    m_statistics.joined += m_queueLength;
    if (!m_serving)
    {
        // As an event of its own, so that a frame never starts service inside another's upcall.
        m_serving = true;
        m_serviceEnd = Simulator::ScheduleNow(&BrokerApplication::Serve, this);
    }
}

void
BrokerApplication::Serve()
{
    if (m_inputs.empty())
    {
        m_serving = false;
        return;
    }
    Input input = std::move(m_inputs.front());
    m_inputs.pop_front();
    m_queueLength = m_inputs.size();
    m_statistics.waiting += Simulator::Now() - input.arrival;

    m_holding = true;
    m_serviceStart = Simulator::Now();
    auto bytes = reinterpret_cast<const uint8_t*>(input.frame.data());
    const Time service =
        input.task ? input.task() : Handle(input.sender, *input.flow, bytes, input.frame.size());

    m_statistics.served++;
    m_serviceEnd = Simulator::Schedule(service, &BrokerApplication::EndService, this);
}

void
BrokerApplication::EndService()
{
    m_holding = false;
    m_statistics.busy += Simulator::Now() - m_serviceStart;
    for (auto& output : std::exchange(m_outputs, {}))
    {
        Emit(std::move(output));
    }
    Serve();
}

// Faults -----------------------------------------------------------------------------------------

void
BrokerApplication::Crash()
{
    m_up = false;
    m_inputs.clear();
    for (auto& output : m_outputs)
    {
        if (!output.connection)
        {
            output.flow->Count(output.frame[FrameHeader::TYPE_AT]).lostLink++;
        }
    }
    m_outputs.clear();
    m_queueLength = 0;
    m_statistics = GetQueueStatistics();
    m_serving = m_holding = false;
    m_serviceEnd.Cancel();
    AbortDirect([](const Connection&) { return true; });
    m_directOut.clear();
}

void
BrokerApplication::AbortDirect(std::function<bool(const Connection&)> chosen)
{
    const auto connections = m_connections;
    for (const auto& [serial, connection] : connections)
    {
        if (!connection->overlay && chosen(*connection))
        {
            Abort(connection);
        }
    }
}

void
BrokerApplication::Restart()
{
    m_up = true;
}

void
BrokerApplication::ForgetDirect(uint32_t broker)
{
    AbortDirect([broker](const Connection& connection) { return connection.peer == broker; });
    m_directOut.erase(broker);
}

bool
BrokerApplication::HasServiceModel() const
{
    return m_serviceModel;
}

BrokerApplication::QueueStatistics
BrokerApplication::GetQueueStatistics() const
{
    QueueStatistics statistics = m_statistics;
    if (m_holding)
    {
        statistics.busy += Simulator::Now() - m_serviceStart;
    }
    return statistics;
}

uint32_t
BrokerApplication::GetQueueLength() const
{
    return m_queueLength;
}

uint64_t
BrokerApplication::GetMalformed() const
{
    return m_malformed;
}

void
BrokerApplication::CountMalformed()
{
    m_malformed++;
}

} // namespace pysim
