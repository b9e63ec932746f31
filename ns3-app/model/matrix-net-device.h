#ifndef PYSIM_MATRIX_NET_DEVICE_H
#define PYSIM_MATRIX_NET_DEVICE_H

#include "ns3/channel.h"
#include "ns3/data-rate.h"
#include "ns3/error-model.h"
#include "ns3/mac48-address.h"
#include "ns3/net-device.h"
#include "ns3/nstime.h"
#include "ns3/queue.h"
#include "ns3/traced-callback.h"

#include <vector>

namespace pysim
{

class MatrixNetDevice;

/// Joins all hosts of an underlay that is given by a delay for each ordered pair of hosts.
class MatrixChannel : public ns3::Channel
{
  public:
    static ns3::TypeId GetTypeId();

    /// @param delays row by row, one row per host, in nanoseconds
    void SetDelays(std::vector<int64_t> delays, uint32_t hosts);
    /// Hosts attach in the order of their numbers.
    void Attach(ns3::Ptr<MatrixNetDevice> device);
    void Transmit(ns3::Ptr<ns3::Packet> packet, uint32_t from, uint32_t to, ns3::Time duration);

    std::size_t GetNDevices() const override;
    ns3::Ptr<ns3::NetDevice> GetDevice(std::size_t i) const override;

  private:
    uint32_t m_hosts{0};
    std::vector<int64_t> m_delays;
    std::vector<ns3::Ptr<MatrixNetDevice>> m_devices;
};

/**
 * A host's one device on a MatrixChannel: an access link with a rate and a queue in the sending
 * direction. Packets carry a PPP header, as on point-to-point links, so that all captures read
 * alike. Where a packet goes is read from its IP destination: every host is one hop away.
 */
class MatrixNetDevice : public ns3::NetDevice
{
  public:
    static ns3::TypeId GetTypeId();
    static constexpr uint16_t MTU = 1500;

    void SetHost(uint32_t host, ns3::DataRate rate, ns3::Ptr<ns3::Queue<ns3::Packet>> queue);
    void SetReceiveErrorModel(ns3::Ptr<ns3::ErrorModel> model);
    void AttachTo(ns3::Ptr<MatrixChannel> channel);
    void Receive(ns3::Ptr<ns3::Packet> packet);

    void SetIfIndex(const uint32_t index) override;
    uint32_t GetIfIndex() const override;
    ns3::Ptr<ns3::Channel> GetChannel() const override;
    void SetAddress(ns3::Address address) override;
    ns3::Address GetAddress() const override;
    bool SetMtu(const uint16_t mtu) override;
    uint16_t GetMtu() const override;
    bool IsLinkUp() const override;
    void AddLinkChangeCallback(ns3::Callback<void> callback) override;
    bool IsBroadcast() const override;
    ns3::Address GetBroadcast() const override;
    bool IsMulticast() const override;
    ns3::Address GetMulticast(ns3::Ipv4Address group) const override;
    ns3::Address GetMulticast(ns3::Ipv6Address group) const override;
    bool IsBridge() const override;
    bool IsPointToPoint() const override;
    bool Send(ns3::Ptr<ns3::Packet> packet, const ns3::Address& dest, uint16_t protocol) override;
    bool SendFrom(ns3::Ptr<ns3::Packet> packet,
                  const ns3::Address& source,
                  const ns3::Address& dest,
                  uint16_t protocol) override;
    ns3::Ptr<ns3::Node> GetNode() const override;
    void SetNode(ns3::Ptr<ns3::Node> node) override;
    bool NeedsArp() const override;
    void SetReceiveCallback(NetDevice::ReceiveCallback callback) override;
    void SetPromiscReceiveCallback(NetDevice::PromiscReceiveCallback callback) override;
    bool SupportsSendFrom() const override;

  protected:
    void DoDispose() override;

  private:
    void TransmitNext();

    uint32_t m_host{0};
    uint32_t m_ifIndex{0};
    bool m_busy{false};
    ns3::DataRate m_rate;
    ns3::Mac48Address m_address;
    ns3::Ptr<ns3::Node> m_node;
    ns3::Ptr<MatrixChannel> m_channel;
    ns3::Ptr<ns3::Queue<ns3::Packet>> m_queue;
    ns3::Ptr<ns3::ErrorModel> m_errorModel;
    NetDevice::ReceiveCallback m_receive;

    ns3::TracedCallback<ns3::Ptr<const ns3::Packet>> m_snifferTrace;
    ns3::TracedCallback<ns3::Ptr<const ns3::Packet>> m_txDropTrace;
    ns3::TracedCallback<ns3::Ptr<const ns3::Packet>> m_rxDropTrace;
};

} // namespace pysim

#endif
