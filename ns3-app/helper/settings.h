#ifndef PYSIM_SETTINGS_H
#define PYSIM_SETTINGS_H

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace pysim
{

/// A link's properties; delays in nanoseconds, rates in bit/s, queues in packets.
struct LinkParameters
{
    int64_t delay{2000000};
    uint64_t rate{10000000};
    uint32_t queue{1000};
    double loss{0};
};

/// Everything a simulation is built from. Plain data, so that any language can fill it in.
struct Settings
{
    uint32_t brokers{0};
    uint32_t routers{0};
    std::string ground{"links"}; ///< links, routers or matrix
    std::string tcp{"linux"};    ///< linux, lean or stock
    uint32_t maxFrame{1 << 20};
    uint32_t seed{1};
    LinkParameters access;        ///< rate, queue and loss of a host's access on the ground matrix
    std::string captureDirectory; ///< empty: no captures
    std::string capturePolicy{"none"};                   ///< both, one, chosen or none
    std::vector<std::pair<uint32_t, uint32_t>> captured; ///< links of the policy chosen
};

} // namespace pysim

#endif
