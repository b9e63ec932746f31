#ifndef PYSIM_BROKER_APPLICATION_H
#define PYSIM_BROKER_APPLICATION_H

#include "broker-agent.h"
#include "flow-book.h"
#include "frame-header.h"

#include "ns3/application.h"
#include "ns3/inet-socket-address.h"
#include "ns3/socket.h"
#include "ns3/traced-callback.h"
#include "ns3/traced-value.h"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>

namespace pysim
{

/**
 * Carries a broker's frames over sockets and hands whole frames to its agent.
 *
 * A frame begins with its length in four bytes (big-endian, the whole frame), and its sixth byte
 * is its message type; that is all this class knows of messages. It offers overlay links (one TCP
 * connection to each neighbor), unicast off the overlay (TCP connections made on demand, or UDP),
 * and an input queue with one server: with the service model on, a frame waits until the frames
 * before it are done, its agent tells how long it works, and all that the broker sends meanwhile,
 * whatever caused it, leaves in order when that time is over.
 */
class BrokerApplication : public ns3::Application
{
  public:
    static constexpr uint32_t MAX_DATAGRAM = 65507;

    /// Why a send was refused.
    enum class SendResult
    {
        OK,
        NO_LINK,
        BAD_FRAME
    };

    /// What the input queue saw.
    struct QueueStatistics
    {
        uint64_t served{0};
        ns3::Time busy;
        ns3::Time waiting;
        uint32_t longest{0};
        uint64_t delayed{0};
        uint64_t joined{0};
    };

    /// Local work that waits in the input queue like a frame; it returns its service time.
    using Task = std::function<ns3::Time()>;
    /// Tells the network that a link's connection died, or sent rubbish and must not return.
    using LinkFailure = std::function<void(uint32_t neighbor, bool malformed)>;
    /// Finds the broker that an address belongs to.
    using Resolver = std::function<uint32_t(ns3::Ipv4Address)>;

    static ns3::TypeId GetTypeId();
    BrokerApplication();
    ~BrokerApplication() override;

    /// Must be called once, before the simulation starts.
    void Setup(BrokerAgent* agent, FlowBook* book, Resolver resolver, LinkFailure failure);
    uint32_t GetBroker() const;

    /// Begin an overlay link by connecting to the neighbor.
    void OpenLink(uint32_t neighbor, ns3::InetSocketAddress remote);
    /// Begin an overlay link by waiting for the neighbor to connect.
    void AwaitLink(uint32_t neighbor);
    /**
     * Cut an overlay link at this end: frames under way to the neighbor are lost.
     * @return whether the agent knew the link, and so must hear that it is gone
     */
    bool CutLink(uint32_t neighbor);
    /// Tell the agent that a link it knew is gone.
    void AnnounceLinkDown(uint32_t neighbor);

    SendResult Send(uint32_t neighbor, const uint8_t* frame, uint32_t size);
    SendResult SendDirect(
        uint32_t broker, ns3::Ipv4Address remote, bool udp, const uint8_t* frame, uint32_t size);
    /// Write raw bytes into an overlay link's stream, however malformed; for tests of the framing.
    bool Inject(uint32_t neighbor, const uint8_t* bytes, uint32_t size);

    /// Queue local work (done at once without a service model).
    void Submit(Task task);

    /// Stop hearing: the input queue and all connections off the overlay are lost.
    void Crash();
    void Restart();
    /// A broker crashed: connections off the overlay to it are lost.
    void ForgetDirect(uint32_t broker);

    bool HasServiceModel() const;
    QueueStatistics GetQueueStatistics() const;
    uint32_t GetQueueLength() const;
    uint64_t GetMalformed() const;
    void CountMalformed();

  protected:
    void DoDispose() override;

  private:
    /// One TCP connection, of a link or off the overlay.
    struct Connection
    {
        uint32_t peer{0};
        uint64_t serial{0};
        bool overlay{true};
        bool established{false};
        bool announced{false}; ///< the agent has heard LinkUp
        bool open{true};
        ns3::Ptr<ns3::Socket> socket;
        Flow* outgoing{nullptr};
        Flow* incoming{nullptr};
        std::string received;                     ///< the beginning of a frame not yet whole
        std::deque<ns3::Ptr<ns3::Packet>> unsent; ///< what the socket had no room for
    };

    using ConnectionPtr = std::shared_ptr<Connection>;

    /// A frame, or local work, that waits for the server.
    struct Input
    {
        uint32_t sender{0};
        Flow* flow{nullptr};
        std::string frame;
        Task task;
        ns3::Time arrival;
    };

