#ifndef PYSIM_FRAME_HEADER_H
#define PYSIM_FRAME_HEADER_H

#include <cstdint>

namespace pysim
{

/// What C++ knows of a frame: its header, which begins with the length (docs/wire-format.md).
struct FrameHeader
{
    static constexpr uint32_t SIZE = 16;
    static constexpr uint8_t VERSION = 1;
    static constexpr uint32_t VERSION_AT = 4;
    static constexpr uint32_t TYPE_AT = 5;
    static constexpr uint32_t FLAGS_AT = 6;
    static constexpr uint32_t ORIGIN_AT = 8;
    static constexpr uint32_t SEQUENCE_AT = 12;

    /// Read a big-endian number.
    static uint32_t Number(const uint8_t* at)
    {
        return uint32_t(at[0]) << 24 | uint32_t(at[1]) << 16 | uint32_t(at[2]) << 8 | at[3];
    }

    /// Write a big-endian number.
    static void Put(uint8_t* at, uint32_t number)
    {
        at[0] = number >> 24;
        at[1] = number >> 16;
        at[2] = number >> 8;
        at[3] = number;
    }
};

} // namespace pysim

#endif
