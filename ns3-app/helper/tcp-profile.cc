#include "tcp-profile.h"

#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/nstime.h"
#include "ns3/string.h"
#include "ns3/type-id.h"
#include "ns3/uinteger.h"

using namespace ns3;

namespace pysim
{

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
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::TcpCubic"));
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