    /// A frame that leaves when the current service ends.
    struct Output
    {
        ConnectionPtr connection; ///< nullptr: a datagram
        Flow* flow{nullptr};
        ns3::Ipv4Address remote;
        std::string frame;
    };

    void StartApplication() override;
    void StopApplication() override;

    ns3::Ptr<ns3::Socket> Listen(uint16_t port);
    ConnectionPtr MakeLink(uint32_t neighbor);
    ConnectionPtr MakeDirect(uint32_t broker, bool outgoing);
    /// @return whether there is a route at all
    bool Connect(ConnectionPtr connection, ns3::InetSocketAddress remote);
    /// @return the connection off the overlay to a broker, nullptr if there is no route to it
    ConnectionPtr DirectTo(uint32_t broker, ns3::Ipv4Address remote);
    void Adopt(ConnectionPtr connection, ns3::Ptr<ns3::Socket> socket);
    void Established(ConnectionPtr connection);
    void Attach(ConnectionPtr connection, ns3::Ptr<ns3::Socket> socket);
    ns3::Ptr<ns3::Socket> Detach(const ConnectionPtr& connection);
    /// Close a connection abruptly; what is under way on it is lost.
    void Abort(const ConnectionPtr& connection);
    void AbortDirect(std::function<bool(const Connection&)> chosen);

    bool OnRequest(ns3::Ptr<ns3::Socket> socket, const ns3::Address& from);
    void OnAcceptLink(ns3::Ptr<ns3::Socket> socket, const ns3::Address& from);
    void OnAcceptDirect(ns3::Ptr<ns3::Socket> socket, const ns3::Address& from);
    void OnConnected(ConnectionPtr connection, ns3::Ptr<ns3::Socket> socket);
    void OnFailed(ConnectionPtr connection, ns3::Ptr<ns3::Socket> socket);
    void OnReadable(ConnectionPtr connection, ns3::Ptr<ns3::Socket> socket);
    void OnWritable(ConnectionPtr connection, ns3::Ptr<ns3::Socket> socket, uint32_t available);
    void OnDatagram(ns3::Ptr<ns3::Socket> socket);

    bool IsWhole(const uint8_t* frame, uint32_t size) const;
    void Take(const ConnectionPtr& connection, const uint8_t* data, uint32_t size);
    void TakeFrame(uint32_t sender, Flow& flow, const uint8_t* frame, uint32_t size);
    void Reject(const ConnectionPtr& connection);
    void Fail(const ConnectionPtr& connection, bool malformed);

    void Emit(Output output);
    void Write(const ConnectionPtr& connection, ns3::Ptr<ns3::Packet> packet);
    void WriteDatagram(Flow& flow, ns3::Ipv4Address remote, const uint8_t* frame, uint32_t size);

    ns3::Time Handle(uint32_t sender, Flow& flow, const uint8_t* frame, uint32_t size);
    void Enqueue(Input input);
    void Serve();
    void EndService();

    uint32_t m_broker{0};
    uint32_t m_maxFrame{0};
    bool m_serviceModel{false};

    BrokerAgent* m_agent{nullptr};
    FlowBook* m_book{nullptr};
    Resolver m_resolver;
    LinkFailure m_failure;

    bool m_up{true};
    uint64_t m_serial{0};
    uint64_t m_malformed{0};
    std::unordered_map<uint32_t, ConnectionPtr> m_links;
    std::unordered_map<uint32_t, ConnectionPtr> m_directOut;
    std::map<uint64_t, ConnectionPtr> m_connections; ///< by serial: a stable order to go through
    ns3::Ptr<ns3::Socket> m_linkListener;
    ns3::Ptr<ns3::Socket> m_directListener;
    ns3::Ptr<ns3::Socket> m_udp;
    std::string m_scratch;

    std::deque<Input> m_inputs;
    std::deque<Output> m_outputs;
    bool m_serving{false};
    bool m_holding{false}; ///< what is sent leaves when the service ends
    ns3::EventId m_serviceEnd;
    ns3::Time m_serviceStart;
    QueueStatistics m_statistics;

    ns3::TracedCallback<uint32_t, uint32_t, uint8_t, uint32_t> m_sentTrace;
    ns3::TracedCallback<uint32_t, uint32_t, uint8_t, uint32_t> m_receivedTrace;
    ns3::TracedCallback<uint32_t, uint32_t, bool> m_linkTrace;
    ns3::TracedValue<uint32_t> m_queueLength{0};
};

} // namespace pysim

#endif
