#include "tcp-profile.h"

#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/nstime.h"
#include "ns3/string.h"
#include "ns3/tcp-cubic.h"
#include "ns3/type-id.h"
#include "ns3/uinteger.h"

#include <cstdlib>
#include <new>

using namespace ns3;

namespace pysim
{

namespace
{

/// ns-3's Cubic, which leaves some of its numbers unset: in zeroed memory they are the same in
/// every run, without it what follows a loss depends on what was at that place before.
class SettledCubic : public TcpCubic
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("pysim::SettledCubic")
                                .SetParent<TcpCubic>()
                                .SetGroupName("pysim")
                                .AddConstructor<SettledCubic>();
        return tid;
    }

    [[gnu::noinline]] static void* operator new(size_t size)
    {
        void* place = std::calloc(1, size);
        return place ? place : throw std::bad_alloc();
    }

    static void operator delete(void* place)
    {
        std::free(place);
    }

    Ptr<TcpCongestionOps> Fork() override
    {
        return CopyObject<SettledCubic>(this);
    }
};

NS_OBJECT_ENSURE_REGISTERED(SettledCubic);

} // namespace

bool
ApplyTcpProfile(const std::string& name, bool isCaptured)
{
    Config::Reset(); // an earlier simulation of this process may have left another profile
    Config::SetGlobal("ChecksumEnabled", BooleanValue(isCaptured));
    Config::SetDefault("ns3::PcapFileWrapper::NanosecMode", BooleanValue(true));
    if (name == "stock")
    {
        return true;
    }
    const bool faithful = name == "linux";
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(SettledCubic::GetTypeId()));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(faithful));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(faithful));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(faithful ? 1448 : 1460));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(MilliSeconds(40)));
    Config::SetDefault("ns3::TcpSocket::ConnTimeout", TimeValue(Seconds(1)));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(4 << 20));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(6 << 20));
    return false;
}

} // namespace pysim
